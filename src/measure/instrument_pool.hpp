// SPDX-License-Identifier: Apache-2.0
/// The instrument of the moment: a fresh process after so many uses, or when asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "measure/campaign.hpp"
#include "measure/patient_instrument.hpp"

namespace oplat::measure {

class InstrumentPool {
 public:
  /// Processes are numbered from `first_process`.
  InstrumentPool(const InstrumentFactory& factory, std::int64_t uses_per_process,
                 std::int64_t first_process)
      : factory_(&factory),
        most_uses_(uses_per_process),
        first_(first_process),
        next_(first_process) {}

  /// The instrument, started where there is none; tried twice. The pointer lives until discard() or
  /// the next get().
  Result<measure::Instrument*> get();
  /// Ends the process: the next get() starts a fresh one.
  void discard() { instrument_.reset(); }
  /// Number of the process behind the last get().
  [[nodiscard]] std::int64_t process() const { return next_ - 1; }
  [[nodiscard]] std::int64_t started() const { return next_ - first_; }
  /// Lets blocks wait no longer than so many seconds.
  void end_waiting_in(double seconds) {
    patience_.most = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::clamp(seconds, 0.0, kMaxWaiting)));
  }
  [[nodiscard]] double waited_seconds() const {
    return std::chrono::duration<double>(patience_.waited).count();
  }

 private:
  const InstrumentFactory* factory_;
  std::int64_t most_uses_;
  std::int64_t first_;
  std::int64_t next_;
  std::int64_t uses_ = 0;
  static constexpr double kMaxWaiting = 3600;  // far above what a block ever may
  Patience patience_;                          // of all processes
  std::unique_ptr<measure::Instrument> instrument_;
};

}  // namespace oplat::measure
