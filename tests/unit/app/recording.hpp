// SPDX-License-Identifier: Apache-2.0
/// A recorded table and requests that replay it, so that use cases run whole and fast without a
/// runtime: workers are processes of the real executable.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/campaign.hpp"
#include "base/files.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// Counts what it hears, and cancels once it heard `cancel_after` steps of measuring.
class CountingEvents : public CollectedEvents {
 public:
  void progress(const Progress& progress) override {
    if (progress.what == "measuring") ++measuring;
    if (progress.what == "planning") ++planning;
    if (progress.done > progress.total) ++beyond;
  }
  bool cancelled() override { return cancel_after && measuring >= *cancel_after; }

  int measuring = 0;
  int planning = 0;
  int beyond = 0;
  std::optional<int> cancel_after;
};

/// Cancels once it heard so often of one kind of work.
class StopsAt : public CollectedEvents {
 public:
  StopsAt(std::string what, int times) : what_(std::move(what)), left_(times) {}
  void progress(const Progress& progress) override {
    if (progress.what == what_) --left_;
  }
  bool cancelled() override { return left_ <= 0; }

 private:
  std::string what_;
  int left_;
};

/// A folder with `recorded.oplat`, which holds times of seven kernels and of net.onnx on a device
/// "bench", and with net.onnx itself, a Relu.
class RecordingTest : public ::testing::Test {
 protected:
  static constexpr const char* kModel = "net.onnx";
  static constexpr const char* kIdentity = "00112233445566778899aabbccddeeff";
  static constexpr double kModelNs = 123'000;

  void SetUp() override;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_->path() / name).string();
  }
  static std::string key(int size) {
    return fmt::format("Relu/14{{}}(f32[1,{0}])->(f32[1,{0}])", 8 * size);
  }
  /// A time so sure that five blocks are enough.
  static table::Timing timing(double median_ns);
  /// Replays the recording.
  [[nodiscard]] RuntimeRequest replay() const {
    RuntimeRequest request;
    request.runtime = "replay";
    request.worker_command = {OPLAT_EXECUTABLE, "worker", "replay"};
    request.worker_arguments = {path("recorded.oplat")};
    return request;
  }
  /// Writes a file of these lines and returns its path.
  std::string write(const std::string& name, const std::vector<std::string>& lines);
  /// A file with the keys of all recorded kernels.
  std::string all_keys();

  std::optional<base::TemporaryFolder> folder_;
  CountingEvents events_;
};

}  // namespace oplat::app
