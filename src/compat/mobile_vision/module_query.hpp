// SPDX-License-Identifier: Apache-2.0
/// ModuleQuery: one layer of a PyTorch model as mobile_cv's lut names it, what it computes, and its
/// key in the domain "torch".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::compat::mobile_vision {

/// Shapes are PyTorch's: channels before the map, [steps, batch, features] of MultiheadAttention.
struct ModuleQuery {
  std::string op;                    ///< "Conv2d"
  std::vector<ir::NamedValue> args;  ///< of the module's constructor; true and false as 1 and 0
  std::vector<std::vector<std::int64_t>> input_shapes;
  friend bool operator==(const ModuleQuery&, const ModuleQuery&) = default;
};

struct ModuleFacts {
  std::vector<std::int64_t> output_shape;
  std::int64_t weights = 0;     ///< without biases: mobile_cv's get_nparams
  std::int64_t parameters = 0;  ///< with them
  /// multiply-adds of weights and of products of inputs, biases and pooling left out
  double macs = 0;
  /// mobile_cv's get_flops: the same multiply-adds, but those of a transposed convolution counted
  /// at every output instead of every input, and of pooling every input once.
  double mobile_cv_flops = 0;
};

/// Conv1d to 3d, ConvTranspose1d to 3d, Linear, AdaptiveAvgPool1d to 3d, AvgPool1d to 3d, MaxPool1d
/// to 3d, MatMul, MultiheadAttention.
std::vector<std::string> module_ops();

/// Arguments sorted, defaults filled in, one number an axis. Code::Input names an operator or an
/// argument that is not known, with those that are, what is lacking, and shapes that do not go
/// together.
Result<ModuleQuery> canonical(const ModuleQuery& query);

/// Of a canonical() query.
Result<ModuleFacts> facts_of(const ModuleQuery& query);

/// Equal for equal layers, however their arguments are written, all numbers taken as f32:
/// torch:Conv2d{dilation=[1,1],groups=1,kernel_size=[3,3],padding=[1,1],stride=[2,2]}(f32[1,3,224,224],f32c[32,3,3,3],
/// f32c[32])->(f32[1,32,112,112]). Of a canonical() query.
Result<ir::Key> key_of(const ModuleQuery& query);

/// A canonical() query with a bias where it had none and the other way round; std::nullopt if the
/// operator has no such argument.
std::optional<ModuleQuery> with_other_bias(const ModuleQuery& query);

}  // namespace oplat::compat::mobile_vision
