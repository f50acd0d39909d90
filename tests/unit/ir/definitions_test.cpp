// SPDX-License-Identifier: Apache-2.0
/// Versions and defaults, against the published operator pages of ONNX.
#include <gtest/gtest.h>

#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

TEST(Definitions, VersionThatDefinedAnOperator) {
  EXPECT_EQ(since_version("", "Conv", 1), 1);
  EXPECT_EQ(since_version("", "Conv", 10), 1);
  EXPECT_EQ(since_version("", "Conv", 11), 11);
  EXPECT_EQ(since_version("", "Conv", 21), 11);
  EXPECT_EQ(since_version("", "Conv", 22), 22);
  EXPECT_EQ(since_version("ai.onnx", "Softmax", 12), 11);
  EXPECT_EQ(since_version("", "Softmax", 13), 13);
  EXPECT_EQ(since_version("", "HardSwish", 13), std::nullopt);
  EXPECT_EQ(since_version("", "HardSwish", 14), 14);
  EXPECT_EQ(since_version("ai.onnx.ml", "TreeEnsembleClassifier", 2), 1);
  EXPECT_EQ(since_version("", "NoSuchOperator", 17), std::nullopt);
  EXPECT_EQ(since_version("com.microsoft", "FusedConv", 1), 1);
  EXPECT_EQ(since_version("com.microsoft.nchwc", "Conv", 1), 1);
  EXPECT_EQ(since_version("com.microsoft", "AnOperatorOfNextYear", 1), 1);
  EXPECT_EQ(since_version("com.ms.internal.nhwc", "Conv", 17), 11);
  EXPECT_EQ(since_version("torch", "module", 1), std::nullopt);
  EXPECT_EQ(since_version("", "ImageScaler", 9), 1) << "the runtime still executes it";
  EXPECT_EQ(since_version("", "ImageScaler", 10), std::nullopt);
  EXPECT_EQ(since_version("com.microsoft", "Crop", 1), 1);
}

std::string defaults(std::string_view domain, std::string_view op, std::int64_t since) {
  Key key;
  key.op = "x";
  key.attributes = default_attributes(domain, op, since);
  return print(key);
}

TEST(Definitions, DefaultsOfEveryKind) {
  EXPECT_EQ(defaults("", "Conv", 11), "x{auto_pad=NOTSET,group=1}()->()");
  EXPECT_EQ(defaults("", "Softmax", 11), "x{axis=1}()->()");
  EXPECT_EQ(defaults("", "Softmax", 13), "x{axis=-1}()->()");
  EXPECT_EQ(defaults("", "Gemm", 13), "x{alpha=1.0,beta=1.0,transA=0,transB=0}()->()");
  EXPECT_EQ(defaults("", "LeakyRelu", 16), "x{alpha=0.01}()->()");
  EXPECT_EQ(defaults("", "BatchNormalization", 15),
            "x{epsilon=1e-05,momentum=0.9,training_mode=0}()->()");
  EXPECT_EQ(defaults("", "RNN", 14), "x{activations=[Tanh,Tanh],direction=forward,layout=0}()->()");
  EXPECT_EQ(defaults("", "Relu", 14), "x{}()->()");
  EXPECT_EQ(defaults("com.microsoft", "FusedMatMul", 1),
            "x{alpha=1.0,transA=0,transB=0,transBatchA=0,transBatchB=0}()->()");
  EXPECT_EQ(defaults("com.microsoft", "QLinearConv", 1),
            "x{auto_pad=NOTSET,channels_last=0,group=1}()->()");
  // No such version of a known operator, no such operator.
  EXPECT_EQ(defaults("", "Conv", 12), "x{}()->()");
  EXPECT_EQ(defaults("", "NoSuchOperator", 1), "x{}()->()");
}

/// The generated list, line by line: sorted (the look-up bisects it), and every default in the
/// grammar of keys.
TEST(Definitions, EveryLineIsSortedAndReadable) {
  struct Line {
    std::string_view domain;
    std::string_view op;
    std::int64_t since;
    std::string_view defaults;
  };
  constexpr Line kLines[] = {
#include "ir/onnx_definitions.inc"
  };
  const Line* before = nullptr;
  for (const Line& line : kLines) {
    const std::string text = "x{" + std::string(line.defaults) + "}()->()";
    const auto key = parse(text);
    ASSERT_TRUE(key.has_value()) << line.op << ": " << key.error().message;
    EXPECT_EQ(default_attributes(line.domain, line.op, line.since), key->attributes);
    EXPECT_EQ(since_version(line.domain, line.op, line.since), line.since);
    if (before != nullptr) {
      EXPECT_LT(std::tuple(before->domain, before->op, before->since),
                std::tuple(line.domain, line.op, line.since));
    }
    before = &line;
  }
  EXPECT_GT(std::size(kLines), 700U);
}

}  // namespace
}  // namespace oplat::ir
