// SPDX-License-Identifier: Apache-2.0
#include "runtimes/device_facts.hpp"

#include "runtimes/probe.h"

namespace oplat::runtimes {

table::Device this_device() {
  oplat_probe_machine machine{};
  oplat_probe_read_machine(&machine);
  table::Device device;
  device.cpu = machine.cpu;
  device.architecture = machine.architecture;
  device.name = !device.cpu.empty()            ? device.cpu
                : !device.architecture.empty() ? device.architecture
                                               : "unknown";
  device.cores = machine.cores;
  device.memory_bytes = machine.memory_bytes;
  device.l1d_bytes = machine.l1d_bytes;
  device.l2_bytes = machine.l2_bytes;
  device.llc_bytes = machine.llc_bytes;
  device.isa = machine.isa;
  return device;
}

}  // namespace oplat::runtimes
