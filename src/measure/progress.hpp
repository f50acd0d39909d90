// SPDX-License-Identifier: Apache-2.0
/// What a campaign tells while it runs; the command line draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oplat::measure {

enum class Phase {
  Preparing,  ///< starting a worker, timing the empty call
  Measuring,  ///< blocks
  Finishing,  ///< last look at every row
};

struct ProgressState {
  Phase phase = Phase::Preparing;
  std::int64_t done = 0;  ///< blocks
  std::int64_t total =
      0;  ///< blocks as far as known: it changes as the noise of rows becomes known
  std::optional<double> eta_seconds;  ///< never more than what is left of the budget
  std::string current;                ///< key or model; empty between two
  std::string state;                  ///< "hot", "cold", "model"
};

class Progress {
 public:
  virtual ~Progress() = default;
  /// Called before every block.
  virtual void update(const ProgressState& state) = 0;
  /// Something that a person should read: lower case, no full stop.
  virtual void notice(const std::string& message) = 0;
};

/// Says nothing.
class SilentProgress final : public Progress {
 public:
  void update(const ProgressState&) override {}
  void notice(const std::string&) override {}
};

}  // namespace oplat::measure
