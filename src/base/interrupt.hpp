// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C as a question that long work asks between two steps.
#pragma once

namespace oplat::base {

/// Installs handlers for SIGINT and SIGTERM that only note the signal; a second signal ends the
/// process at once.
void install_interrupt_handlers();
/// The signal noted so far, or 0.
int interrupted() noexcept;

}  // namespace oplat::base
