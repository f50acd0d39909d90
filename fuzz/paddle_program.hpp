// SPDX-License-Identifier: Apache-2.0
/// What the reader of Paddle's programs must keep, whatever the bytes: an error says which, and
/// what is read has a shape for every tensor that a node names.
#pragma once

#include <cstdlib>

#include "formats/paddle.hpp"

namespace oplat::fuzz {

inline void check_program(const base::Source& source) {
  const int surety = formats::paddle::reader().probe(source.bytes());
  if (surety < 0 || surety > 100) std::abort();
  const auto graph = formats::paddle::reader().read(source, {.shapes = {}, .batch = 1});
  if (!graph) {
    const Error& error = graph.error();
    if ((error.code != Code::Input && error.code != Code::Usage) || error.message.empty())
      std::abort();
    return;
  }
  for (const ir::Node& node : graph->nodes) {
    if (node.inputs.size() != node.input_slots.size() ||
        node.outputs.size() != node.output_slots.size())
      std::abort();
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const ir::TensorId id : *list) {
        if (!graph->tensors.at(static_cast<std::size_t>(id)).shape.elements()) std::abort();
      }
    }
  }
}

}  // namespace oplat::fuzz
