// SPDX-License-Identifier: Apache-2.0
/// Pairs of a quantisation and a dequantisation: what passes ask of them, and new ones.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort {

bool is_quantise(const Net& net, NodeId id);
bool is_dequantise(const Net& net, NodeId id);
/// Whether both have the same type, scale and zero point.
bool is_pair(const Net& net, NodeId dequantise, NodeId quantise);
/// Whether a quantisation or dequantisation has one scale, which is a constant.
bool has_scalars(const Net& net, NodeId id);

/// One place at which a node reads a tensor.
struct Reading {
  NodeId reader = kNoNode;
  std::size_t operand = 0;
};
/// In the order in which the runtime has them.
std::vector<Reading> readings_of(const Net& net, TensorId id);

/// A quantisation with the numbers of `like` behind `id`, and a dequantisation on the way to each
/// of these readings.
void insert_pairs(Net& net, TensorId id, const std::vector<Reading>& readings, NodeId like);

}  // namespace oplat::plan::ort
