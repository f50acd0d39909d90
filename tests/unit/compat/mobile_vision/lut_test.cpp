// SPDX-License-Identifier: Apache-2.0
/// Tables of runtime_lut: what a line says, what is refused and why, look-ups by the original's
/// rule, and that the same bytes come out again.
#include "compat/mobile_vision/lut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "compat/mobile_vision/codec.hpp"
#include "compat/mobile_vision/lut_rows.hpp"
#include "ir/key.hpp"
#include "table/exchange.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using namespace table;  // NOLINT: the file is about tables

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::string_view kConv =
    R"({"op_type": "Int8ConvRelu", "op_args": ["name: \"kernel\"\ni: 3\n", "name: \"order\"\ns: \"NHWC\"\n", "name: \"pad\"\ni: 1\n", )"
    R"("name: \"stride\"\ni: 2\n"], "input_shapes": [[1, 32, 32, 8], [16, 3, 3, 8], [16]], "input_dtypes": [6, 6, 2], )"
    R"("runtime_us_p0": 41.5, "runtime_us_p10": 42, "runtime_us_p50": 43.25, "runtime_us_p90": 50.0, "runtime_us_p100": 1e2, "device": "phone"})"
    "\n";

/// A line of an operator of one operand.
std::string line(std::string_view type, std::string_view time, std::string_view device = "phone",
                 std::string_view args = "[]") {
  return fmt::format(
      R"({{"op_type": "{}", "op_args": {}, "input_shapes": [[1, 1000]], "input_dtypes": [6], "runtime_us_p50": {}, "device": "{}"}})"
      "\n",
      type, args, time, device);
}

std::string lut_error_of(std::string_view bytes) {
  const auto read = read_lut(bytes, "t.json");
  if (read) return "(no error)";
  EXPECT_EQ(static_cast<int>(read.error().code), static_cast<int>(Code::Input));
  return read.error().message;
}

formats::caffe2::LutQuery query_of(std::string_view text) {
  return read_lut_record(text).value().query;
}

