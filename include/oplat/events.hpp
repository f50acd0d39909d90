// SPDX-License-Identifier: Apache-2.0
/// What a long call tells its caller while it works, and how the caller stops it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplat {

/// How far a call is. The texts are valid during the call of Events::progress() only.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;       ///< 0: not known yet
  std::optional<double> eta_s;  ///< seconds until the end; std::nullopt if not known yet
  std::string_view what;        ///< the step that is running: "measuring", "fitting"
  std::string_view item;        ///< what it works on: a key, a file; empty: nothing in particular
};

/// Derive from it and override what you need; the base class is silent and never cancels. All
/// functions are called from the thread of the call that they were given to, which keeps no
/// reference afterwards. They must not throw.
class Events {
 public:
  virtual ~Events() = default;
  virtual void progress(const Progress& progress) { static_cast<void>(progress); }
  /// One sentence about the result that a person should read. Each comes once.
  virtual void warn(std::string_view text) { static_cast<void>(text); }
  /// What a person may want to know but need not act on.
  virtual void note(std::string_view text) { static_cast<void>(text); }
  /// Polled between steps. Once true, the call stops cleanly and keeps what it finished.
  [[nodiscard]] virtual bool cancelled() { return false; }
};

}  // namespace oplat
