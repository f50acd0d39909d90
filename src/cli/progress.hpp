// SPDX-License-Identifier: Apache-2.0
/// Progress of long work on stderr: a bar with ETA on a terminal, plain lines when piped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/progress_line.hpp"
#include "cli/options.hpp"

namespace oplat::cli {

/// On a terminal a thread of its own draws the bar anew every second, so that its times move while
/// the work has nothing to say. Use it from one thread.
class ProgressBar {
 public:
  explicit ProgressBar(const Verbosity& verbosity);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws at most a few times a second; `eta_seconds` < 0: not known. `what` is shortened to the
  /// terminal's width.
  void update(const std::string& phase, std::int64_t done, std::int64_t total, double eta_seconds,
              const std::string& what);
  /// A line that stays.
  void note(const std::string& text);
  /// Wipes the bar.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Standing {
    base::ProgressLine line;
    Clock::time_point since;  ///< of its times
  };

  void draw();   ///< with mutex_ held
  void erase();  ///< likewise
  void tick();

  bool terminal_;
  bool quiet_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Standing> standing_;  ///< std::nullopt: no bar is drawn
  bool stop_ = false;
  std::string phase_;
  Clock::time_point start_;
  Clock::time_point last_;
  std::thread ticker_;
};

}  // namespace oplat::cli
