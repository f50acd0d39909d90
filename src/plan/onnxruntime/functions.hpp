// SPDX-License-Identifier: Apache-2.0
/// Operators that ONNX defines by nodes of others, and the runtime has no kernels for.
#pragma once

#include "base/result.hpp"
#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort {

/// Code::Refused: the runtime has no kernel of the node. It runs the nodes of the operator's
/// definition, which the pass inline-functions does not write out, or refuses the model.
Status check_kernel(const Net& net, NodeId id);

}  // namespace oplat::plan::ort
