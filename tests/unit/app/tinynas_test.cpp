// SPDX-License-Identifier: Apache-2.0
#include "app/tinynas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::HasSubstr;

class TinynasTest : public ::testing::Test {
 protected:
  TinynasTest() {
    std::string rows;
    for (int out_c = 16; out_c <= 64; out_c += 16) {
      for (int size = 8; size <= 32; size += 8)
        rows += fmt::format("{{Regular,1,{1},{0},{0},{1},1,1,0}} {2}\n", size, out_c,
                            1e-6 * size * size * out_c);
    }
    write("conv_data.out", rows);
    request_.library = path("conv_data.out");
    request_.tests = path("tests.txt");
    request_.original = true;
  }
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  void write(const char* name, const std::string& text) {
    must(base::write_file(folder_.path() / name, text));
  }
  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-test"));
  TinynasRequest request_;
  CollectedEvents events_;
};

TEST_F(TinynasTest, AListedRowKeepsItsTimeByTheOriginalsMethod) {
  write("tests.txt", "Regular 1 0 1 1 32 16 32\n");
  const auto document = must(tinynas_predict(request_, events_));
  ASSERT_EQ(document->predictions().size(), 1U);
  const auto& answer = document->predictions().front().answers.at(0);
  EXPECT_NEAR(answer.ms.value(), 1e-6 * 16 * 16 * 32, 1e-12);
  EXPECT_EQ(answer.source, "original");
  EXPECT_TRUE(document->require_answers());
  EXPECT_TRUE(events_.warnings.empty());
}

TEST_F(TinynasTest, ARequestThatContradictsItselfIsRefused) {
  const auto message = [&](const TinynasRequest& request) {
    const auto made = tinynas_predict(request, events_);
    EXPECT_FALSE(made);
    if (made) return std::string();
    EXPECT_EQ(made.error().code, Code::Usage);
    return made.error().message;
  };
  TinynasRequest both = request_;
  both.structure = "net.txt";
  EXPECT_THAT(message(both), HasSubstr("either a STRUCTURE file or --tests FILE"));
  TinynasRequest none = request_;
  none.library.clear();
  EXPECT_THAT(message(none), HasSubstr("--library FILE|DIR or --table T"));
  TinynasRequest rules = request_;
  rules.rules = compat::tinynas::Rules::Original;
  EXPECT_THAT(message(rules), HasSubstr("--rules original: applies to a STRUCTURE"));
  TinynasRequest runtime = request_;
  runtime.runtime = "onnxruntime";
  EXPECT_THAT(message(runtime), HasSubstr("a library has only one setting"));
  TinynasRequest t40 = request_;
  t40.device = "T40";
  t40.batches = {8};
  EXPECT_THAT(message(t40), HasSubstr("a T40 supports only batch 1"));
}

TEST_F(TinynasTest, AMissingTableIsNamed) {
  write("tests.txt", "Regular 1 0 1 1 32 16 32\n");
  request_.library.clear();
  request_.table = path("none.oplat");
  const auto made = tinynas_predict(request_, events_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::Input);
  EXPECT_THAT(made.error().message, HasSubstr("none.oplat: no such table"));
}

}  // namespace
}  // namespace oplat::app
