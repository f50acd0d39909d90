// SPDX-License-Identifier: Apache-2.0
/// One block of a whole model, end to end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/kernel_runner.hpp"

namespace oplat::measure {

struct ModelBlockRequest {
  std::string model;  ///< path
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::optional<std::int64_t> batch;
  std::map<std::string, std::string> inputs;
  table::Setting setting;
  std::uint64_t seed = 1;
};

struct ModelBlock {
  /// The value is lower_quartile_ns() of its calls, whose times it holds too; pass and process are
  /// the caller's to fill.
  table::Block block;
};
using ModelBlockOutcome =
    std::variant<ModelBlock, table::Unsupported, table::Skipped, table::Failed>;

/// 0.3 s or five calls, whichever is longer, after the first call. Error only where the runner
/// is lost.
Result<ModelBlockOutcome> measure_model_block(KernelRunner& runner,
                                              const ModelBlockRequest& request);

}  // namespace oplat::measure
