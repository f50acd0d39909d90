// SPDX-License-Identifier: Apache-2.0
/// From events to the progress bar, standard error and signals.
#include "cli/events_terminal.hpp"

#include <cstdlib>
#include <string>

#include "base/interrupt.hpp"
#include "base/message.hpp"
#include "base/text.hpp"

namespace oplat::cli {

TerminalEvents::TerminalEvents(const Verbosity& verbosity) : bar_(verbosity) {
  if (verbosity.verbose) ::setenv("OPLAT_WORKER_STDERR", "1", 1);
}

void TerminalEvents::progress(const app::Progress& progress) {
  bar_.update(std::string(progress.what), progress.done, progress.total,
              progress.eta_s.value_or(-1), base::printable(progress.item, 200));
}

void TerminalEvents::warn(std::string_view text) {
  warnings_.emplace_back(text);
  bar_.note(fmt::format("oplat: warning: {}", base::printable_message(text)));
}

/// A sweep has the same to say of each of its points.
void TerminalEvents::note(std::string_view text) {
  if (!noted_.emplace(text).second) return;
  bar_.note(fmt::format("oplat: {}", base::printable_message(text)));
}

bool TerminalEvents::cancelled() {
  if (!handlers_installed_) {
    base::install_interrupt_handlers();
    handlers_installed_ = true;
  }
  return base::interrupted() != 0;
}

}  // namespace oplat::cli
