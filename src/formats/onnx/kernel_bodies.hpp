// SPDX-License-Identifier: Apache-2.0
/// Bodies of kernels that have some (If, Loop, Scan), made up so that they cost nothing themselves.
#pragma once

#include <cstdint>
#include <string>

#include "formats/onnx.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::formats::onnx {

/// Steps of a Loop's key, from its tag. Code::Missing without one.
Result<std::int64_t> loop_steps(const ir::Key& key);
/// Adds the bodies to a node of `key`; `prefix` keeps their names apart from all others of the
/// model. `own_sizes`: an If's branches give what the key says, which they copy, instead of one
/// element each. Code::Missing where the key does not say what a body takes and gives.
Status add_bodies(wire::Node& node, const ir::Key& key, const std::string& prefix, bool own_sizes);

}  // namespace oplat::formats::onnx