TEST(Lut, ALineSaysAnOperatorAndPercentiles) {
  const auto lut = read_lut(kConv, "t.json");
  ASSERT_TRUE(lut.has_value()) << lut.error().message;
  ASSERT_EQ(lut->records.size(), 1U);
  const LutRecord& record = lut->records.front();
  EXPECT_EQ(record.query.op_type, "Int8ConvRelu");
  EXPECT_EQ(record.query.op_args.at(0), "name: \"kernel\"\ni: 3\n");
  EXPECT_EQ(record.query.input_shapes,
            (std::vector<std::vector<std::int64_t>>{{1, 32, 32, 8}, {16, 3, 3, 8}, {16}}));
  EXPECT_EQ(record.query.input_dtypes, (std::vector<int>{6, 6, 2}));
  EXPECT_EQ(record.device, "phone");
  EXPECT_EQ(record.p0, (LutTime{41.5, 41'500, false}));
  EXPECT_EQ(record.p10, (LutTime{42, 42'000, true}));
  EXPECT_EQ(record.p50, (LutTime{43.25, 43'250, false}));
  EXPECT_EQ(record.p100, (LutTime{100, 100'000, false}));
  EXPECT_EQ(record.text, kConv);
  EXPECT_EQ(record.line, 1U);
}

TEST(Lut, WhatIsReadCanBeWritten) {
  auto record = read_lut_record(kConv).value();
  // Only the number's spelling is Python's again.
  std::string expected(kConv);
  expected.replace(expected.find("1e2"), 3, "100.0");
  EXPECT_EQ(lut_line(record), expected);
}

TEST(Lut, BadLinesAreNamed) {
  const std::string good = line("Int8Softmax", "5.0");
  EXPECT_THAT(lut_error_of(good + "not json\n"),
              HasSubstr("t.json: line 2: not a JSON object: 'not json'"));
  EXPECT_THAT(lut_error_of(good + "[1]\n"), HasSubstr("line 2: not a JSON object: '[1]'"));
  EXPECT_THAT(
      lut_error_of("{}\n"),
      HasSubstr("line 1: lacks op_type, input_shapes, input_dtypes, runtime_us_p50, device"));
  EXPECT_THAT(lut_error_of(good.substr(0, good.size() - 2) + ", \"unit\": \"ms\"}\n"),
              HasSubstr("line 1: 'unit' is not in the schema"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "-3.0")),
              HasSubstr("runtime_us_p50 is '-3.0'; expected microseconds"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "NaN")), HasSubstr("runtime_us_p50 is 'NaN'"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "Infinity")),
              HasSubstr("runtime_us_p50 is 'Infinity'"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "1e16")), HasSubstr("runtime_us_p50 is '1e16'"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "null")), HasSubstr("runtime_us_p50 is 'null'"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", R"("5")")), HasSubstr("runtime_us_p50 is"));
  EXPECT_THAT(lut_error_of(line("", "5")), HasSubstr("op_type is ''"));
  EXPECT_THAT(lut_error_of(line("Int8Softmax", "5", "phone", R"([1])")),
              HasSubstr("op_args is not a list"));
  EXPECT_THAT(lut_error_of(good.substr(0, good.size() - 1) + " x\n"),
              HasSubstr("not a JSON object"));
  EXPECT_THAT(lut_error_of(good.substr(0, good.size() - 1) + " {}\n"),
              HasSubstr("text follows the closing brace"));
  std::string other_unit = good;
  other_unit.replace(other_unit.find("runtime_us"), 10, "runtime_ms");
  EXPECT_THAT(lut_error_of(other_unit),
              HasSubstr("'runtime_ms_p50' is not in the schema; expected times in microseconds"));
  std::string twice = good;
  twice.replace(twice.find("\"op_args\": []"), 13, "\"op_type\": \"Int8FC\"");
  EXPECT_THAT(lut_error_of(twice), HasSubstr("op_type appears twice"));
  std::string flat = good;
  flat.replace(flat.find("[[1, 1000]]"), 11, "[1, 1000]");
  EXPECT_THAT(lut_error_of(flat), HasSubstr("input_shapes is not a list"));
  EXPECT_THAT(lut_error_of(good.substr(0, good.size() / 2)), HasSubstr("line 1: "));
  EXPECT_THAT(lut_error_of(""), HasSubstr("no record"));
  EXPECT_THAT(lut_error_of(std::string(400'000, '[')), HasSubstr("the limit for a line is"));
}

TEST(Lut, ManyBadLinesAreCounted) {
  std::string bytes = line("Int8Softmax", "5.0");
  for (int i = 0; i < 12; ++i) bytes += "{}\n";
  const std::string message = lut_error_of(bytes);
  EXPECT_THAT(message, HasSubstr("12 malformed rows"));
  const auto none = read_lut("rubbish\n", "t.json", true);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message,
              HasSubstr("t.json: has no record (1 malformed, the first at line 1: "));
  EXPECT_THAT(message, HasSubstr("and 2 more"));
  const auto lut = read_lut(bytes, "t.json", true);
  ASSERT_TRUE(lut.has_value());
  EXPECT_EQ(lut->records.size(), 1U);
  EXPECT_EQ(lut->skipped, 12U);
}

TEST(Lut, ArgumentsAndOtherPercentilesMayBeAbsent) {
  const auto record = read_lut_record(
      R"({"op_type": "Relu", "input_shapes": [[]], "input_dtypes": [1], "runtime_us_p50": 7, "device": "phone"})");
  ASSERT_TRUE(record.has_value()) << record.error().message;
  EXPECT_TRUE(record->query.op_args.empty());
  EXPECT_EQ(record->p90, std::nullopt);
  EXPECT_EQ(
      lut_line(*record),
      R"({"op_type": "Relu", "op_args": [], "input_shapes": [[]], "input_dtypes": [1], "runtime_us_p50": 7, "device": "phone"})"
      "\n");
}

TEST(Lut, NumbersArePrintedAsPythonDoes) {
  const std::pair<double, std::string> cases[] = {{960, "960.0"},
                                                  {25330, "25330.0"},
                                                  {0.1, "0.1"},
                                                  {1e-4, "0.0001"},
                                                  {1e-5, "1e-05"},
                                                  {1.5e-7, "1.5e-07"},
                                                  {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},
                                                  {123456789012345680.0, "1.2345678901234568e+17"},
                                                  {0, "0.0"},
                                                  {1.0 / 3, "0.3333333333333333"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(python_number(value), text);
  EXPECT_EQ(python_number(960, true), "960");
  EXPECT_EQ(python_number(0, true), "0");
  EXPECT_EQ(python_lists({{1, 3, 224, 224}, {}}), "[[1, 3, 224, 224], []]");
}

TEST(Lut, RecordsAreFoundByFiveFields) {
  const std::string bytes = std::string(kConv) + line("Int8Softmax", "5.0") +
                            line("Int8Softmax", "6.0", "other") + line("Int8Softmax", "7.0");
  const auto lut = read_lut(bytes, "t.json").value();
  const LutIndex index(lut.records);
  EXPECT_EQ(index.find(query_of(kConv), "phone"), (std::vector<std::uint32_t>{0}));
  const formats::caffe2::LutQuery softmax = lut.records[1].query;
  EXPECT_EQ(index.find(softmax, "phone"), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(index.find(softmax, "other"), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(index.find(softmax, "third").empty());
  EXPECT_TRUE(index.contradictions().empty());
  // Each of the other fields decides.
  for (int field = 0; field < 4; ++field) {
    formats::caffe2::LutQuery query = query_of(kConv);
    if (field == 0) query.op_type = "Int8Conv";
    if (field == 1) query.op_args.pop_back();
    if (field == 2) query.input_shapes[0][1] = 33;
    if (field == 3) query.input_dtypes[0] = 7;
    EXPECT_TRUE(index.find(query, "phone").empty()) << field;
  }
}

TEST(Lut, QuantisationDoesNotDecide) {
  const std::string bytes = line(
      "Int8FC", "9.0", "phone",
      R"(["name: \"Y_scale\"\nf: 0.5\n", "name: \"order\"\ns: \"NHWC\"\n", "name: \"ws_nbytes_limit\"\ni: 64\n"])");
  const auto lut = read_lut(bytes, "t.json").value();
  const LutIndex index(lut.records);
  formats::caffe2::LutQuery query = lut.records[0].query;
  query.op_args = {"name: \"Y_zero_point\"\ni: 128\n", "name: \"order\"\ns: \"NHWC\"\n"};
  EXPECT_EQ(index.find(query, "phone").size(), 1U);
  query.op_args = {"name: \"order\"\ns: \"NCHW\"\n"};
  EXPECT_TRUE(index.find(query, "phone").empty());
}

TEST(Lut, ContradictionsNameTheirLines) {
  const auto of = [](const std::string& bytes) {
    const auto lut = read_lut(bytes, "t.json").value();
    return LutIndex(lut.records).contradictions();
  };
  EXPECT_TRUE(of(line("Int8FC", "5.0") + line("Int8FC", "10.0")).empty());
  const auto told = of(line("Int8FC", "5.0") + line("Int8Sum", "1.0") + line("Int8FC", "10.5"));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0],
              HasSubstr("Int8FC with input [[1, 1000]] on phone: line 1: 5.0 us, line 3: 10.5 us"));
}

TEST(Lut, QueriesHaveNoTimes) {
  const auto question = read_lut_question(
      R"({"op_type": "Relu", "op_args": [], "input_shapes": [[1, 4]], "input_dtypes": [1], "device": "phone"})");
  ASSERT_TRUE(question.has_value()) << question.error().message;
  EXPECT_EQ(
      lut_question_line(question->query, question->device),
      R"({"op_type": "Relu", "op_args": [], "input_shapes": [[1, 4]], "input_dtypes": [1], "device": "phone"})"
      "\n");
  EXPECT_THAT(read_lut_question(kConv).error().message,
              HasSubstr("runtime_us_p0 is not allowed in a query"));
}

TEST(Lut, AnOperatorThatNobodyKnowsKeepsAKey) {
  formats::caffe2::LutQuery query;
  query.op_type = "No Such Thing";
  query.op_args = {"name: \"axis\"\ni: 1\n", "name: \"Y_scale\"\nf: 0.5\n"};
  query.input_shapes = {{1, 4}, {}};
  query.input_dtypes = {1};
  const std::string text = lut_key_text(query);
  const auto key = ir::parse(text);
  ASSERT_TRUE(key.has_value()) << text;
  EXPECT_EQ(ir::print(*key), text);
  EXPECT_TRUE(ir::has_unknown(*key)) << text;
  formats::caffe2::LutQuery other = query;
  other.op_args = {"name: \"axis\"\ni: 2\n"};
  EXPECT_NE(lut_key_text(other), text);
  query.op_args.pop_back();
  EXPECT_EQ(lut_key_text(query), text);
}

class LutTable : public testing::Test {
 protected:
  base::TemporaryFolder folder_ = base::TemporaryFolder::create("oplat-lut-test").value();
  const table::TableCodec* codec_ = &lut_codec();

  /// Imports bytes into a table that is made anew.
  table::Table imported(const std::string& bytes, bool skip_bad_rows = false) {
    const auto path = folder_.path() / "t.oplat";
    std::filesystem::remove(path);
    table::Table table = table::Table::open(path, table::Mode::Create).value();
    auto read = codec_->read(bytes, {"t.json", "model", skip_bad_rows}).value();
    table::ImportRequest request;
    request.origin = {"lut", "t.json", base::hash128(bytes)};
    request.device = read.file.rows.front().device;
    request.setting = codec_->setting("t.json", "").value();
    EXPECT_TRUE(table::import_foreign(table, *codec_, request, read.file).has_value());
    return table;
  }
  std::string exported(const table::Table& table, const std::string& device) {
    const auto id = table.find_device(device).value();
    const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value();
    const auto out = table::export_foreign(table, *codec_, id.value(), setting.value());
    return out ? out->bytes : out.error().message;
  }
};

TEST_F(LutTable, GivesTheSameBytesBack) {
  const std::string bytes = "\n" + std::string(kConv) + "{\"broken\"\n \t\r\n" +
                            line("Int8Softmax", "5") + line("Odd Type", "6.50");
  const std::string cut = bytes.substr(0, bytes.size() - 1);
  EXPECT_EQ(exported(imported(bytes, true), "phone"), bytes);
  EXPECT_EQ(exported(imported(cut, true), "phone"), cut);
}

TEST_F(LutTable, HoldsSeveralDevices) {
  const std::string of_phone = line("Int8Softmax", "5.0"),
                    of_pixel = line("Int8Softmax", "6.0", "pixel");
  const table::Table table = imported(of_phone + of_pixel);
  EXPECT_EQ(exported(table, "phone"), of_phone + of_pixel);
  EXPECT_EQ(exported(table, "pixel"), of_pixel);
  const std::string key = lut_key_text(query_of(of_phone));
  const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value().value();
  const auto rows = table.rows_of(key, table.find_device("pixel").value().value(), setting).value();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::get<table::Timing>(rows[0].row.outcome).median_ns, 6000.0);
  EXPECT_EQ(table.foreign_text(rows[0].id).value(), of_pixel);
}

TEST_F(LutTable, AnswersByTheOriginalsRule) {
  const table::Table table = imported(std::string(kConv) + line("Int8FC", "5") +
                                      line("Int8FC", "50.5") + line("Int8FC", "7", "pixel"));
  const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value().value();
  LutRows rows(table, table.find_device("phone").value().value(), {setting});
  for (int i = 0; i < 2; ++i) {
    const auto twice = rows.find(query_of(line("Int8FC", "1"))).value();
    ASSERT_EQ(twice.times.size(), 2U);
    EXPECT_EQ(twice.times[0], (LutTime{5, 5000, true}));
    EXPECT_EQ(twice.times[1], (LutTime{50.5, 50'500, false}));
    EXPECT_THAT(twice.contradiction.value_or(""), HasSubstr("5 us, 50.5 us"));
  }
  EXPECT_EQ(rows.find(query_of(kConv)).value().times.size(), 1U);
  // The same kernel in other words: one key, but by the original's rule another operator.
  formats::caffe2::LutQuery spelt = query_of(kConv);
  spelt.op_args[0] = "name: \"kernels\"\nints: 3\nints: 3\n";
  ASSERT_EQ(lut_key_text(spelt), lut_key_text(query_of(kConv)));
  EXPECT_TRUE(rows.find(spelt).value().times.empty());
}

/// What the index is asked for, against the rows themselves.
TEST_F(LutTable, TheIndexOfAnImportAnswersAsItsRowsDo) {
  const std::string fc = line("Int8FC", "5"), softmax = line("Int8Softmax", "6.5");
  table::Table table = imported(std::string(kConv) + fc + line("Int8FC", "50.5") + softmax +
                                line("Int8FC", "7", "pixel"));
  const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value().value();
  const auto phone = table.find_device("phone").value().value(),
             pixel = table.find_device("pixel").value().value();
  EXPECT_EQ(table.counts().value().fits, 2);
  const auto times = [&](table::DeviceId device, const std::string& asked) {
    std::vector<double> us;
    const auto found = LutRows(table, device, {setting}).find(query_of(asked)).value();
    for (const LutTime& time : found.times) us.push_back(time.us);
    return us;
  };
  EXPECT_THAT(times(phone, fc), ElementsAre(5, 50.5));
  EXPECT_THAT(times(pixel, fc), ElementsAre(7));
  EXPECT_THAT(times(pixel, softmax), IsEmpty());
  // Another file of the same device: the rows of both.
  const std::string more = line("Int8FC", "8");
  const auto read = codec_->read(more, {"more.json", "model", false}).value();
  const table::ImportRequest request{{"lut", "more.json", base::hash128(more)},
                                     "phone",
                                     codec_->setting("more.json", "").value(),
                                     false};
  ASSERT_EQ(table::import_foreign(table, *codec_, request, read.file).value(),
            table::ImportOutcome::Added);
  EXPECT_THAT(times(phone, fc), ElementsAre(5, 50.5, 8));
  // A row that oplat measured is not a line: the index is void, and the rows answer, it among them.
  Row row;
  row.key = lut_key_text(query_of(softmax));
  table::Timing timing;
  timing.median_ns = 4000;
  row.outcome = timing;
  ASSERT_TRUE(table.put_row(phone, setting, std::nullopt, row).has_value());
  EXPECT_THAT(times(phone, softmax), UnorderedElementsAre(4, 6.5));
  EXPECT_THAT(times(phone, fc), ElementsAre(5, 50.5, 8));
}

TEST_F(LutTable, AReplacedFileTakesItsIndexWithIt) {
  const std::string fc = line("Int8FC", "5"), of_pixel = line("Int8FC", "7", "pixel"),
                    softmax = line("Int8Softmax", "6.5", "pixel");
  table::Table table = imported(fc + of_pixel + softmax);
  const std::string fewer = line("Int8FC", "9");
  const auto read = codec_->read(fewer, {"t.json", "model", false}).value();
  const table::ImportRequest request{{"lut", "t.json", base::hash128(fewer)},
                                     "phone",
                                     codec_->setting("t.json", "").value(),
                                     true};
  ASSERT_EQ(table::import_foreign(table, *codec_, request, read.file).value(),
            table::ImportOutcome::Replaced);
  const auto setting = table.find_setting(request.setting).value().value();
  LutRows phone(table, table.find_device("phone").value().value(), {setting});
  EXPECT_EQ(phone.find(query_of(fc)).value().times, std::vector<LutTime>({{9, 9000, true}}));
  LutRows pixel(table, table.find_device("pixel").value().value(), {setting});
  EXPECT_THAT(pixel.find(query_of(of_pixel)).value().times, IsEmpty());
}

TEST_F(LutTable, AFileIsFoundAgainUnderAnyDeviceThatItsRowsName) {
  const std::string fc = line("Int8FC", "5"), of_pixel = line("Int8FC", "7", "pixel");
  table::Table table = imported(fc + of_pixel);
  const auto import = [&](const std::string& bytes, const std::string& device, bool replace) {
    const auto read = codec_->read(bytes, {"t.json", "model", false}).value();
    const table::ImportRequest request{{"lut", "t.json", base::hash128(bytes)},
                                       device,
                                       codec_->setting("t.json", "").value(),
                                       replace};
    return table::import_foreign(table, *codec_, request, read.file);
  };
  EXPECT_EQ(import(fc + of_pixel, "pixel", false).value(), table::ImportOutcome::Unchanged);
  // The newer file begins with the other device.
  const std::string newer = line("Int8FC", "8", "pixel") + line("Int8FC", "6");
  EXPECT_EQ(import(newer, "pixel", false).error().code, Code::Refused);
  EXPECT_EQ(import(newer, "pixel", true).value(), table::ImportOutcome::Replaced);
  EXPECT_EQ(table.counts().value().timings, 2);
  // Another phone has a file of this name, too.
  EXPECT_EQ(import(line("Int8FC", "9", "nexus"), "nexus", false).value(),
            table::ImportOutcome::Added);
  EXPECT_EQ(table.counts().value().timings, 3);
}

TEST_F(LutTable, ADamagedIndexIsLeftAlone) {
  const std::string fc = line("Int8FC", "5");
  table::Table table = imported(fc + line("Int8Softmax", "6.5"));
  const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value().value();
  const auto phone = table.find_device("phone").value().value();
  const std::string blob = table.find_fit("oplat.lut-index/1", phone, setting).value()->fit.blob;
  constexpr std::size_t kHead = 8, kEntry = 40;
  ASSERT_EQ(blob.size(), kHead + 2 * kEntry);
  const std::string swapped =
      blob.substr(0, kHead) + blob.substr(kHead + kEntry) + blob.substr(kHead, kEntry);
  const auto with = [&](std::size_t at) { return std::string(blob).replace(at, 8, 8, '\xff'); };
  const std::string nan = with(kHead + 16), many = with(0);
  for (const std::string& damaged :
       {std::string(), blob.substr(0, 50), blob + "x", swapped, nan, many}) {
    ASSERT_TRUE(table.put_fit(phone, setting, {"oplat.lut-index/1", 0, damaged}).has_value());
    EXPECT_EQ(LutRows(table, phone, {setting}).find(query_of(fc)).value().times,
              std::vector<LutTime>({{5, 5000, true}}));
  }
}

TEST_F(LutTable, PercentilesBecomeTheRows) {
  const auto read = codec_->read(kConv, {"t.json", "model", false}).value();
  ASSERT_EQ(read.file.rows.size(), 1U);
  const auto& timing = std::get<table::Timing>(read.file.rows[0].outcome);
  EXPECT_EQ(timing.min_ns, 41'500);
  EXPECT_EQ(timing.p10_ns, 42'000);
  EXPECT_EQ(timing.median_ns, 43'250);
  EXPECT_EQ(timing.p90_ns, 50'000);
  EXPECT_EQ(timing.ci_level, 0);
}

TEST_F(LutTable, ContradictionsAreToldOnImport) {
  const std::string bytes = line("Int8FC", "5.0") + line("Int8FC", "50.0");
  const auto read = codec_->read(bytes, {"t.json", "model", false}).value();
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_THAT(read.warnings[0], HasSubstr("line 1: 5.0 us, line 2: 50.0 us"));
}

TEST_F(LutTable, RowsThatOplatMeasuredAreLinesWithFivePercentiles) {
  table::Table table = imported(line("Int8Softmax", "5.0"));
  const auto device = table.find_device("phone").value().value();
  const auto setting = table.find_setting(codec_->setting("t.json", "").value()).value().value();
  const auto key = formats::caffe2::key_of(query_of(kConv));
  ASSERT_TRUE(key.has_value()) << key.error().message;
  Row row;
  row.key = ir::print(*key);
  table::Timing timing;
  timing.min_ns = 40'000;
  timing.p10_ns = timing.ci_low_ns = 41'000;
  timing.median_ns = 42'000.4;
  timing.p90_ns = timing.ci_high_ns = 45'000;
  timing.blocks = 2;
  row.outcome = timing;
  row.reuse_bytes = 1000;
  const table::RowId id = table.put_row(device, setting, std::nullopt, row).value();
  for (const double value : {40'000.0, 47'000.0}) {
    Block block;
    block.value_ns = value;
    ASSERT_TRUE(table.add_block(id, block).has_value());
  }
  Row refused = row;
  refused.reuse_bytes = 2000;
  refused.outcome = table::Failed{"no"};
  ASSERT_TRUE(table.put_row(device, setting, std::nullopt, refused).has_value());
  const std::string out = exported(table, "phone");
  EXPECT_THAT(out, HasSubstr(R"("op_type": "Int8ConvRelu")"));
  EXPECT_THAT(
      out,
      HasSubstr(
          R"("runtime_us_p0": 40.0, "runtime_us_p10": 41.0, "runtime_us_p50": 42.0004, "runtime_us_p90": 45.0, "runtime_us_p100": 47.0, "device": "phone"})"));
  const auto lut = read_lut(out, "out.json");
  ASSERT_TRUE(lut.has_value()) << lut.error().message;
  ASSERT_EQ(lut->records.size(), 2U);
  // In the most usual spelling, so that the original's rule finds it.
  EXPECT_EQ(lut_identity(lut->records[1].query, "phone"), lut_identity(query_of(kConv), "phone"));
}

TEST_F(LutTable, ThePrecisionIsEachOperatorsOwn) {
  EXPECT_EQ(codec_->setting("t.json", "").value().runtime, "caffe2-qnnpack");
  EXPECT_EQ(static_cast<int>(codec_->setting("t.json", "int8").error().code),
            static_cast<int>(Code::Usage));
}

}  // namespace
}  // namespace oplat::compat::mobile_vision
