// SPDX-License-Identifier: Apache-2.0
/// A key of the domain "caffe2" as QNNPACK's operators need it: checked, without text. Knows
/// nothing of libtorch.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "ir/key.hpp"
#include "table/records.hpp"

namespace oplat::runtimes::qnnpack {

using Dims = std::vector<std::int64_t>;

enum class Kind {
  Conv,
  Fc,
  Sum,
  AveragePool,
  MaxPool,
  ChannelShuffle,
  Softmax,
  Relu,
  Quantize,
  Dequantize,
  ToNhwc,
  ToNchw,
  Concat,
  Reshape,
  FloatRelu,  ///< not of Caffe2: the kernel that computes next to nothing (plan::kDispatchKey)
};

/// A tensor that is not a constant, dimensions in the order of the key.
struct Activation {
  bool quantised = true;  ///< unsigned bytes; otherwise float32
  bool nhwc = true;       ///< of four dimensions: channels last
  Dims dims;
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t bytes() const { return elements() * (quantised ? 1 : 4); }
  friend bool operator==(const Activation&, const Activation&) = default;
};

/// Height first.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> strides{1, 1};
  std::array<std::int64_t, 2> pads{0, 0};  ///< the same at both ends
  std::array<std::int64_t, 2> dilations{1, 1};
};

struct Spec {
  Kind kind = Kind::Relu;
  bool relu = false;               ///< of Conv, Fc, Sum: clamped at zero
  std::vector<Activation> inputs;  ///< operands that are not constants, in order
  std::vector<std::size_t>
      source;  ///< per input: the first one that is the same tensor, itself unless "&i"
  Activation result;
  Window window;           ///< of Conv and pools
  std::int64_t group = 1;  ///< of Conv and ChannelShuffle
  std::size_t axis = 0;    ///< of Concat, in the order of the key
  Dims filter;  ///< of Conv [outputs, height, width, inputs of a group], of Fc [outputs, inputs];
                ///< empty: none
  /// Filter elements that one result element sums over.
  [[nodiscard]] std::int64_t fan_in() const;
  /// Bytes that k copies take: weights as given and packed, pointers of convolutions, activations.
  [[nodiscard]] double bytes(std::int64_t weight_sets, std::int64_t results) const;
};
using Read = std::variant<Spec, table::Unsupported, table::Failed>;

/// Unsupported: what QNNPACK behind libtorch has no kernel for. Failed: a key that contradicts
/// itself.
Read read_spec(const ir::Key& key);

}  // namespace oplat::runtimes::qnnpack
