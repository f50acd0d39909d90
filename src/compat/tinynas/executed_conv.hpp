// SPDX-License-Identifier: Apache-2.0
/// A convolution of a TinyNAS library as ONNX Runtime executes it on a CPU in the midst of a
/// network, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "compat/tinynas/conv_tuple.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {

/// The kernel in the layout of channels in blocks of `block` (16 with AVX-512, else 8): batch
/// normalisation folded into weights and bias, padding (kernel - 1) / 2, Relu at the end, the
/// residual added in place where fused; float32:
/// com.microsoft.nchwc:Conv/1@block=16{activation=Relu,...}(f32[1,16,9,9],f32c[32,16,3,3],f32c[32])->(f32[1,32,9,9]).
/// Code::Missing if the runtime executes another kernel: channels that are not whole blocks, an
/// even kernel, groups.
Result<ir::Key> executed_key_of(const ConvTuple& conv, std::int64_t block);

/// Back again, of whatever block; Relu and no activation are the same tuple, since a library has no
/// column for it. Nothing for a kernel that no tuple says.
std::optional<ConvTuple> executed_conv_tuple_of(const ir::Key& key);

/// The kernels of a list.
struct ExecutedKeys {
  std::string text;          ///< each key once, a line each, in order of first appearance
  std::size_t count = 0;     ///< of lines
  std::size_t left_out = 0;  ///< samples that another kernel executes
};
/// `list`: the path of the samples, for messages. Code::Missing names the first sample that another
/// kernel executes, unless `skip_others`.
Result<ExecutedKeys> executed_keys(std::span<const ListedConv> samples, const std::string& list,
                                   std::int64_t block, bool skip_others);

}  // namespace oplat::compat::tinynas
