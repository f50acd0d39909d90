// SPDX-License-Identifier: Apache-2.0
/// What a use case tells its caller while it works, and how the caller stops it.
#pragma once

#include <chrono>
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
  std::string_view item = {};   ///< what it works on: a key, a file; empty: nothing in particular
};

/// The caller's side of a use case. A use case calls it from the thread that it was called on, and
/// keeps no reference to it after it returned. The base class is silent and never cancels.
class Events {
 public:
  virtual ~Events() = default;
  virtual void progress(const Progress& progress) { static_cast<void>(progress); }
  /// One complete sentence without a line break; said once each.
  virtual void warn(std::string_view text) { static_cast<void>(text); }
  /// What the caller may want to know but need not act on: that a long step begins, that
  /// a row could not be measured.
  virtual void note(std::string_view text) { static_cast<void>(text); }
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

/// Puts warnings into a list and passes everything else on. Both outlive it.
class WarningsInto final : public Events {
 public:
  WarningsInto(std::vector<std::string>& warnings, Events& others)
      : warnings_(&warnings), others_(&others) {}
  void progress(const Progress& progress) override { others_->progress(progress); }
  void warn(std::string_view text) override { warnings_->emplace_back(text); }
  void note(std::string_view text) override { others_->note(text); }
  [[nodiscard]] bool cancelled() override { return others_->cancelled(); }

 private:
  std::vector<std::string>* warnings_;
  Events* others_;
};

/// Progress of work that is mostly done in an instant: silent until a second has passed. `events`
/// outlive it.
class LateProgress {
 public:
  explicit LateProgress(Events& events) : events_(&events) {}
  void report(const Progress& progress) const {
    constexpr std::chrono::seconds kSilent{1};
    if (std::chrono::steady_clock::now() - start_ >= kSilent) events_->progress(progress);
  }

 private:
  Events* events_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace oplat::app
