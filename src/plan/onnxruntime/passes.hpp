// SPDX-License-Identifier: Apache-2.0
/// The passes of ONNX Runtime's optimiser for its CPU provider. Each names the file under
/// onnxruntime/core/optimizer that its facts were read in. A pass goes over the graph once; the
/// list of levels in data/fusion/onnxruntime.yaml says which passes run, in which order, and how
/// often.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort {

/// What a pass asks of the machine.
struct Machine {
  std::int64_t block = 0;  ///< channels of the blocked layout: 16 with AVX-512, else 8; 0: none
};

/// Whether it changed the graph.
using Pass = bool (*)(Net&, const Machine&);

// rewrite.cpp
bool rewrite_nodes(Net& net, const Machine& machine);  ///< rule_based_graph_transformer.cc
// common.cpp
bool share_equal_nodes(Net& net, const Machine& machine);
// functions.cpp
/// Operators that inline_functions() looks for.
inline constexpr std::array<std::string_view, 4> kWrittenOperators = {"GroupNormalization",
                                                                      "HardSwish", "Mish", "Swish"};
bool inline_functions(Net& net, const Machine& machine);
// matmul.cpp
bool fuse_matmul_add(Net& net, const Machine& machine);
bool fuse_every_matmul_add(Net& net, const Machine& machine);
bool fuse_matmul_transpose(Net& net, const Machine& machine);
bool fuse_matmul_scale(Net& net, const Machine& machine);
bool fuse_gemm_activation(Net& net, const Machine& machine);
bool fuse_matmul_integer_scale(Net& net, const Machine& machine);
bool fuse_matmul_bits_bias(Net& net, const Machine& machine);
bool fuse_matmul_integer_quantisation(Net& net, const Machine& machine);
// movement.cpp
bool fuse_reshapes(Net& net, const Machine& machine);
bool fuse_slices_to_split(Net& net, const Machine& machine);
// convolution.cpp
bool fuse_convolution_activation(Net& net, const Machine& machine);
bool fuse_convolution_add_activation(Net& net, const Machine& machine);
// normalisation.cpp
bool fuse_gelu(Net& net, const Machine& machine);
bool fuse_bias_gelu(Net& net, const Machine& machine);
bool fuse_fast_gelu(Net& net, const Machine& machine);
bool fuse_quick_gelu(Net& net, const Machine& machine);
bool fuse_layer_norm(Net& net, const Machine& machine);
bool fuse_layer_norm_of_onnx(Net& net, const Machine& machine);
bool fuse_simplified_layer_norm(Net& net, const Machine& machine);
bool fuse_skip_layer_norm(Net& net, const Machine& machine);
// transpose.cpp
bool push_transposes(Net& net, const Machine& machine);
bool push_transposes_of_cpu(Net& net, const Machine& machine);
bool move_channels_last(Net& net, const Machine& machine);
// quantised.cpp
bool copy_dequantisations(Net& net, const Machine& machine);
bool propagate_quantisation(Net& net, const Machine& machine);
bool quantise_weights_and_biases(Net& net, const Machine& machine);
bool drop_clips_of_quantisation(Net& net, const Machine& machine);
bool make_activations_unsigned(Net& net, const Machine& machine);
bool fuse_quantised(Net& net, const Machine& machine);
bool drop_empty_pairs(Net& net, const Machine& machine);
// blocked.cpp
bool block_channels(Net& net, const Machine& machine);

struct NamedPass {
  std::string_view name;
  Pass pass = nullptr;
  /// A net without these operators stays as it is; empty: the pass looks for more.
  std::array<std::string_view, 4> wanted = {};
};
/// Every pass by the name that rule files have for it.
std::span<const NamedPass> passes();
/// nullptr: there is none of that name.
const NamedPass* find_pass(std::string_view name);

}  // namespace oplat::plan::ort
