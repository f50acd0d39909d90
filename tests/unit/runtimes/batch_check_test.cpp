// SPDX-License-Identifier: Apache-2.0
/// A rewritten batch must grow every result that data reach, in one dimension.
#include "runtimes/onnxruntime/batch_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::runtimes::onnxruntime {
namespace {

using ::testing::HasSubstr;

/// x -> Conv -> c -> Reshape (its sizes from Shape of x) -> y, with these sizes of c and y.
GraphRun run_of(std::vector<std::int64_t> c, std::vector<std::int64_t> y) {
  GraphRun run;
  for (const char* name : {"x", "c", "s", "y"}) run.graph.tensors.emplace_back().name = name;
  const auto node = [&](const char* name, const char* op, std::vector<ir::TensorId> inputs,
                        ir::TensorId output) {
    ir::Node made;
    made.name = name;
    made.op = op;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    run.graph.nodes.push_back(std::move(made));
  };
  node("n0", "Conv", {0}, 1);
  node("n1", "Shape", {0}, 2);
  node("n2", "Reshape", {1, 2}, 3);
  run.graph.inputs = {0};
  run.graph.outputs = {3};
  const auto ran = [&](const char* name, const std::vector<std::int64_t>& dims) {
    plan::NodeRun one;
    one.node = name;
    one.outputs = {{ir::Dtype::F32, ir::Shape::of(dims)}};
    run.runs.push_back(std::move(one));
  };
  ran("n0", c);
  ran("n1", {4});
  ran("n2", y);
  return run;
}

TEST(BatchCheck, EveryResultGrowsInOneDimension) {
  const GraphRun before = run_of({1, 8, 4, 4}, {1, 128});
  EXPECT_TRUE(check_batch(before, run_of({4, 8, 4, 4}, {4, 128}), 1, 4));
  EXPECT_TRUE(check_batch(before, run_of({4, 8, 4, 4}, {1, 512}), 1, 4))
      << "another dimension may hold it: what follows is compared, too";
  EXPECT_TRUE(check_batch(run_of({2, 8}, {16}), run_of({6, 8}, {48}), 2, 6));
}

TEST(BatchCheck, AnythingElseIsRefusedByName) {
  const GraphRun before = run_of({1, 8, 4, 4}, {1, 128});
  const auto refused = [&](const GraphRun& after) {
    const auto status = check_batch(before, after, 1, 4);
    return status ? std::string() : status.error().message;
  };
  EXPECT_THAT(refused(run_of({4, 8, 4, 4}, {1, 128})),
              HasSubstr("--batch 4 cannot be set: the model fixes its batch to 1, and Reshape 'y' "
                        "does not grow with it"));
  EXPECT_THAT(refused(run_of({4, 8, 16, 4}, {4, 128})), HasSubstr("Conv 'c' does not grow"));
  EXPECT_THAT(refused(run_of({4, 8, 4, 4}, {4, 512})), HasSubstr("Reshape 'y'"));
  EXPECT_THAT(refused(run_of({4, 8, 4}, {4, 128})), HasSubstr("Conv 'c'"));
  GraphRun lost = run_of({4, 8, 4, 4}, {4, 128});
  lost.runs.pop_back();
  EXPECT_THAT(refused(lost), HasSubstr("Reshape 'y' cannot be compared"));
}

TEST(PeakBytes, CountWhatIsHeldAtOnce) {
  GraphRun run = run_of({1, 8, 4, 4}, {1, 128});
  // c and y are 512 bytes each, s is 16: while y is made, c and s are still there.
  EXPECT_EQ(peak_bytes(run), 512 + 16 + 512);
  // x, of 4096 bytes, is read until s is made, next to c.
  run.graph.tensors[0].dtype = ir::Dtype::F32;
  run.graph.tensors[0].shape = ir::Shape::of({1, 64, 4, 4});
  EXPECT_EQ(peak_bytes(run), 4096 + 512 + 16);
  // What the model returns stays.
  run.graph.outputs = {1, 3};
  run.graph.tensors[0].dtype.reset();
  EXPECT_EQ(peak_bytes(run), 512 + 16 + 512);
}

TEST(PeakBytes, OfNothingAreNone) { EXPECT_EQ(peak_bytes({}), 0); }

}  // namespace
}  // namespace oplat::runtimes::onnxruntime
