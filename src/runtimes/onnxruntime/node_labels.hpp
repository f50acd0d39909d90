// SPDX-License-Identifier: Apache-2.0
/// What kernels are called: by the nodes of the user's model that they came from.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx.hpp"

namespace oplat::runtimes::onnxruntime {

/// Name of a node that ran -> name of the node of the user's model that it came from, each once.
/// Nodes that the runtime inserted, those of bodies and their owners have none, and keep the name
/// that they ran under: it says which body a node is in.
/// `model`: the user's. `optimized`: as the runtime wrote it, and `executed`: the same with the
/// names under which it ran, or what a further rewrite made of it.
std::unordered_map<std::string, std::string> node_labels(
    const std::vector<formats::onnx::NodeEnds>& model,
    const std::vector<formats::onnx::NodeEnds>& optimized,
    const std::vector<formats::onnx::NodeEnds>& executed);

}  // namespace oplat::runtimes::onnxruntime
