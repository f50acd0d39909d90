// SPDX-License-Identifier: Apache-2.0
/// Progress of long work on stderr: a bar with ETA on a terminal, plain lines when piped.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/options.hpp"

namespace oplat::cli {

class ProgressBar {
 public:
  explicit ProgressBar(const Verbosity& verbosity);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws at most a few times a second; `eta_seconds` < 0: not known. `what` is cut to the
  /// terminal's width.
  void update(const std::string& phase, std::int64_t done, std::int64_t total, double eta_seconds,
              const std::string& what);
  /// A line that stays.
  void note(const std::string& text);
  /// Wipes the bar.
  void finish();

 private:
  void erase();

  bool terminal_;
  bool quiet_;
  bool drawn_ = false;
  std::string phase_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace oplat::cli
