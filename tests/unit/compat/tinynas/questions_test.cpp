// SPDX-License-Identifier: Apache-2.0
/// Which convolutions `tinynas predict` asks for: lists, batches, the rules of a T40.
#include "compat/tinynas/questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.hpp"

namespace oplat::compat::tinynas {
namespace {

using ::testing::HasSubstr;

ConvQuestion question(std::int64_t batch, std::optional<double> real_ms, bool library_row) {
  ConvQuestion asked;
  asked.conv.batch = batch;
  asked.conv.in_c = 33;
  asked.conv.out_c = 64;
  asked.conv.fused = true;
  asked.real_ms = real_ms;
  asked.library_row = library_row;
  return asked;
}

TEST(ConvQuestions, WithoutBatchesEachKeepsItsOwn) {
  std::vector<std::string> warnings;
  const auto sets =
      at_batches({question(1, 0.5, true), question(8, 2.0, true)}, {}, false, warnings);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].batch, std::nullopt);
  EXPECT_EQ(sets[0].convs[0].conv.batch, 1);
  EXPECT_EQ(sets[0].convs[1].conv.batch, 8);
  EXPECT_EQ(sets[0].convs[1].real_ms, 2.0);
  EXPECT_TRUE(warnings.empty());
}

TEST(ConvQuestions, TimesOfAnotherBatchAreComparedWithNothing) {
  std::vector<std::string> warnings;
  const auto sets =
      at_batches({question(1, 0.5, true), question(8, 2.0, true)}, {1, 8}, false, warnings);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].convs[0].real_ms, 0.5);
  EXPECT_EQ(sets[0].convs[1].real_ms, std::nullopt);
  EXPECT_EQ(sets[1].convs[0].real_ms, std::nullopt);
  EXPECT_EQ(sets[1].convs[1].real_ms, 2.0);
  EXPECT_EQ(sets[1].convs[0].conv.batch, 8);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("2 measured times"));
}

TEST(ConvQuestions, ATuplesTimeIsOfTheOneBatchThatIsGiven) {
  std::vector<std::string> warnings;
  const auto sets = at_batches({question(1, 0.5, false)}, {8}, false, warnings);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].convs[0].conv.batch, 8);
  EXPECT_EQ(sets[0].convs[0].real_ms, 0.5);
}

TEST(ConvQuestions, AT40RoundsChannelsAndFusesNothing) {
  EXPECT_TRUE(has_t40_rules("T40"));
  EXPECT_TRUE(has_t40_rules("my-T40/v2"));
  EXPECT_FALSE(has_t40_rules("T400"));
  EXPECT_FALSE(has_t40_rules("AT40"));
  std::vector<std::string> warnings;
  const auto sets = at_batches({question(4, std::nullopt, false)}, {}, true, warnings);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].batch, 1);
  const ConvTuple& conv = sets[0].convs[0].conv;
  EXPECT_EQ(conv.batch, 1);
  EXPECT_EQ(conv.in_c, 64);
  EXPECT_EQ(conv.out_c, 64);
  EXPECT_FALSE(conv.fused);
}

TEST(ConvQuestions, FailedRowsOfALibraryAreLeftOut) {
  auto folder = base::TemporaryFolder::create("oplat-questions-test");
  ASSERT_TRUE(folder) << folder.error().message;
  const auto path = folder->path() / "list.txt";
  std::ofstream(path) << "{Regular,1,16,5,5,8,3,2,1} -1\n"
                         "{Regular,1,16,5,5,8,3,2,0} 0.5\n"
                         "Regular 1 0 3 1 16 5 8 -1\n";
  std::vector<std::string> warnings;
  const auto questions = listed_questions(path.string(), warnings);
  ASSERT_TRUE(questions) << questions.error().message;
  ASSERT_EQ(questions->size(), 2U);
  EXPECT_EQ((*questions)[0].real_ms, 0.5);
  EXPECT_TRUE((*questions)[0].library_row);
  EXPECT_EQ((*questions)[1].real_ms, std::nullopt);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("1 failed profiles"));
  EXPECT_THAT(warnings[1], HasSubstr("1 times are -1"));
}

}  // namespace
}  // namespace oplat::compat::tinynas
