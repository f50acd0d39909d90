// SPDX-License-Identifier: Apache-2.0
/// ConvTuple: one convolution as TinyNAS's op_profiler names it, and its key in the domain
/// "tinynas".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "ir/key.hpp"

namespace oplat::compat::tinynas {

enum class ConvType : std::uint8_t { Regular, Depthwise };
/// "Regular", "Depthwise".
std::string_view name(ConvType type);
std::optional<ConvType> parse_conv_type(std::string_view text);

/// The columns of a library line, `{Conv_type,Batch,In_C,In_H,In_W,Out_C,Kernel,Stride,ElmtFused}
/// Latency`. Sizes are of the input; the kernel is square, one stride serves both axes. A depthwise
/// convolution has Out_C channels and one filter a channel, whatever In_C says.
struct ConvTuple {
  ConvType type = ConvType::Regular;
  std::int64_t batch = 1;
  std::int64_t in_c = 0;
  std::int64_t in_h = 0;
  std::int64_t in_w = 0;
  std::int64_t out_c = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  bool fused = false;  ///< the element-wise sum of a residual connection is part of the convolution
  /// of a Regular convolution; 1 in every library, since the original knows no other
  std::int64_t group = 1;
  friend bool operator==(const ConvTuple&, const ConvTuple&) = default;
  friend auto operator<=>(const ConvTuple&, const ConvTuple&) = default;
};

/// A Regular convolution with a group for each channel, in and out, by its other name: Depthwise.
/// Others as they are.
ConvTuple named_by_groups(ConvTuple conv);

/// Element type of activations and weights at "FP32", "FP16", "FP16_DAMOYOLO", "INT8", "INT4" (any
/// case); std::nullopt for another word.
std::optional<ir::Dtype> dtype_of_precision(std::string_view precision);

/// The key, results of input // stride, at least 1, as the original counts them (no padding is
/// named):
/// tinynas:Conv{group=1,kernel_shape=[3,3],strides=[2,2]}(f32[1,16,56,56],f32c[32,16,3,3])->(f32[1,32,28,28]),
/// with the residual as a third operand that is written over where fused:
/// (...,f32[1,32,28,28])->(&2).
ir::Key key_of(const ConvTuple& conv, ir::Dtype dtype);
/// The same text as print(key_of(conv, dtype)), at a tenth of the cost: libraries have 100,000
/// rows.
std::string key_text_of(const ConvTuple& conv, ir::Dtype dtype);
/// Back again. In_C of a depthwise convolution comes back as Out_C. Nothing for a key that key_of
/// cannot have made.
std::optional<ConvTuple> conv_tuple_of(const ir::Key& key);

}  // namespace oplat::compat::tinynas
