// SPDX-License-Identifier: Apache-2.0
#include "runtimes/reference/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::runtimes {
namespace {

using testing::HasSubstr;

class ReferenceWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto created = create_reference({});
    ASSERT_TRUE(created) << created.error().message;
    worker_ = std::move(*created);
  }
  measure::OpenOutcome open(measure::OpenRequest request) {
    auto outcome = worker_->open(request);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome ? *outcome : measure::OpenOutcome(table::Failed{"error"});
  }
  static measure::OpenRequest request(std::string key, std::int64_t copies = 1) {
    measure::OpenRequest made;
    made.key = std::move(key);
    made.copies = copies;
    return made;
  }
  std::unique_ptr<Worker> worker_;
};

constexpr const char* kSame =
    "Conv/11{kernel_shape=[1,1]}(f32[1,4,8,8],f32c[4,4,1,1])->(f32[1,4,8,8])";
constexpr const char* kOther =
    "Conv/11{kernel_shape=[1,1]}(f32[1,4,8,8],f32c[2,4,1,1])->(f32[1,2,8,8])";

TEST_F(ReferenceWorkerTest, SaysWhatItIs) {
  const auto hello = worker_->hello();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->runtime, "reference");
  EXPECT_EQ(hello->protocol, kProtocolVersion);
  EXPECT_EQ(hello->max_threads, 1);
  EXPECT_FALSE(hello->device.name.empty());
  EXPECT_FALSE(worker_->virtual_time());
}

TEST_F(ReferenceWorkerTest, CopiesChainWhereTheShapeIsKeptAndFanElsewhere) {
  EXPECT_EQ(std::get<measure::Opened>(open(request(kSame, 1))).topology, "single");
  EXPECT_EQ(std::get<measure::Opened>(open(request(kSame, 4))).topology, "chain");
  EXPECT_EQ(std::get<measure::Opened>(open(request(kOther, 4))).topology, "fan");
  auto fan = request(kSame, 4);
  fan.topology = measure::Topology::Fan;
  EXPECT_EQ(std::get<measure::Opened>(open(fan)).topology, "fan");
  auto chain = request(kOther, 4);
  chain.topology = measure::Topology::Chain;
  EXPECT_THAT(std::get<table::Unsupported>(open(chain)).reason, HasSubstr("chained"));
}

TEST_F(ReferenceWorkerTest, DistinctWeightsAreHeldPerCopy) {
  auto hot = request(kSame, 8);
  auto cold = hot;
  cold.distinct_weights = true;
  const auto hot_bytes = std::get<measure::Opened>(open(hot)).bytes;
  const auto cold_bytes = std::get<measure::Opened>(open(cold)).bytes;
  EXPECT_EQ(cold_bytes - hot_bytes, 7 * 16 * 4);
}

TEST_F(ReferenceWorkerTest, RunsWhatIsOpenOnly) {
  const auto opened = std::get<measure::Opened>(open(request(kSame, 4)));
  const auto time = worker_->run(opened.handle);
  ASSERT_TRUE(time);
  EXPECT_GT(*time, 0);
  EXPECT_TRUE(worker_->close(opened.handle));
  EXPECT_FALSE(worker_->run(opened.handle));
  EXPECT_FALSE(worker_->close(opened.handle));
}

TEST_F(ReferenceWorkerTest, RefusesWhatItCannotDo) {
  auto threads = request(kSame);
  threads.setting.threads = 2;
  EXPECT_THAT(std::get<table::Unsupported>(open(threads)).reason, HasSubstr("threads"));
  auto option = request(kSame);
  option.setting.options["level"] = "99";
  EXPECT_THAT(std::get<table::Unsupported>(open(option)).reason, HasSubstr("level"));
  auto pinned = request(kSame);
  pinned.setting.options["affinity"] = "0";
  EXPECT_TRUE(std::holds_alternative<measure::Opened>(open(pinned)));
  measure::OpenRequest model;
  model.model = "net.onnx";
  EXPECT_THAT(std::get<table::Unsupported>(open(model)).reason, HasSubstr("keys"));
  EXPECT_THAT(std::get<table::Skipped>(open(request("Relu/14{}(f32[1000000000])->(&0)"))).reason,
              HasSubstr("GiB"));
  const auto broken = worker_->open(request("Relu/14{"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::Input);
  EXPECT_FALSE(worker_->plan({}));
  EXPECT_FALSE(create_reference({"argument"}));
}

}  // namespace
}  // namespace oplat::runtimes
