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
  EXPECT_EQ(rendered("csv", test::sample_prediction()),
            "name,key,count,latency_ns,sd_log,source,why\n"
            "\"conv, \"\"first\"\"\",test:copy{}(f32[250])->(f32[250]),3,2e+06,0.02,measured,row 1\n"
            "gemm,test:copy{}(f32[1000])->(f32[1000]),1,5e+06,1.0,physics,\"roofline of 2 rows, bytes only\"\n"
            "view,\"Reshape/14{allowzero=0}(f32[1,1000],i64c[2]=[10,100])->(f32[10,100])\",1,0.0,0.0,free,"
            "a view: the runtime moves nothing\n");
}

TEST(Csv, AMissingNumberIsAnEmptyField) {
  EXPECT_THAT(rendered("csv", test::sample_missing()),
              ::testing::HasSubstr("\ngemm,test:copy{}(f32[1000])->(f32[1000]),1,,,missing,no row\n"));
}

TEST(Csv, Validation) {
  EXPECT_EQ(rendered("csv", test::sample_validation()),
            "name,predicted_ns,interval_lo_ns,interval_hi_ns,measured_ns,measured_ci_lo_ns,measured_ci_hi_ns,"
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
  small.row(small.device(), small.setting(), test::kCopy250, 1024.0, test::round_timing(1500, 0.25));
  small.row(small.device(), small.setting(), test::kCopy1000, std::nullopt, table::Failed{"crash, twice"});
  EXPECT_EQ(
      rendered("csv", test::must(table_rows(small.table()))),
      "id,device,runtime,version,precision,threads,options,key,reuse_bytes,origin,outcome,median_ns,sd_log,"
      "ci_low_ns,ci_high_ns,blocks,reason\n"
      "1,desk,replay,1.0,model,1,,test:copy{}(f32[250])->(f32[250]),1024.0,own,timing,1500.0,0.25,1470.0,1530.0,5,\n"
      "2,desk,replay,1.0,model,1,,test:copy{}(f32[1000])->(f32[1000]),,own,failed,,,,,,\"crash, twice\"\n");
}

}  // namespace
}  // namespace oplat::report
