// SPDX-License-Identifier: Apache-2.0
/// Events on a terminal: a progress bar and warnings on standard error, and
/// Ctrl-C.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/events.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"

namespace oplat::cli {

/// --quiet silences progress, warnings and notes. --verbose shows what workers write
/// to standard error (by the environment variable OPLAT_WORKER_STDERR, which
/// they inherit). Use it from one thread.
class TerminalEvents final : public app::Events {
 public:
  explicit TerminalEvents(const Verbosity& verbosity);

  void progress(const app::Progress& progress) override;
  /// Prints "oplat: warning: TEXT" above the bar.
  void warn(std::string_view text) override;
  /// Prints "oplat: TEXT" above the bar, each text once.
  void note(std::string_view text) override;
  /// Whether SIGINT or SIGTERM arrived. The first call installs the handlers
  /// that note them: until a use case asks, a signal ends the process as usual.
  [[nodiscard]] bool cancelled() override;

  /// Wipes the bar; call it before results are printed. Later progress draws it
  /// anew.
  void finish() { bar_.finish(); }
  /// All that was warned of, for documents that hold it; with --quiet too.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  ProgressBar bar_;
  std::vector<std::string> warnings_;
  std::set<std::string> noted_;
  bool handlers_installed_ = false;
};

}  // namespace oplat::cli
