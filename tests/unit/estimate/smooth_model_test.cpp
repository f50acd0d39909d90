// SPDX-License-Identifier: Apache-2.0
/// Processes of families next to the common one: what they are worth, and their bytes.
#include "estimate/learned/smooth_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;

struct FamilyRows {
  Points points;
  std::vector<double> y;
};

/// One family follows the first column in short waves, the other the second in long ones; nothing
/// else matters to either.
FamilyRows two_families(Index rows, std::uint64_t seed) {
  base::Random random(seed);
  FamilyRows problem;
  problem.points.at.resize(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < 4; ++d) problem.points.at(i, d) = random.normal();
    const auto family = static_cast<std::uint32_t>(i % 2);
    problem.points.families.push_back(family);
    problem.points.slices.push_back(family);
    problem.y.push_back(family == 0 ? std::sin(4 * problem.points.at(i, 0))
                                    : std::sin(problem.points.at(i, 1)));
  }
  return problem;
}

SmoothModel::Options options_of(std::size_t least) {
  SmoothModel::Options options;
  options.min_rows_of_own = least;
  options.threads = 1;
  return options;
}

double error_of(const SmoothModel& model, const FamilyRows& asked) {
  double sum = 0;
  for (Index i = 0; i < asked.points.size(); ++i) {
    std::vector<float> at;
    for (Index d = 0; d < asked.points.at.cols(); ++d)
      at.push_back(static_cast<float>(asked.points.at(i, d)));
    const auto row = static_cast<std::size_t>(i);
    sum += std::abs(model.answer(at, asked.points.slices[row], asked.points.families[row]).mean -
                    asked.y[row]);
  }
  return sum / static_cast<double>(asked.y.size());
}

TEST(SmoothModel, AFamilyOfManyRowsHasAMeasureOfDistanceOfItsOwn) {
  const FamilyRows rows = two_families(240, 1);
  const FamilyRows asked = two_families(100, 2);
  EXPECT_EQ(SmoothModel::processes(rows.points, options_of(100)), 3U);
  EXPECT_EQ(SmoothModel::processes(rows.points, options_of(121)), 1U);
  const SmoothModel own = SmoothModel::learn(rows.points, rows.y, options_of(100));
  const SmoothModel common = SmoothModel::learn(rows.points, rows.y, options_of(121));
  EXPECT_TRUE(common.shares().empty());
  EXPECT_LT(error_of(own, asked), 0.8 * error_of(common, asked)) << error_of(common, asked);
  // What is left out is said by the same mixture.
  ASSERT_EQ(own.left_out().size(), rows.y.size());
  double left_out = 0;
  for (std::size_t i = 0; i < rows.y.size(); ++i)
    left_out += std::abs(own.left_out()[i].mean - rows.y[i]);
  EXPECT_GT(left_out / 240, 0.3 * error_of(own, asked));
  EXPECT_LT(left_out / 240, 3 * error_of(own, asked));
}

TEST(SmoothModel, AFamilyThatIsAllRowsIsTheCommonOne) {
  FamilyRows rows = two_families(80, 1);
  rows.points.families.assign(80, 7);
  EXPECT_EQ(SmoothModel::processes(rows.points, options_of(10)), 1U);
}

TEST(SmoothModel, AFamilyNeedsRowsOfTheSettingThatIsAskedFor) {
  FamilyRows rows = two_families(200, 1);
  for (int i = 0; i < 200; ++i) rows.points.settings.push_back(i < 30 ? 0 : 1);
  EXPECT_EQ(SmoothModel::processes(rows.points, options_of(75)), 3U) << "15 of 75";
  EXPECT_EQ(SmoothModel::processes(rows.points, options_of(80)), 1U);
}

TEST(SmoothModel, TheSameRowsGiveTheSameBytes) {
  const FamilyRows rows = two_families(120, 1);
  std::string first;
  for (const int threads : {1, 4}) {
    SmoothModel::Options options = options_of(50);
    options.threads = threads;
    base::ByteWriter writer;
    SmoothModel::learn(rows.points, rows.y, options).save(writer);
    if (threads == 1) first = writer.bytes();
    EXPECT_TRUE(writer.bytes() == first) << threads << " threads";
  }
}

TEST(SmoothModel, StopsWhenAsked) {
  const FamilyRows rows = two_families(80, 1);
  for (const int threads : {1, 3}) {
    SmoothModel::Options options = options_of(20);
    options.threads = threads;
    int asked = 0;
    options.common.go_on = [&] { return ++asked < 3; };
    SmoothModel::learn(rows.points, rows.y, options);
    EXPECT_LE(asked, 6) << "each process stops at its next step";
  }
}

TEST(SmoothModelBytes, ComeBackTheSame) {
  const FamilyRows rows = two_families(120, 1);
  const SmoothModel model = SmoothModel::learn(rows.points, rows.y, options_of(50));
  EXPECT_FALSE(model.shares().empty());
  base::ByteWriter writer;
  model.save(writer);
  base::ByteReader reader(writer.bytes());
  const auto loaded = SmoothModel::load(reader);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(loaded->shares(), model.shares());
  EXPECT_EQ(error_of(*loaded, two_families(20, 3)), error_of(model, two_families(20, 3)));
  for (std::size_t size = 0; size < writer.bytes().size(); size += 7) {
    base::ByteReader shorter(std::string_view(writer.bytes()).substr(0, size));
    EXPECT_FALSE(SmoothModel::load(shorter)) << "cut off after " << size << " bytes";
  }
}

}  // namespace
}  // namespace oplat::estimate
