// SPDX-License-Identifier: Apache-2.0
/// Text tables of PaddleSlim and Paddle-Lite, and logs of its profiler: what a line says, what is
/// refused and why, and that the same bytes come out again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"

namespace oplat::compat::paddleslim {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view format, std::string_view bytes) {
  const auto read = find_codec(format).value()->read(bytes, {"t.txt", "fp32", false});
  if (read) return "(no error)";
  EXPECT_EQ(static_cast<int>(read.error().code), static_cast<int>(Code::Input));
  return read.error().message;
}

table::ForeignRead read(std::string_view format, std::string_view bytes, bool skip = false) {
  auto read = find_codec(format).value()->read(bytes, {"t.txt", "fp32", skip});
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return read ? *std::move(read) : table::ForeignRead{};
}

/// The key of one row.
std::string key_of(std::string_view format, std::string_view bytes) {
  const table::ForeignRead found = read(format, bytes);
  return found.file.rows.size() == 1 ? found.file.rows.front().key : "(none)";
}

std::string evaluator(std::string_view row) { return fmt::format("lite\tphone\t2022\n{}\n", row); }

TEST(PaddleEvaluator, ALineSaysAnOperator) {
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("conv,1,1,1,3,224,224,32,1,3,1,2,1\t12.5")),
            "paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,"
            "pads=[1,1,1,1],quant=None,strides=[2,2]}"
            "(f32[1,3,224,224],f32c[32,3,3,3])->(f32[1,32,112,112])");
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("conv,0,0,1,32,56,56,32,32,3,1,1,1\t1")),
            "paddle_lite:depthwise_conv2d{activation=None,bias=false,bit_length=None,dilations=[1,"
            "1],group=32,pads=[1,1,1,1],quant=None,strides=[1,1]}"
            "(f32[1,32,56,56],f32c[32,1,3,3])->(f32[1,32,56,56])");
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("eltwise,2,1,64,56,56\t1")),
            "paddle_lite:elementwise_add{axis=?}(f32[1,64,56,56],f32[*])->(f32[1,64,56,56])");
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("relu6,1,64,56,56\t1")),
            "paddle_lite:relu6{}(f32[1,64,56,56])->(f32[1,64,56,56])");
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("pooling,0,1,64,7,7,3,0,2,1,1\t1")),
            "paddle_lite:pool2d{global_pooling=0,kernel_shape=[3,3],pads=[0,0,0,0],pooling_type="
            "max,strides=[2,2]}(f32[1,64,7,7])->(f32[1,64,3,3])");
  EXPECT_EQ(key_of("paddle-evaluator", evaluator("pooling,1,1,64,7,7,7,0,1,0,3\t1")),
            "paddle_lite:pool2d{global_pooling=1,kernel_shape=[7,7],pads=[0,0,0,0],pooling_type=?,"
            "strides=[1,1]}(f32[1,64,7,7])->(f32[1,64,1,1])");
  EXPECT_THAT(key_of("paddle-evaluator", evaluator("mish,1,8,1,1\t1")),
              HasSubstr("paddle_lite:other{text=\"mish,1,8,1,1\"}"));
}

TEST(PaddleEvaluator, WhatIsNotSquareAndNotToldIsUnknown) {
  const std::string key =
      key_of("paddle-evaluator", evaluator("conv,1,0,1,8,56,56,8,1,3,1,1,1,5\t1"));
  EXPECT_THAT(key, HasSubstr("dilations=[1,?]"));
  EXPECT_THAT(key, HasSubstr("pads=[1,1,?,?]"));
  EXPECT_THAT(key, HasSubstr("f32c[8,8,3,?]"));
  EXPECT_THAT(key, HasSubstr("->(f32[1,8,56,?])"));
  EXPECT_TRUE(ir::has_unknown(ir::parse(key).value()));
}

