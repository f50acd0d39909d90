// SPDX-License-Identifier: Apache-2.0
/// One block of one kernel in one cache state: open, warm up, time, take the slope, close.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "measure/calibration.hpp"
#include "measure/kernel_runner.hpp"
#include "measure/states.hpp"

namespace oplat::measure {

struct KernelBlockRequest {
  std::string key;
  table::Setting setting;
  State state;
  std::uint64_t seed = 1;               ///< of inputs and weights
  std::optional<double> empty_call_ns;  ///< taken off where there is no slope
  std::optional<std::int64_t> copies;   ///< k of the row's earlier blocks; nothing: calibrate
  std::optional<double> expected_ns;    ///< value of the row's earlier blocks: saves warm-up
  /// The row gets no other block for now: it is short, since one kernel more is worth more than
  /// the last per cent of this one.
  bool brief = false;
};

/// A value with how it came about. `block.pass` and `block.process` are the caller's to fill.
struct KernelBlock {
  table::Block block;
  table::Method method;
  /// T1 less the slope, of a kernel of 1 us or less: an empty call takes no longer.
  std::optional<double> call_ns = std::nullopt;
};
using KernelBlockOutcome =
    std::variant<KernelBlock, table::Unsupported, table::Skipped, table::Failed>;

/// Error only where the runner is lost. A slope <= 0 is tried once more with more copies, then
/// Failed with the figures. Flag "empty_call_unknown": a single call from which nothing could be
/// taken off.
Result<KernelBlockOutcome> measure_kernel_block(KernelRunner& runner,
                                                const KernelBlockRequest& request,
                                                const CopyRule& rule = {});

/// A call of the runtime that computes nothing: T1 of the tiny kernel `key` less its slope, of the
/// fastest blocks. `ns` is std::nullopt if the runtime has no such kernel, or noise leaves no
/// positive time.
struct EmptyCall {
  std::optional<double> ns;
  std::optional<double> reference_compute_ns;  ///< of the last timing, as is the next
  std::optional<double> reference_memory_ns;
  double one_ns = std::numeric_limits<double>::infinity();   ///< least T1
  double many_ns = std::numeric_limits<double>::infinity();  ///< least Tk
  bool alone = false;  ///< a block of any timing had its core to itself, as far as was looked
  /// Least compute reference of the blocks that had; std::nullopt if none was timed.
  std::optional<double> alone_compute_ns;
};
/// `before`: what earlier blocks of the campaign found; the fastest of all count.
Result<EmptyCall> measure_empty_call(KernelRunner& runner, const std::string& key,
                                     const table::Setting& setting, const EmptyCall& before = {});

}  // namespace oplat::measure
