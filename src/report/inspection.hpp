// SPDX-License-Identifier: Apache-2.0
/// What `oplat inspect` found: the work and the memory of a model on any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oplat::report {

struct InspectionReport {
  /// Some of the kernels, or all.
  struct Part {
    std::string name;            ///< operator or module; empty: nodes without a module
    std::size_t depth = 0;       ///< of a module: parts of its name
    std::int64_t calls = 0;      ///< executions per run
    std::int64_t uncounted = 0;  ///< of them, those of operators without a formula
    double flops = 0;            ///< of the others; a multiply-add counts as two
    double parameters = 0;
    double parameter_bytes = 0;
    double activation_bytes = 0;  ///< of all results of one run
  };
  std::string model;  ///< path as given
  std::int64_t batch = 1;
  std::string sizes_from;  ///< "the file", or the runtime that ran the model once
  bool fused = false;      ///< whether nodes are those that the runtime made of the file's
  Part total;
  std::vector<Part> operators;  ///< most operations first
  std::vector<Part> modules;    ///< by prefix of the nodes' names, in order of execution
  /// Inputs and results alive together at most; std::nullopt if a size is unknown.
  std::optional<double> peak_activation_bytes;
  std::string peak_node;  ///< during which; empty if it has no name
};

/// The parts of a node's name that are modules: "/features/0/conv/Conv" has features, 0 and conv.
std::vector<std::string> module_parts(const std::string& node);

}  // namespace oplat::report
