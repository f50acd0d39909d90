// SPDX-License-Identifier: Apache-2.0
/// The runner of the moment: a fresh process after so many uses, or when asked for.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "measure/campaign.hpp"
#include "measure/waiting_runner.hpp"

namespace oplat::measure {

class KernelRunnerPool {
 public:
  /// Processes are numbered from `first_process`.
  KernelRunnerPool(const RunnerFactory& factory, std::int64_t uses_per_process,
                   std::int64_t first_process)
      : factory_(&factory),
        max_uses_(uses_per_process),
        first_(first_process),
        next_(first_process) {}

  /// The runner, started where there is none; tried twice. The pointer lives until discard() or
  /// the next get().
  Result<measure::KernelRunner*> get();
  /// Ends the process: the next get() starts a fresh one.
  void discard() { runner_.reset(); }
  /// Number of the process behind the last get().
  [[nodiscard]] std::int64_t process() const { return next_ - 1; }
  [[nodiscard]] std::int64_t started() const { return next_ - first_; }
  /// Lets blocks wait no longer than so many seconds.
  void end_waiting_in(double seconds) {
    wait_.most = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::clamp(seconds, 0.0, kMaxWaiting)));
  }
  /// What earlier campaigns saw of the cores, and what this one did.
  void know(const Cores& cores) { wait_.best = cores; }
  [[nodiscard]] const Cores& best_cores() const { return wait_.best; }
  [[nodiscard]] double waited_seconds() const {
    return std::chrono::duration<double>(wait_.waited).count();
  }

 private:
  const RunnerFactory* factory_;
  std::int64_t max_uses_;
  std::int64_t first_;
  std::int64_t next_;
  std::int64_t uses_ = 0;
  static constexpr double kMaxWaiting = 3600;  // far above what a block ever may
  WaitBudget wait_;                            // of all processes
  std::unique_ptr<measure::KernelRunner> runner_;
};

}  // namespace oplat::measure
