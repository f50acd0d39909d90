// SPDX-License-Identifier: Apache-2.0
/// From events to the progress bar, standard error and signals.
#include "cli/events_terminal.hpp"

#include <cstdlib>
#include <string>

#include "base/interrupt.hpp"

namespace oplat::cli {

TerminalEvents::TerminalEvents(const Verbosity& verbosity) : bar_(verbosity) {
  if (verbosity.verbose) ::setenv("OPLAT_WORKER_STDERR", "1", 1);
}

void TerminalEvents::progress(const app::Progress& progress) {
  bar_.update(std::string(progress.what), progress.done, progress.total,
              progress.eta_s.value_or(-1), std::string(progress.item));
}

void TerminalEvents::warn(std::string_view text) {
  bar_.note(fmt::format("oplat: warning: {}", text));
}

void TerminalEvents::note(std::string_view text) { bar_.note(fmt::format("oplat: {}", text)); }

bool TerminalEvents::cancelled() {
  if (!handlers_installed_) {
    base::install_interrupt_handlers();
    handlers_installed_ = true;
  }
  return base::interrupted() != 0;
}

}  // namespace oplat::cli
