// SPDX-License-Identifier: Apache-2.0
/// First call, which is not a steady one, and a block of calls of a whole model.
#include "measure/model_block.hpp"

#include <chrono>

#include "measure/block_reply.hpp"
#include "measure/statistics.hpp"

namespace oplat::measure {
namespace {

constexpr std::chrono::nanoseconds kModelBlock{300'000'000};
constexpr std::int64_t kMinCalls = 5;

BlockRequest first_call(Handle model) {
  BlockRequest block;
  block.handles = {model};
  block.duration = std::chrono::nanoseconds{1};
  block.min_rounds = 1;
  block.max_rounds = 1;
  block.warmup_rounds = 0;
  block.references = false;
  block.core_exclusive = false;
  return block;
}

}  // namespace

Result<ModelBlockOutcome> measure_model_block(KernelRunner& runner,
                                              const ModelBlockRequest& request) {
  OpenRequest open;
  open.model = request.model;
  open.shapes = request.shapes;
  open.batch = request.batch;
  open.inputs = request.inputs;
  open.setting = request.setting;
  open.topology = Topology::Single;
  open.seed = request.seed;
  OPLAT_TRY(opened, runner.open(open));
  if (auto* unsupported = std::get_if<table::Unsupported>(&opened))
    return ModelBlockOutcome(std::move(*unsupported));
  if (auto* skipped = std::get_if<table::Skipped>(&opened))
    return ModelBlockOutcome(std::move(*skipped));
  if (auto* failed = std::get_if<table::Failed>(&opened))
    return ModelBlockOutcome(std::move(*failed));
  const OpenHandle model(runner, std::move(std::get<Opened>(opened)));

  OPLAT_TRY(first, checked_block(runner, first_call(model.id())));
  if (auto* failed = std::get_if<table::Failed>(&first))
    return ModelBlockOutcome(std::move(*failed));

  BlockRequest block;
  block.handles = {model.id()};
  block.duration = kModelBlock;
  block.min_rounds = kMinCalls;
  block.core_exclusive = request.setting.threads == 1;
  block.cores_distinct = request.setting.threads;
  OPLAT_TRY(calls, checked_block(runner, block));
  if (auto* failed = std::get_if<table::Failed>(&calls))
    return ModelBlockOutcome(std::move(*failed));
  auto& samples = std::get<BlockSamples>(calls);

  ModelBlock result;
  result.block = block_facts(samples);
  result.block.value_ns = *lower_quartile_ns(samples.ns.front());
  if (!samples.virtual_time) result.block.inferences.emplace().add(samples.ns.front());
  if (!(result.block.value_ns > 0))
    return ModelBlockOutcome(table::Failed{"a call of the model took no time"});
  return ModelBlockOutcome(std::move(result));
}

}  // namespace oplat::measure
