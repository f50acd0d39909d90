// SPDX-License-Identifier: Apache-2.0
/// A live ONNX Runtime worker and the test networks that scripts/models makes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "runtimes/worker_client.hpp"

namespace oplat::device_test {

class OnnxRuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    runtimes::WorkerOptions options;
    options.command = {OPLAT_EXECUTABLE, "worker", "onnxruntime"};
    auto worker = runtimes::WorkerClient::start("onnxruntime", options);
    if (!worker) {
      // Not installed is a reason to skip; anything else that keeps it from starting is a defect.
      ASSERT_NE(worker.error().message.find("not found"), std::string::npos)
          << worker.error().message;
      if (required()) FAIL() << worker.error().message;
      GTEST_SKIP() << worker.error().message;
    }
    worker_ = std::move(*worker);
    setting_.runtime = "onnxruntime";
    setting_.version = worker_->hello().version;
    setting_.build = worker_->hello().build;
    setting_.options = {{"level", "99"}, {"spinning", "1"}};
  }

  /// scripts/test installs the runtime and makes the networks, so there nothing of this may be
  /// skipped.
  static bool required() {
    const char* text = std::getenv("OPLAT_TEST_REQUIRE");
    return text != nullptr && std::string(text) == "1";
  }

  /// A network of scripts/models tests, or "" with the test marked as skipped.
  static std::string network(const std::string& name) {
    const std::filesystem::path path =
        std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / "../models/tests" / (name + ".onnx");
    EXPECT_TRUE(!required() || std::filesystem::exists(path)) << path;
    return std::filesystem::exists(path) ? std::filesystem::canonical(path).string() : "";
  }

  std::unique_ptr<runtimes::WorkerClient> worker_;
  table::Setting setting_;
};

}  // namespace oplat::device_test
