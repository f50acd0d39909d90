// SPDX-License-Identifier: Apache-2.0
/// A Caffe2 net as kernels of QNNPACK.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "runtimes/qnnpack/program.hpp"

namespace oplat::runtimes::qnnpack {

struct Net {
  ir::Graph graph;
  std::vector<plan::PlanKernel> kernels;  ///< one per node, in order
  plan::Footprint footprint;
  std::int64_t batch = 1;
};
/// Code::Input where the file is not a Caffe2 net or leaves shapes open.
Result<Net> read_net(const base::Source& source, const formats::ShapeOptions& shapes);

/// The specs of all nodes in order, or why there is a node that has none.
std::variant<std::vector<Spec>, table::Unsupported, table::Failed> specs_of(const Net& net);
/// Steps in the net's order with random weights, each with its own.
Result<Program> make_program(const Net& net, const std::vector<Spec>& specs, std::uint64_t seed);

}  // namespace oplat::runtimes::qnnpack
