// SPDX-License-Identifier: Apache-2.0
/// Layers of PyTorch models as JSON Lines, with or without their latency
/// (docs/guide/from-mobile-vision.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "compat/mobile_vision/module_query.hpp"

namespace oplat::compat::mobile_vision {

struct ModuleLine {
  std::size_t line = 0;
  ModuleQuery query;  ///< canonical
  ModuleFacts facts;
  std::string key;
  std::optional<double> latency_us;
};

/// Lines {"op": "Conv2d", "args": {...}, "input_shapes": [[1,3,224,224]]}, of a table also
/// "latency_us". Empty lines are passed over. Code::Input names file, line, what was found and what
/// was expected.
Result<std::vector<ModuleLine>> read_module_lines(const base::Source& source, bool table);

/// Latencies by key; lines of one key are averaged.
class ModuleTable {
 public:
  explicit ModuleTable(const std::vector<ModuleLine>& lines);
  struct Answer {
    double latency_us = 0;
    std::size_t lines = 0;  ///< that were averaged
    bool mirrored =
        false;  ///< of the same layer with a bias, where this has none, or the other way round
  };
  /// By the original's rule: the very layer, else with `mirror_bias` its twin.
  [[nodiscard]] Result<std::optional<Answer>> find(const ModuleLine& line, bool mirror_bias) const;

 private:
  struct Sum {
    double latency_us = 0;
    std::size_t lines = 0;
  };
  std::unordered_map<std::string, Sum> sums_;
};

}  // namespace oplat::compat::mobile_vision
