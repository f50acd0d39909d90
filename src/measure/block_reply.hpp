// SPDX-License-Identifier: Apache-2.0
/// What kernel and model blocks share: handles that are closed again, and replies that are checked
/// before use.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/kernel_runner.hpp"

namespace oplat::measure {

/// Closes a handle when it goes out of scope.
class OpenHandle {
 public:
  OpenHandle(KernelRunner& runner, Opened opened) : runner_(&runner), opened_(std::move(opened)) {}
  OpenHandle(OpenHandle&& other) noexcept
      : runner_(other.runner_), opened_(std::move(other.opened_)) {
    other.runner_ = nullptr;
  }
  OpenHandle& operator=(OpenHandle&& other) noexcept {
    std::swap(runner_, other.runner_);
    std::swap(opened_, other.opened_);
    return *this;
  }
  ~OpenHandle() {
    // A kernel runner that cannot close is lost; the next open says so, and what was measured is
    // good.
    if (runner_ != nullptr) (void)runner_->close(opened_.handle);
  }
  [[nodiscard]] Handle id() const { return opened_.handle; }
  [[nodiscard]] const std::string& topology() const { return opened_.topology; }

 private:
  KernelRunner* runner_;
  Opened opened_;
};

/// Runs a block and checks that every handle has times, none negative or longer than thirty years.
Result<BlockOutcome> checked_block(KernelRunner& runner, const BlockRequest& request);

/// Fills what a block records besides its value.
table::Block block_facts(const BlockSamples& samples);

}  // namespace oplat::measure
