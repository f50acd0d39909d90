// SPDX-License-Identifier: Apache-2.0
/// Graphs written by hand, and runs as a runtime reports them.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace oplat::plan::testing {

using Dims = std::vector<std::int64_t>;

/// A tensor that a run saw.
SeenTensor seen(const Dims& dims, ir::Dtype dtype = ir::Dtype::F32);

/// A graph under construction. Tensors are named where they are made and used by that name; "" is
/// an missing one.
class Net {
 public:
  ir::Graph graph;

  ir::TensorId id(const std::string& name);  ///< made, of unknown type and shape, where it is new
  ir::TensorInfo& tensor(const std::string& name) {
    return graph.tensors[static_cast<std::size_t>(id(name))];
  }
  void input(const std::string& name) { graph.inputs.push_back(id(name)); }
  void output(const std::string& name) { graph.outputs.push_back(id(name)); }
  ir::TensorInfo& constant(const std::string& name, const Dims& dims,
                           ir::Dtype dtype = ir::Dtype::F32);
  /// A node that carries its op's name, unless another is given.
  ir::Node& node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::string& name = {});
};

/// The keys of these runs, or the error's message.
std::vector<std::string> keys(const Net& net, const std::vector<NodeRun>& runs);

}  // namespace oplat::plan::testing
