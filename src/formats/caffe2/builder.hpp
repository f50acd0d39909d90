// SPDX-License-Identifier: Apache-2.0
/// From a parsed net and what is next to it to a graph with shapes, and to the queries of
/// runtime_lut.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/caffe2/lut_query.hpp"
#include "formats/caffe2/net.hpp"
#include "ir/graph.hpp"

namespace oplat::formats::caffe2 {

struct Built {
  ir::Graph graph;
  /// one an operator; std::nullopt if an operand's shape is not known
  std::vector<std::optional<LutQuery>> queries;
};

/// `file` names the net in messages.
Result<Built> build(const std::string& file, const wire::Net& net, const Companions& companions,
                    const ShapeOptions& options);

}  // namespace oplat::formats::caffe2
