// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "runtimes/protocol.hpp"

namespace oplat::runtimes {
namespace {

table::Setting setting(const std::string& runtime, std::int64_t threads,
                       std::map<std::string, std::string> options = {}) {
  table::Setting made;
  made.runtime = runtime;
  made.threads = threads;
  made.options = std::move(options);
  return made;
}

TEST(SumErrorTest, IsThatOfTheSettingInWhichNetworksWereCompared) {
  const KnownSumError one = sum_error(setting("mnn", 1));
  EXPECT_TRUE(one.compared);
  // 90 % of an interval of 0.201 either way.
  EXPECT_NEAR(std::erf(0.201 / one.sd_log / std::sqrt(2.0)), 0.9, 0.001);
  EXPECT_EQ(sum_error(setting("mnn", 1, {{"memory", "normal"}, {"affinity", "0"}})).sd_log,
            one.sd_log);
  const KnownSumError two = sum_error(setting("mnn", 2));
  EXPECT_TRUE(two.compared);
  // 0.240: the 27th of 28 networks of two machines.
  EXPECT_NEAR(std::erf(0.240 / two.sd_log / std::sqrt(2.0)), 0.9, 0.001);
  EXPECT_TRUE(sum_error(setting("paddle", 1, {{"onednn", "on"}})).compared);
}

TEST(SumErrorTest, AnyOtherSettingIsAWideGuess) {
  EXPECT_EQ(sum_error(setting("mnn", 4)).sd_log, 0.7);
  EXPECT_FALSE(sum_error(setting("mnn", 4)).compared);
  EXPECT_FALSE(sum_error(setting("mnn", 1, {{"memory", "low"}})).compared);
  table::Setting low = setting("mnn", 1);
  low.precision = "low";
  EXPECT_EQ(sum_error(low).sd_log, 0.7);
  EXPECT_FALSE(sum_error(setting("paddle", 1, {{"onednn", "off"}})).compared);
}

TEST(SumErrorTest, WhatKernelsAndBytesTakeMoreIsKnownOfOnnxRuntimeAlone) {
  const KnownSumError known = sum_error(setting("onnxruntime", 2));
  EXPECT_GT(known.kernel_ns, 0);
  EXPECT_GT(known.evicted_byte_ns, 0);
  for (const char* runtime : {"mnn", "paddle", "qnnpack", "replay", "tensorrt"}) {
    EXPECT_EQ(sum_error(setting(runtime, 2)).kernel_ns, 0) << runtime;
    EXPECT_EQ(sum_error(setting(runtime, 2)).evicted_byte_ns, 0) << runtime;
  }
}

TEST(SumErrorTest, OtherRuntimesAndUnknownOnesHaveNone) {
  for (const char* runtime : {"onnxruntime", "qnnpack", "reference", "replay", "tensorrt", ""}) {
    EXPECT_EQ(sum_error(setting(runtime, 2)).sd_log, 0) << runtime;
    EXPECT_TRUE(sum_error(setting(runtime, 2)).compared) << runtime;
  }
}

}  // namespace
}  // namespace oplat::runtimes
