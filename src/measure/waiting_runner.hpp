// SPDX-License-Identifier: Apache-2.0
/// Lets blocks of several threads wait for cores that are apart (docs/adr/0021), and tells each
/// process how fast the cores were for others (docs/adr/0046).
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "measure/kernel_runner.hpp"

namespace oplat::measure {

/// What a campaign's processes hand on to the next: their cores at their best, and how long they
/// waited for them.
struct WaitBudget {
  measure::Cores best;
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds measured{0};
  std::chrono::nanoseconds most = std::chrono::nanoseconds::max();  ///< of what is left of a budget

  /// What the next block may wait: in all, waiting takes no longer than measuring and ten seconds
  /// more, and it ends with the budget.
  [[nodiscard]] std::chrono::nanoseconds left() const;
};

/// A kernel runner whose blocks wait by `wait`, which outlives it.
class WaitingRunner final : public measure::KernelRunner {
 public:
  WaitingRunner(std::unique_ptr<measure::KernelRunner> runner, WaitBudget& wait)
      : runner_(std::move(runner)), wait_(&wait) {}

  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    return runner_->open(request);
  }
  Result<measure::BlockOutcome> block(const measure::BlockRequest& request) override;
  Status close(measure::Handle handle) override { return runner_->close(handle); }

 private:
  std::unique_ptr<measure::KernelRunner> runner_;
  WaitBudget* wait_;
};

}  // namespace oplat::measure