TEST(PaddleEvaluator, BadLinesAreNamed) {
  const auto error = [](std::string_view row) {
    return error_of("paddle-evaluator", evaluator(row));
  };
  EXPECT_THAT(error_of("paddle-evaluator", "conv,1,1,1\t2\n"),
              HasSubstr("t.txt: line 1: the head line is"));
  EXPECT_THAT(error_of("paddle-evaluator", ""), HasSubstr("the head line is ''"));
  EXPECT_THAT(error_of("paddle-evaluator", "lite\tphone\t2022\n"),
              HasSubstr("no row with a latency (0 malformed)"));
  EXPECT_THAT(error("relu,1,8,1,1"), HasSubstr("line 2: 1 fields between tabs"));
  EXPECT_THAT(error("relu,1,8,1,1\tnan"),
              HasSubstr("line 2: the latency is 'nan'; expected 1e-9 to 3.2e10 ms"));
  EXPECT_THAT(error("relu,1,8,1,1\t-1"), HasSubstr("the latency is '-1'"));
  EXPECT_THAT(error("relu,1,8,1,1\t0"), HasSubstr("the latency is '0'"));
  EXPECT_THAT(error("relu,1,8,1,1\t1e300"), HasSubstr("the latency is '1e300'"));
  EXPECT_THAT(error("relu,1,8,1,1\t1e-320"), HasSubstr("the latency is '1e-320'"));
  EXPECT_THAT(error("conv,1,1,1\t1"), HasSubstr("conv has 4 fields; expected 13 to 17"));
  EXPECT_THAT(error("conv,2,1,1,3,224,224,32,1,3,1,2,1\t1"),
              HasSubstr("the flags of conv are 2 and 1"));
  EXPECT_THAT(error("conv,1,1,1,x,224,224,32,1,3,1,2,1\t1"), HasSubstr("field 5 of conv is 'x'"));
  EXPECT_THAT(error("conv,1,1,1,3,224,224,32,2,3,1,2,1\t1"),
              HasSubstr("2 groups do not divide both 3"));
  EXPECT_THAT(error("conv,1,1,1,3,2,2,32,1,3,0,2,1\t1"), HasSubstr("a window does not fit"));
  EXPECT_THAT(error("eltwise,7,1,8,1,1\t1"), HasSubstr("eltwise has type '7'"));
  EXPECT_THAT(error("relu,1,8,1,1\t1\nrelu,1,8,1,1\t2"),
              HasSubstr("line 2: the operator appears again in line 3"));
}

TEST(PaddleEvaluator, TheSameBytesComeOut) {
  const std::string bytes =
      "\nlite\tphone\t2022\r\nrelu,1,8,1,1\t0.25 \r\n\r\nbad\nrelu,1,9,1,1\t1e-1\n\ntail";
  const auto codec = find_codec("paddle-evaluator").value();
  const table::ForeignRead found = read("paddle-evaluator", bytes, true);
  EXPECT_EQ(found.skipped, 2U);
  EXPECT_EQ(found.file.rows.size(), 2U);
  EXPECT_EQ(found.told.device, "phone");
  EXPECT_EQ(codec->write(found.file).value(), bytes);
}

TEST(PaddleEvaluator, RowsOfOplatsOwnAreWritten) {
  const std::string row = "conv,1,1,1,3,224,224,32,1,3,1,2,1\t12.5";
  const auto codec = find_codec("paddle-evaluator").value();
  table::ForeignFile file = read("paddle-evaluator", evaluator(row)).file;
  file.head.clear();
  file.rows.front().text.reset();
  EXPECT_TRUE(codec->accepts(file.rows.front().key));
  EXPECT_EQ(codec->write(file).value(), "paddle_lite\tunknown\tunknown\n" + row + "\n");
}

std::string lookup(std::string_view row) {
  return fmt::format(
      "dev_info\tarmv7/v8\tcore_num\tthread_num\tpower_mode\tcore0 arch\nphone  "
      "\tarmv8\t8\t2\t0\tARM_A55\n"
      "op_name\tinput_dims\toutput_dims\tparam_info\tmin_latency(ms)\tmax_latency(ms)\tavg_latency("
      "ms)\n{}\n",
      row);
}

