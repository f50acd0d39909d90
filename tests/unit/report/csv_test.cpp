// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv.hpp"
#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using test::rendered;

TEST(CsvField, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\""), "\"say \"\"so\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("cr\r"), "\"cr\r\"");
  EXPECT_EQ(csv_field(" blank"), "\" blank\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(Csv, PredictionHasOneLinePerKernel) {
  predict::Prediction p = test::sample_prediction();
  p.sd_log.reset();
  p.kernels[2].key = "Transpose/13{perm=[1,0]}(f32[2,3])->(f32[3,2])";
  EXPECT_EQ(rendered("csv", p),
            "name,key,count,latency_ns,sd_log,source,why,flops,bytes,gflops_per_s,gbytes_per_s,"
            "bound,bound_share,"
            "uncertainty_share,movement\n"
            "\"conv, \"\"first\"\"\",test:copy{}(f32[250])->(f32[250]),3,2e+06,0.02,measured,row "
            "1,,2000.0,,0.001,memory,"
            "1.0,,\n"
            "gemm,test:copy{}(f32[1000])->(f32[1000]),1,5e+06,1.0,physics,\"roofline of 2 rows, "
            "bytes only\",,8000.0,,"
            "0.0016,memory,1.6,,\n"
            "view,\"Transpose/13{perm=[1,0]}(f32[2,3])->(f32[3,2])\",1,0.0,0.0,free,"
            "a view: the runtime moves nothing,0.0,48.0,,,,,,transpose\n");
}

TEST(Csv, UncertaintyStandsBesideEachKernel) {
  predict::Prediction p = test::sample_prediction();
  p.kernels = {p.kernels[1]};
  p.kernels[0].latency_ns = p.latency_ns;
  p.kernels[0].sd_log = predict::kCompositionSd * 4 / 3;  // 16 of 25 parts
  EXPECT_THAT(rendered("csv", p), ::testing::ContainsRegex(",0\\.6(4|40000[0-9]*|3999[0-9]*),\n"));
}

TEST(Csv, ComparisonAndMeasurement) {
  EXPECT_EQ(rendered("csv", test::sample_comparison()),
            "name,latency_ns,interval_lo_ns,interval_hi_ns\n"
            "net.onnx,1.2e+07,11500000.0,12600000.0\n"
            "big.onnx,1.8e+07,1.7e+07,1.9e+07\n");
  EXPECT_EQ(
      rendered("csv", test::sample_measurement()),
      "path,batch,median_ns,ci_low_ns,ci_high_ns,min_block_ns,p10_block_ns,p90_block_ns,sd_"
      "log,blocks,processes,"
      "flags,inferences,mean_ns,p50_ns,p90_ns,p99_ns,max_ns,inferences_per_s,image_ns,"
      "images_per_s,code,error\n"
      "models/"
      "a.onnx,2,1e+06,980000.0,1020000.0,9e+05,950000.0,1100000.0,0.02,5,1,ci_not_reached;"
      "disturbed,200,1250000.0,1100000.0,1500000.0,1900000.0,4e+06,800.0,625000.0,1600.0,,\n");
}

TEST(Csv, AModelThatWasNotMeasuredHasItsError) {
  const std::string text = rendered("csv", test::sample_measurement_with_failures());
  const std::string none(21, ',');
  EXPECT_THAT(text, ::testing::HasSubstr("\nnets/gone.onnx" + none +
                                         "input,nets/gone.onnx: no such file\nmodels/a.onnx,2,"));
  EXPECT_THAT(text, ::testing::HasSubstr("1600.0,,\nnets/odd.onnx" + none +
                                         "runtime,"
                                         "\"nets/odd.onnx: failed: no kernel \"\"Ralu\"\"\"\n"));
}

TEST(Csv, AMissingNumberIsAnEmptyField) {
  EXPECT_THAT(rendered("csv", test::sample_missing()),
              ::testing::HasSubstr(
                  "\ngemm,test:copy{}(f32[1000])->(f32[1000]),1,,,missing,no row,,8000.0,,,,,,\n"));
}

TEST(Csv, Validation) {
  EXPECT_EQ(
      rendered("csv", test::sample_validation()),
      "name,predicted_ns,interval_lo_ns,interval_hi_ns,measured_ns,measured_ci_lo_ns,measured_ci_"
      "hi_ns,"
      "signed_error,inside_interval\n"
      "a.onnx,1040000.0,950000.0,1100000.0,1e+06,980000.0,1020000.0,0.040000000000000036,true\n"
      "b.onnx,,,,2e+06,1960000.0,2040000.0,,\n");
}

TEST(Csv, Plan) {
  table::Plan plan;
  plan.kernels = {{"n1", test::kCopy250, 2}};
  EXPECT_EQ(rendered("csv", plan), "name,key,count\nn1,test:copy{}(f32[250])->(f32[250]),2\n");
}

TEST(Csv, RowsOfATable) {
  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kCopy250, 1024.0,
            test::round_timing(1500, 0.25));
  small.row(small.device(), small.setting(), test::kCopy1000, std::nullopt,
            table::Failed{"crash, twice"});
  EXPECT_EQ(rendered("csv", test::must(table_rows(small.table()))),
            "id,device,runtime,version,precision,threads,options,key,reuse_bytes,origin,outcome,"
            "median_ns,sd_log,"
            "ci_low_ns,ci_high_ns,blocks,reason\n"
            "1,desk,replay,1.0,model,1,,test:copy{}(f32[250])->(f32[250]),1024.0,own,timing,1500.0,"
            "0.25,1470.0,1530.0,5,\n"
            "2,desk,replay,1.0,model,1,,test:copy{}(f32[1000])->(f32[1000]),,own,failed,,,,,,"
            "\"crash, twice\"\n");
}

}  // namespace
}  // namespace oplat::report
