// SPDX-License-Identifier: Apache-2.0
/// TinyNAS's libraries: what a line says, what is refused and why, and that the same bytes come out
/// again.
#include "compat/tinynas/library.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "compat/registry.hpp"
#include "compat/tinynas/conv_tuple.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::string_view kGood = "{Regular,1,16,5,5,8,1,1,0} 0.011776\n";

table::ForeignRead must_read(std::string_view bytes, bool skip_bad_rows = false,
                             const std::string& precision = "fp32") {
  auto read = find_codec("tinynas").value()->read(bytes, {"lib.out", precision, skip_bad_rows});
  if (!read) {
    ADD_FAILURE() << read.error().message;
    return {};
  }
  return *std::move(read);
}

std::string written(const table::ForeignFile& file) {
  return find_codec("tinynas").value()->write(file).value();
}

std::string library_error_of(std::string_view bytes, bool skip_bad_rows = false) {
  const auto read = find_codec("tinynas").value()->read(bytes, {"lib.out", "fp32", skip_bad_rows});
  if (read) return "(no error)";
  EXPECT_EQ(static_cast<int>(read.error().code), static_cast<int>(Code::Input));
  return read.error().message;
}

TEST(TinynasLibrary, ALineSaysATupleAndATime) {
  const std::string bytes =
      "{Regular,128,3,480,480,192,7,2,1} 30.9881\n"
      "{Depthwise,32,24,15,16,24,5,1,0} 0.029344\n"
      "{Regular,1,8,4,4,16,1,1,0} -1\n";
  const auto library = read_tinynas_library(bytes, "lib.out");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  ASSERT_EQ(library->rows.size(), 3U);
  EXPECT_EQ(library->rows[0].conv,
            (ConvTuple{ConvType::Regular, 128, 3, 480, 480, 192, 7, 2, true, 1}));
  EXPECT_EQ(library->rows[0].ns, std::optional(30'988'100.0));
  EXPECT_EQ(library->rows[1].conv,
            (ConvTuple{ConvType::Depthwise, 32, 24, 15, 16, 24, 5, 1, false, 1}));
  EXPECT_EQ(library->rows[1].ns, std::optional(29'344.0));
  EXPECT_EQ(library->rows[2].ns, std::nullopt);
  EXPECT_EQ(library->rows[2].line, 3U);
  EXPECT_EQ(library->rows[2].text, "{Regular,1,8,4,4,16,1,1,0} -1\n");
  EXPECT_EQ(library->tail, "");
}

TEST(TinynasLibrary, TimesAreTheNearestNumbersOfNs) {
  const std::pair<std::string, double> cases[] = {{"0.0128856", 12885.6}, {"99.5", 99'500'000.0},
                                                  {"1e-3", 1'000.0},      {"0.000001", 1.0},
                                                  {"5.", 5'000'000.0},    {"1.5E2", 150'000'000.0}};
  for (const auto& [text, ns] : cases) {
    const std::string bytes = "{Regular,1,16,5,5,8,1,1,0} " + text;
    const auto library = read_tinynas_library(bytes, "lib.out");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    EXPECT_EQ(library->rows.at(0).ns, std::optional(ns)) << text;
  }
}

TEST(TinynasLibrary, LinesAreWrittenAsTheOriginalDoes) {
  const ConvTuple conv{ConvType::Regular, 1, 16, 5, 5, 8, 1, 1, true, 1};
  EXPECT_EQ(library_line(conv, 11'776.0), "{Regular,1,16,5,5,8,1,1,1} 0.011776\n");
  EXPECT_EQ(library_line(conv, 30'988'123.0), "{Regular,1,16,5,5,8,1,1,1} 30.9881\n");
  EXPECT_EQ(library_line(conv, 12.0), "{Regular,1,16,5,5,8,1,1,1} 1.2e-05\n");
  EXPECT_EQ(library_line(conv, 2e12), "{Regular,1,16,5,5,8,1,1,1} 2e+06\n");
  EXPECT_EQ(library_line(conv, std::nullopt), "{Regular,1,16,5,5,8,1,1,1} -1\n");
}

TEST(TinynasLibrary, FileNamesTellThePrecision) {
  EXPECT_EQ(precision_of_library("conv_data.out"), "FP32");
  EXPECT_EQ(precision_of_library("conv_data.out.fp16"), "FP16");
  EXPECT_EQ(precision_of_library("conv_data.out.fp16.damoyolo"), "FP16_DAMOYOLO");
  EXPECT_EQ(precision_of_library("conv_data.out.int8"), "INT8");
  EXPECT_EQ(precision_of_library("conv_data.out.int4"), "INT4");
  EXPECT_EQ(precision_of_library("conv_data.out.bak"), std::nullopt);
  EXPECT_EQ(precision_of_library("mine.txt"), std::nullopt);
}

TEST(TinynasCodec, SettingsHaveThePrecisionAsked) {
  const auto codec = find_codec("tinynas").value();
  const table::Setting setting = codec->setting("conv_data.out.fp16.damoyolo", "").value();
  EXPECT_EQ(setting.runtime, "tensorrt");
  EXPECT_EQ(setting.precision, "fp16_damoyolo");
  EXPECT_EQ(codec->setting("conv_data.out", "Int8").value().precision, "int8");
  for (const auto& [file, word] : {std::pair("mine.txt", ""), std::pair("conv_data.out", "fp8")}) {
    const auto bad = codec->setting(file, word);
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(static_cast<int>(bad.error().code), static_cast<int>(Code::Usage));
    EXPECT_NE(bad.error().message.find("FP16_DAMOYOLO"), std::string::npos) << bad.error().message;
  }
}

TEST(TinynasCodec, UnknownFormatsAreListed) {
  const auto codec = find_codec("pickle");
  ASSERT_FALSE(codec.has_value());
  EXPECT_EQ(static_cast<int>(codec.error().code), static_cast<int>(Code::Usage));
  EXPECT_NE(
      codec.error().message.find("expected one of lut, mmt, paddle-evaluator, paddle-lite-profile, "
                                 "paddle-lookup, paddleslim, tinynas"),
      std::string::npos)
      << codec.error().message;
}

TEST(TinynasCodec, RowsHaveKeysAndOneBlock) {
  const table::ForeignRead read = must_read(
      "{Regular,1,16,5,5,8,1,1,0} 0.011776\n{Regular,1,16,5,5,8,1,1,1} -1\n", false, "fp16");
  ASSERT_EQ(read.file.rows.size(), 2U);
  EXPECT_EQ(read.file.rows[0].key,
            "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f16[1,16,5,5],f16c[8,16,1,1])->"
            "(f16[1,8,5,5])");
  const table::Timing& timing = std::get<table::Timing>(read.file.rows[0].outcome);
  EXPECT_EQ(timing.median_ns, 11'776.0);
  EXPECT_EQ(timing.min_ns, 11'776.0);
  EXPECT_EQ(timing.blocks, 1);
  EXPECT_EQ(timing.ci_level, 0.0) << "an interval that claims nothing";
  EXPECT_EQ(std::get<table::Failed>(read.file.rows[1].outcome).reason, "the profile failed (-1)");
  EXPECT_EQ(read.file.rows[0].text, std::nullopt) << "made again from key and time";
  EXPECT_EQ(read.file.rows[1].text, std::nullopt);
}

TEST(TinynasCodec, TheSameBytesComeOut) {
  const std::string good(kGood);
  const std::string files[] = {
      good,
      good + good + good,
      good.substr(0, good.size() - 1),
      "\n\n" + good + "\n" + good + "\n\n",
      "{Regular,1,16,5,5,8,1,1,0} 0.011776\r\n{Regular,1,16,5,5,8,1,1,0} -1\r\n",
      "  {Regular,1,16,5,5,8,1,1,0}\t 0.011776  \n",
      "{Regular,1,16,5,5,8,1,1,0} 0.0117760\n{Regular,1,16,5,5,8,1,1,0} "
      "-1.0\n{Regular,1,16,5,5,8,1,1,0} 0.01177612345\n",
      "{Regular,01,16,5,5,8,1,1,0} 1e-2\n",
      // In_C of a depthwise convolution is ignored; of one channel it is the regular one.
      "{Depthwise,1,3,5,5,8,3,1,0} 0.5\n{Depthwise,1,8,5,5,8,3,1,0} "
      "0.5\n{Depthwise,1,1,5,5,1,3,1,0} 0.5\n",
      // Another height than width; a stride larger than the input.
      "{Regular,1,16,5,9,8,1,1,0} 0.5\n{Regular,1,16,5,5,8,1,7,1} 12345.6\n",
  };
  for (const std::string& bytes : files) EXPECT_EQ(written(must_read(bytes).file), bytes);
}

struct Malformed {
  std::string line;
  std::string reason;
};

TEST(TinynasCodec, MalformedRowsAreNamed) {
  const Malformed cases[] = {
      {"Regular,1,16,5,5,8,1,1,0} 0.5", "begins with 'Regular"},
      {"# a comment", "begins with '# a comment'; expected '{'"},
      {"{Regular,1,16,5,5,8,1,1,0 0.5", "no closing brace"},
      {"{Regular,1,16,5,5,8,1,1} 0.5",
       "8 fields between the braces; expected 9 (Conv_type,Batch,In_C"},
      {"{Regular,1,16,5,5,8,1,1,0,0} 0.5", "10 fields"},
      {"{} 0.5", "1 fields"},
      {"{Dilated,1,16,5,5,8,1,1,0} 0.5", "Conv_type is 'Dilated'; expected Regular or Depthwise"},
      {"{regular,1,16,5,5,8,1,1,0} 0.5", "Conv_type is 'regular'"},
      {"{Regular,x,16,5,5,8,1,1,0} 0.5", "Batch is 'x'; expected an integer"},
      {"{Regular,1,16.0,5,5,8,1,1,0} 0.5", "In_C is '16.0'; expected an integer"},
      {"{Regular,1,16, 5,5,8,1,1,0} 0.5", "In_H is ' 5'; expected an integer"},
      {"{Regular,1,16,,5,8,1,1,0} 0.5", "In_H is ''; expected an integer"},
      {"{Regular,1,16,5,5,0,1,1,0} 0.5", "Out_C is 0; expected at least 1"},
      {"{Regular,1,16,5,-5,8,1,1,0} 0.5", "In_W is -5; expected at least 1"},
      {"{Regular,1,16,5,5,8,0,1,0} 0.5", "Kernel is 0"},
      {"{Regular,1,16,5,5,8,1,0,0} 0.5", "Stride is 0"},
      {"{Regular,1,99999999999,5,5,8,1,1,0} 0.5",
       "In_C is '99999999999'; the limit for a size is 1073741824"},
      {"{Regular,1,99999999999999999999,5,5,8,1,1,0} 0.5", "the limit for a size is"},
      {"{Regular,1,16,5,5,8,1,1,2} 0.5", "ElmtFused is '2'; expected 0 or 1"},
      {"{Regular,1,16,5,5,8,1,1,0}", "no latency after the closing brace"},
      {"{Regular,1,16,5,5,8,1,1,0}0.5", "'0.5' follows the closing brace; expected a blank"},
      {"{Regular,1,16,5,5,8,1,1,0} fast", "the latency is 'fast'; expected a number"},
      {"{Regular,1,16,5,5,8,1,1,0} 0x10", "the latency is '0x10'; expected a number"},
      {"{Regular,1,16,5,5,8,1,1,0} 0,5", "the latency is '0,5'; expected a number"},
      {"{Regular,1,16,5,5,8,1,1,0} nan", "the latency is 'nan'; expected ms, or -1"},
      {"{Regular,1,16,5,5,8,1,1,0} inf", "the latency is 'inf'; expected ms"},
      {"{Regular,1,16,5,5,8,1,1,0} -inf", "the latency is '-inf'; expected ms"},
      {"{Regular,1,16,5,5,8,1,1,0} 1e999", "the latency is '1e999'"},
      {"{Regular,1,16,5,5,8,1,1,0} 1e305", "the latency is '1e305'"},
      {"{Regular,1,16,5,5,8,1,1,0} 5e-324",
       "the latency is '5e-324' ms; expected 1e-9 to 3.2e10 ms"},
      {"{Regular,1,16,5,5,8,1,1,0} 0.0000000009", "the latency is '0.0000000009' ms"},
      {"{Regular,1,16,5,5,8,1,1,0} 1e12", "the latency is '1e12' ms"},
      {"{Regular,1,16,5,5,8,1,1,0} -2", "the latency is '-2'; expected ms, or -1"},
      {"{Regular,1,16,5,5,8,1,1,0} -0", "the latency is '-0'; expected ms"},
      {"{Regular,1,16,5,5,8,1,1,0} 0", "the latency is '0'; expected ms, or -1"},
      {"{Regular,1,16,5,5,8,1,1,0} 0.5 ms", "'ms' follows the latency"},
      {"{Regular,1,16,5,5,8,1,1,0} 0.5\x0b", "the latency is '0.5\\x0b'; expected a number"},
      {std::string("{Regular,1,16,5,5,8,1,1,0} 0.\0005", 31), "holds a NUL byte"},
      {std::string(5000, 'x'), "5000 bytes; the limit for a row is 1024"},
  };
  for (const Malformed& bad : cases) {
    SCOPED_TRACE(bad.line.substr(0, 100));
    const std::string bytes = std::string(kGood) + bad.line + "\n" + std::string(kGood);
    const std::string message = library_error_of(bytes);
    EXPECT_NE(message.find("lib.out: line 2: "), std::string::npos) << message;
    EXPECT_NE(message.find(bad.reason), std::string::npos) << message;
    EXPECT_NE(message.find("--skip-bad-rows"), std::string::npos) << message;
    // Without its end, the last line of the file is no better.
    EXPECT_NE(library_error_of(std::string(kGood) + bad.line).find(bad.reason), std::string::npos);
    const table::ForeignRead read = must_read(bytes, true);
    EXPECT_EQ(read.skipped, 1U);
    ASSERT_EQ(read.notes.size(), 1U);
    EXPECT_EQ(read.notes[0].find("line 2: "), 0U) << read.notes[0];
    EXPECT_EQ(read.file.rows.size(), 2U);
    EXPECT_EQ(written(read.file), bytes);
  }
}

TEST(TinynasCodec, TheFirstTenAreNamedAndAllAreCounted) {
  std::string bytes(kGood);
  for (int i = 0; i < 13; ++i) bytes += "rubbish\n";
  const std::string message = library_error_of(bytes);
  EXPECT_NE(message.find("lib.out: 13 malformed rows"), std::string::npos) << message;
  EXPECT_NE(message.find("\n  lib.out: line 11: "), std::string::npos) << message;
  EXPECT_EQ(message.find("line 12: "), std::string::npos) << message;
  EXPECT_NE(message.find("and 3 more"), std::string::npos) << message;
  const table::ForeignRead read = must_read(bytes, true);
  EXPECT_EQ(read.skipped, 13U);
  EXPECT_EQ(read.notes.size(), 10U);
  EXPECT_EQ(written(read.file), bytes) << "lines after the last row are kept";
}

TEST(TinynasCodec, AByteOrderMarkIsNamed) {
  for (const bool skip_bad_rows : {false, true}) {
    const std::string message =
        library_error_of("\xEF\xBB\xBF" + std::string(kGood), skip_bad_rows);
    EXPECT_NE(message.find("lib.out: begins with a byte order mark"), std::string::npos)
        << message << ": its first row must not be left out";
  }
}

TEST(TinynasCodec, WithoutATimeItIsNoLibrary) {
  EXPECT_NE(library_error_of("").find("lib.out: has no row with a latency (0 failed, 0 malformed)"),
            std::string::npos);
  EXPECT_NE(library_error_of("\n\n").find("no row with a latency"), std::string::npos);
  EXPECT_NE(library_error_of("{Regular,1,16,5,5,8,1,1,0} -1\n").find("(1 failed, 0 malformed)"),
            std::string::npos);
  EXPECT_NE(
      library_error_of("rubbish\n", true)
          .find("(0 failed, 1 malformed, the first at line 1: begins with 'rubbish'; expected"),
      std::string::npos);
}

TEST(TinynasCodec, AcceptsKeysThatALineCanSay) {
  const auto codec = find_codec("tinynas").value();
  const ConvTuple conv{ConvType::Regular, 1, 16, 5, 5, 8, 3, 2, true, 1};
  EXPECT_TRUE(codec->accepts(key_text_of(conv, ir::Dtype::F32)));
  ConvTuple grouped = conv;
  grouped.group = 2;
  EXPECT_FALSE(codec->accepts(key_text_of(grouped, ir::Dtype::F32)));
  EXPECT_FALSE(codec->accepts("Relu/14{}(f32[1,64])->(f32[1,64])"));
  EXPECT_FALSE(codec->accepts("tinynas:Conv{"));
  EXPECT_FALSE(
      codec->write({"", {{"Relu/14{}(f32[1,64])->(f32[1,64])", table::Timing{}, "", {}}}, ""})
          .has_value());
}

TEST(TinynasCodec, TellsRowsApartByTheirLines) {
  const auto codec = find_codec("tinynas").value();
  const std::string with_relu =
      "com.microsoft.nchwc:Conv/"
      "1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[1,1],pads=[0,0,0,0],"
      "strides=[1,1]}"
      "(f32[1,16,5,5],f32c[32,16,1,1],f32c[32])->(f32[1,32,5,5])";
  std::string without = with_relu;
  without.replace(without.find("activation=Relu,"), 16, "");
  ASSERT_TRUE(codec->accepts(with_relu));
  ASSERT_TRUE(codec->accepts(without));
  EXPECT_EQ(codec->identity(with_relu), codec->identity(without));
  std::string wider = without;
  wider.replace(wider.find("f32[1,16,5,5]"), 13, "f32[2,16,5,5]")
      .replace(wider.find("f32[1,32,5,5]"), 13, "f32[2,32,5,5]");
  ASSERT_TRUE(codec->accepts(wider));
  EXPECT_NE(codec->identity(wider), codec->identity(without));
  EXPECT_EQ(codec->identity("Relu/14{}(f32[1,100])->(f32[1,100])"),
            "Relu/14{}(f32[1,100])->(f32[1,100])");
}

TEST(TinynasCodec, SaysConvolutionsThatOnnxRuntimeExecuted) {
  const auto codec = find_codec("tinynas").value();
  const std::string key =
      "com.microsoft.nchwc:Conv/"
      "1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],"
      "strides=[2,2]}(f32[8,64,15,15],f32c[128,64,3,3],f32c[128],f32[8,128,8,8])->(&3)";
  EXPECT_TRUE(codec->accepts(key));
  table::Timing timing;
  timing.median_ns = 1.5e6;
  const auto written = codec->write({"", {{key, timing, "", {}}}, ""});
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(*written, "{Regular,8,64,15,15,128,3,2,1} 1.5\n");
  EXPECT_FALSE(codec->accepts(
      "com.microsoft.nchwc:Conv/1@block=16{group=1}(f32[8,64,15,15])->(f32[8,64,15,15])"));
}

class RealLibrary : public ::testing::TestWithParam<std::pair<const char*, std::size_t>> {};

TEST_P(RealLibrary, TheSameBytesComeOutAndNoRowNeedsItsText) {
  const auto& [name, rows] = GetParam();
  const std::filesystem::path path =
      std::filesystem::path(OPLAT_SHARED_DIR) / "data/tinynas" / name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto codec = find_codec("tinynas").value();
  const table::Setting setting = codec->setting(name, "").value();
  const auto read = codec->read(bytes, {name, setting.precision, false});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->file.rows.size(), rows);
  std::size_t with_text = 0;
  for (const table::ForeignRow& row : read->file.rows)
    with_text += row.text || !row.before.empty() ? 1U : 0U;
  EXPECT_EQ(with_text, 0U);
  EXPECT_TRUE(codec->write(read->file).value() == bytes);
}

INSTANTIATE_TEST_SUITE_P(Files, RealLibrary,
                         ::testing::Values(std::pair("conv_data.out", 101'240U),
                                           std::pair("conv_data.out.fp16.damoyolo", 13'364U)));

}  // namespace
}  // namespace oplat::compat::tinynas