TEST(PaddleLookup, ALineSaysAnOperator) {
  // The result's stated size is wrong, as in the tables that the script writes.
  EXPECT_EQ(
      key_of("paddle-lookup",
             lookup("conv \t[1 96 112 112]\t[1 48 114 114]\t(ch_out=48,stride=[1 1],pad=[0 0 0 "
                    "0],kernel=1x1,group=1,"
                    "dilation=[1 1],flag_bias=0,flag_act=0,dtype=float)\t3.472\t5.384\t3.97393")),
      "paddle_lite:conv2d{activation=None,bias=false,bit_length=None,dilations=[1,1],group=1,pads=["
      "0,0,0,0],quant=None,strides=[1,1]}"
      "(f32[1,96,112,112],f32c[48,96,1,1])->(f32[1,48,112,112])");
  EXPECT_EQ(
      key_of("paddle-lookup", lookup("fc\t[4 8]\t[4 10]\t(param_dim=8x10,flag_bias=1)\t1\t2\t1.5")),
      "paddle_lite:fc{}(f32[4,8],f32c[8,10])->(f32[4,10])");
  EXPECT_EQ(
      key_of("paddle-lookup", lookup("activation\t[1 8]\t[1 8]\t(act_type=hard_swish)\t1\t2\t1.5")),
      "paddle_lite:hard_swish{}(f32[1,8])->(f32[1,8])");
  const std::string int8 =
      key_of("paddle-lookup", lookup("conv\t[1 8 8 8]\t[1 8 8 8]\t(ch_out=8, pad=1, kernel=3x3, "
                                     "flag_act=4, dtype=int8_float)\t1\t2\t1.5"));
  EXPECT_THAT(int8, HasSubstr("activation=leaky_relu,bias=true,bit_length=8"));
  EXPECT_THAT(int8, HasSubstr("(i8[1,8,8,8],i8c[8,8,3,3])->(f32[1,8,8,8])"));
}

TEST(PaddleLookup, TheHeadSaysTheSetting) {
  const table::ForeignRead found =
      read("paddle-lookup", lookup("activation\t[1 8]\t[1 8]\t(act_type=relu)\t1\t2\t1.5"));
  EXPECT_EQ(found.told.device, "phone");
  EXPECT_EQ(found.told.threads, 2);
  EXPECT_EQ(found.told.options.at("power_mode"), "0");
  const auto& timing = std::get<table::Timing>(found.file.rows.front().outcome);
  EXPECT_EQ(timing.median_ns, 1.5e6);
  EXPECT_EQ(timing.min_ns, 1e6);
}

TEST(PaddleLookup, BadLinesAreNamed) {
  const auto error = [](std::string_view row) { return error_of("paddle-lookup", lookup(row)); };
  EXPECT_THAT(error_of("paddle-lookup", "nothing\n"),
              HasSubstr("line 1: 'nothing'; expected the line of 'dev_info...'"));
  EXPECT_THAT(error_of("paddle-lookup", "op_name\tinput_dims\n"),
              HasSubstr("the column 'output_dims' is missing"));
  EXPECT_THAT(error("conv\t[1 3 8 8]\t[1]\t(ch_out=4)\t1\t2"),
              HasSubstr("line 4: 6 columns between tabs; expected 7"));
  EXPECT_THAT(error("conv\t[1 3 8]\t[1]\t(ch_out=4)\t1\t2\t1.5"),
              HasSubstr("'[1 3 8]'; expected 4 sizes above 0"));
  EXPECT_THAT(error("conv\t[1 3 8 8]\t[1]\tch_out=4\t1\t2\t1.5"),
              HasSubstr("parameters are 'ch_out=4'"));
  EXPECT_THAT(error("conv\t[1 3 8 8]\t[1]\t(ch_out)\t1\t2\t1.5"),
              HasSubstr("parameter 'ch_out' is not NAME=VALUE"));
  EXPECT_THAT(error("conv\t[1 3 8 8]\t[1]\t(ch_out=4,flag_act=3)\t1\t2\t1.5"),
              HasSubstr("flag_act is '3'"));
  EXPECT_THAT(error("conv\t[1 3 8 8]\t[1]\t(ch_out=4,kernel=9x9)\t1\t2\t1.5"),
              HasSubstr("a window does not fit"));
  EXPECT_THAT(error("fc\t[1 64]\t[1]\t(param_dim=63x10)\t1\t2\t1.5"),
              HasSubstr("param_dim is 63x10"));
  EXPECT_THAT(error("activation\t[1 8]\t[1]\t(act_type=relu)\t1\t2\t3"),
              HasSubstr("not between min and max"));
  EXPECT_THAT(error("activation\t[1 8]\t[1]\t(act_type=relu)\t1\t2\tinf"),
              HasSubstr("avg_latency(ms) is 'inf'"));
}

