// SPDX-License-Identifier: Apache-2.0
/// The documents of `oplat lut` and `lut ops`, and edits of look-up tables.
#include "compat/mobile_vision/lut_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "compat/mobile_vision/lut_build.hpp"
#include "compat/mobile_vision/lut_edit.hpp"
#include "compat/mobile_vision/module_document.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using ::testing::HasSubstr;

formats::caffe2::LutQuery relu(std::int64_t channels) {
  formats::caffe2::LutQuery query;
  query.op_type = "Relu";
  query.input_shapes = {{1, channels, 8, 8}};
  query.input_dtypes = {1};
  return query;
}

std::string record_line(std::int64_t channels, double us) {
  LutRecord record;
  record.query = relu(channels);
  record.device = "phone";
  record.p50 = {us, us * 1e3, false};
  return lut_line(record);
}

LutNet net_of(std::vector<formats::caffe2::LutQuery> queries) {
  LutNet net;
  net.path = "net";
  net.queries = std::move(queries);
  return net;
}

/// Knows one operator, twice.
Result<LutFound> known(const formats::caffe2::LutQuery& query) {
  LutFound found;
  if (query.input_shapes == relu(8).input_shapes)
    found.times = {{10, 10e3, false}, {20, 20e3, false}};
  return found;
}

TEST(LutDocument, AMissingOperatorIsNamedAndLeftOutOfTheSum) {
  std::vector<std::string> warnings;
  auto prediction = look_up(net_of({relu(8), relu(16)}), known, LutMode::Mean, warnings);
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->found, 1U);
  EXPECT_EQ(prediction->missing(), 1U);
  const LutDocument made({"phone", false, "t.json", "ave", false, 0.9}, {*prediction});
  EXPECT_THAT(made.text(), HasSubstr("All operators found in the table? False\n"));
  EXPECT_THAT(made.text(), HasSubstr("The network run-time latency is 15.0\n"));
  const auto json = made.json();
  EXPECT_EQ(json["schema"], "oplat.lut/1");
  EXPECT_EQ(json["lut"], "t.json");
  EXPECT_TRUE(json["models"][0]["latency_us"].is_null());
  EXPECT_EQ(json["models"][0]["known_us"], 15.0);
  const report::Sheet sheet = made.sheet();
  ASSERT_EQ(sheet.rows.size(), 2U);
  EXPECT_EQ(sheet.rows[0].size(), sheet.columns.size());
  EXPECT_EQ(sheet.rows[0][5], "2") << "records";
  EXPECT_EQ(sheet.rows[1][6], "");
  EXPECT_THAT(sheet.facts.back().second, HasSubstr("no total: 1 operators have no time"))
      << "a sum that leaves one out is not the net's";
  const Status status = made.require_answers();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Missing);
  EXPECT_THAT(status.error().message, HasSubstr("net: operator 2: "));
}

TEST(LutDocument, TheModeDecidesBetweenRecords) {
  std::vector<std::string> warnings;
  for (const auto& [word, us] :
       {std::pair("ave", 15.0), {"mean", 15.0}, {"min", 10.0}, {"max", 20.0}, {"last", 20.0}}) {
    const auto prediction =
        look_up(net_of({relu(8)}), known, parse_lut_mode(word).value(), warnings);
    ASSERT_TRUE(prediction);
    EXPECT_EQ(prediction->total_us, us) << word;
  }
  EXPECT_EQ(parse_lut_mode("median"), std::nullopt);
}

class LutEdit : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  void write(const char* name, const std::string& text) {
    ASSERT_TRUE(base::write_file(folder_.path() / name, text));
  }
  base::TemporaryFolder folder_ = base::TemporaryFolder::create("oplat-test").value();
};

TEST_F(LutEdit, AddsFindsAndMerges) {
  const auto added = add_records(path("a.json"), {{record_line(8, 10), "'first'"}});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->records, 1U);
  write("b.json", record_line(8, 10) + record_line(16, 30));
  const auto merged = merge_luts({path("a.json"), path("b.json")}, path("c.json"), false);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->records, 2U);
  EXPECT_EQ(merged->duplicates, 1U);
  const auto found =
      find_lines(path("c.json"), {{lut_question_line(relu(16), "phone"), "'query'"}}, "", false);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->text, record_line(16, 30));
  EXPECT_TRUE(found->complete);
  const auto other =
      find_lines(path("c.json"), {{lut_question_line(relu(24), "phone"), "'query'"}}, "", false);
  ASSERT_TRUE(other);
  ASSERT_FALSE(other->complete);
  EXPECT_EQ(other->complete.error().code, Code::Missing);
  EXPECT_THAT(other->complete.error().message, HasSubstr("no record of 1 of 1 queries"));
}

TEST_F(LutEdit, NamesTheLineThatIsMalformed) {
  const auto added = add_records(path("a.json"), {{"{", "standard input, line 3"}});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::Usage);
  EXPECT_THAT(added.error().message, HasSubstr("standard input, line 3"));
  write("queries.txt", "\n[]\n");
  const auto listed = listed_queries(path("queries.txt"));
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message, HasSubstr("queries.txt:2"));
}

TEST_F(LutEdit, EachOperatorIsMeasuredOnce) {
  const auto wanted = wanted_operators({relu(8), relu(16), relu(8)});
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_EQ(keys_of(wanted).size(), 2U);
}

TEST_F(LutEdit, LayersOfATable) {
  constexpr const char* kLayer =
      R"({"op": "Linear", "args": {"in_features": 4, "out_features": 2}, "input_shapes": [[1, 4]])";
  write("net.jsonl", std::string(kLayer) + "}\n");
  write("table.jsonl", std::string(kLayer) + R"(, "latency_us": 2.5})" + "\n");
  const auto made = ModuleDocument::make({path("net.jsonl"), path("table.jsonl"), false});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE((*made)->require_found());
  EXPECT_EQ((*made)->json()["total"]["latency_us"], 2.5);
  EXPECT_THAT((*made)->text(), HasSubstr("1 operators: 10 parameters, 8 MACs, 2.5 us\n"));
  EXPECT_EQ((*made)->sheet().rows.at(0).at(5), "2.5");
  const auto mirrored = ModuleDocument::make({path("net.jsonl"), "", true});
  ASSERT_FALSE(mirrored);
  EXPECT_EQ(mirrored.error().code, Code::Usage);
}

}  // namespace
}  // namespace oplat::compat::mobile_vision
