// SPDX-License-Identifier: Apache-2.0
#include "runtimes/place.hpp"

#include <sched.h>

#include <optional>

#include "runtimes/probe.h"

namespace oplat::runtimes {
namespace {

/// Empty as long as no place was kept.
std::optional<cpu_set_t>& allowed() {
  static std::optional<cpu_set_t> cpus;
  return cpus;
}

}  // namespace

void keep_place() {
  if (!allowed()) {
    cpu_set_t cpus;
    if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
    allowed() = cpus;
  }
  const int cpu = ::sched_getcpu();
  if (cpu >= 0) (void)oplat_probe_pin(cpu);
}

void leave_place() {
  if (allowed()) (void)::sched_setaffinity(0, sizeof(cpu_set_t), &*allowed());
}

}  // namespace oplat::runtimes
