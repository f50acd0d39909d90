// SPDX-License-Identifier: Apache-2.0
/// What a use case tells its caller while it works, and how the caller stops it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::app {

/// How far a use case is.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;       ///< 0: not known yet
  std::optional<double> eta_s;  ///< seconds until the end, once that can be estimated
  std::string_view what;        ///< the step that is running: "measuring", "fitting"
};

/// The caller's side of a use case. A use case calls it from the thread that it was called on, and
/// keeps no reference to it after it returned. The base class is silent and never cancels.
class Events {
 public:
  virtual ~Events() = default;
  virtual void progress(const Progress& progress) { static_cast<void>(progress); }
  /// One complete sentence without a line break; said once each.
  virtual void warn(std::string_view text) { static_cast<void>(text); }
  /// Polled between steps: once true, the use case stops cleanly, keeps what it finished and says
  /// so in its result.
  [[nodiscard]] virtual bool cancelled() { return false; }
};

/// Keeps the warnings, for tests and for callers that print them at the end.
class CollectedEvents : public Events {
 public:
  void warn(std::string_view text) override { warnings.emplace_back(text); }
  std::vector<std::string> warnings;
};

}  // namespace oplat::app
