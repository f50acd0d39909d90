// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C noted in a flag.
#include "base/interrupt.hpp"

#include <csignal>

#include <unistd.h>

namespace oplat::base {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void note(int signal) {
  // The second one means it: whoever presses Ctrl-C twice does not want to wait for the block in
  // progress.
  if (g_signal != 0) _exit(128 + signal);
  g_signal = signal;
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupted() noexcept { return g_signal; }

}  // namespace oplat::base
