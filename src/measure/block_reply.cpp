// SPDX-License-Identifier: Apache-2.0
/// Checks of what a kernel runner answers: a worker is another program, maybe on another machine.
#include "measure/block_reply.hpp"

namespace oplat::measure {
namespace {

constexpr double kMaxNs = 1e18;  // thirty years: base::TimeSketch reads no longer ones

}  // namespace

Result<BlockOutcome> checked_block(KernelRunner& runner, const BlockRequest& request) {
  OPLAT_TRY(outcome, runner.block(request));
  const auto* samples = std::get_if<BlockSamples>(&outcome);
  if (samples == nullptr) return std::move(outcome);
  if (samples->ns.size() != request.handles.size()) {
    return fail(Code::Runtime, "the worker returned times of {} handles; expected {}",
                samples->ns.size(), request.handles.size());
  }
  for (const std::vector<double>& times : samples->ns) {
    if (times.empty()) return BlockOutcome(table::Failed{"the worker returned no times"});
    for (double ns : times) {
      if (!(ns >= 0 && ns <= kMaxNs)) {
        return BlockOutcome(table::Failed{fmt::format("the worker returned a time of {} ns", ns)});
      }
    }
  }
  return std::move(outcome);
}

table::Block block_facts(const BlockSamples& samples) {
  table::Block block;
  block.reference_compute_ns = samples.reference_compute_ns;
  block.reference_memory_ns = samples.reference_memory_ns;
  block.rounds = static_cast<std::int64_t>(samples.ns.back().size());
  block.switches = samples.switches;
  block.steal_ticks = samples.steal_ticks;
  block.other_load = samples.other_load;
  return block;
}

}  // namespace oplat::measure