TEST(PaddleLookup, RowsOfOplatsOwnAreWrittenAndReadAgain) {
  const auto codec = find_codec("paddle-lookup").value();
  const std::string bytes =
      base::read_file(OPLAT_TEST_SOURCE_DIR "/../fuzz/corpus/lookup_table/good.txt", 1 << 20)
          .value();
  table::ForeignFile file = read("paddle-lookup", bytes).file;
  ASSERT_EQ(file.rows.size(), 6U);
  EXPECT_EQ(codec->write(file).value(), bytes);
  const std::vector<table::ForeignRow> rows = file.rows;
  file.head.clear();
  for (table::ForeignRow& row : file.rows) row.text.reset();
  const std::string written = codec->write(file).value();
  const table::ForeignRead again = read("paddle-lookup", written);
  ASSERT_EQ(again.file.rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(again.file.rows[i].key, rows[i].key);
}

TEST(PaddleProfile, TheLastSummaryOfAModelCounts) {
  const std::string bytes =
      base::read_file(OPLAT_TEST_SOURCE_DIR "/../fuzz/corpus/paddle_profile/good.log", 1 << 20)
          .value();
  const table::ForeignRead found = read("paddle-lite-profile", bytes);
  EXPECT_EQ(found.told.device, "Sim 1");
  EXPECT_EQ(found.told.threads, 2);
  EXPECT_EQ(found.told.version, "2.12");
  const auto& rows = found.file.rows;
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(std::get<table::Timing>(rows[0].outcome).median_ns, 250e3);
  EXPECT_EQ(rows[0].key,
            "paddle_lite:conv2d{activation=hard_swish,bias=true,bit_length=None,dilations=[1,1],"
            "group=1,pads=[1,1,1,1],quant=None,strides=[2,2]}"
            "(f32[1,3,32,32],f32c[16,3,3,3])->(f32[1,16,16,16])");
  EXPECT_THAT(rows[1].key, HasSubstr("paddle_lite:depthwise_conv2d{activation=relu,bias=true,"));
  EXPECT_EQ(rows[2].key,
            "paddle_lite:pool2d{global_pooling=1,kernel_shape=[1,1],pads=[0,0,0,0],pooling_type="
            "avg,strides=[1,1]}(f32[1,16,16,16])->(f32[1,16,1,1])");
  EXPECT_THAT(rows[3].key, HasSubstr("activation=None,bias=true"));
  EXPECT_EQ(
      rows[4].key,
      "paddle_lite:elementwise_mul{axis=-1}(f32[1,16,16,16],f32[1,16,1,1])->(f32[1,16,16,16])");
  EXPECT_EQ(rows[5].key,
            "paddle_lite:concat{axis=1}(f32[1,16,16,16],f32[1,16,16,16])->(f32[1,32,16,16])");
  EXPECT_EQ(rows[6].key,
            "paddle_lite:pool2d{global_pooling=0,kernel_shape=[3,3],pads=[1,1,1,1],pooling_type="
            "max,strides=[2,2]}(f32[1,32,16,16])->(f32[1,32,8,8])");
  EXPECT_EQ(rows[7].key, "paddle_lite:reshape2{}(f32[1,32,8,8])->(f32[1,2048])");
  EXPECT_EQ(rows[8].key, "paddle_lite:fc{}(f32[1,2048],f32c[2048,10])->(f32[1,10])");
  EXPECT_EQ(rows[9].key, "paddle_lite:softmax{}(f32[1,10])->(f32[1,10])");
  // 0.000 ms are less than half a microsecond.
  EXPECT_LE(std::get<table::Timing>(rows[7].outcome).ci_high_ns, 500);
  EXPECT_EQ(find_codec("paddle-lite-profile").value()->write(found.file).value(), bytes);
}

TEST(PaddleProfile, BadLinesAreNamed) {
  const std::string bytes =
      base::read_file(OPLAT_TEST_SOURCE_DIR "/../fuzz/corpus/paddle_profile/bad.log", 1 << 20)
          .value();
  const std::string message = error_of("paddle-lite-profile", bytes);
  EXPECT_THAT(message, HasSubstr("3 malformed rows"));
  EXPECT_THAT(message, HasSubstr("line 4: 5 words; expected at least 13"));
  EXPECT_THAT(message, HasSubstr("line 5: sizes are '1x-3'"));
  EXPECT_THAT(message, HasSubstr("line 6: times are 'nan'"));
  EXPECT_THAT(
      error_of("paddle-lite-profile", "avg = 0.5\n"),
      HasSubstr(
          "no row with a latency (0 malformed); expected a 'Detailed Dispatch Profiler Summary'"));
}

}  // namespace
}  // namespace oplat::compat::paddleslim
