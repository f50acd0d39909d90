// SPDX-License-Identifier: Apache-2.0
#include "measure/waiting_runner.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

using std::chrono::nanoseconds;

/// Cores that are not apart stay so for one to fifteen seconds, and some for minutes.
constexpr std::chrono::seconds kMaxForABlock{10};

}  // namespace

nanoseconds WaitBudget::left() const {
  return std::clamp(std::min(measured + kMaxForABlock - waited, most), nanoseconds(0),
                    nanoseconds(kMaxForABlock));
}

Result<measure::BlockOutcome> WaitingRunner::block(const measure::BlockRequest& request) {
  measure::BlockRequest waiting = request;
  waiting.max_wait = wait_->left();
  waiting.best_cores = wait_->best;
  const auto begin = std::chrono::steady_clock::now();
  OPLAT_TRY(outcome, runner_->block(waiting));
  const nanoseconds taken = std::chrono::steady_clock::now() - begin;
  const auto* samples = std::get_if<measure::BlockSamples>(&outcome);
  // A block that failed does not tell how long it waited.
  const nanoseconds waited =
      samples != nullptr ? std::clamp(nanoseconds(samples->waited_ns), nanoseconds(0), taken)
                         : std::min(taken, waiting.max_wait);
  wait_->waited += waited;
  wait_->measured += taken - waited;
  if (samples != nullptr && samples->best_cores.issue_ns > 0) wait_->best = samples->best_cores;
  return std::move(outcome);
}

}  // namespace oplat::measure
