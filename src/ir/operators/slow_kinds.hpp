// SPDX-License-Identifier: Apache-2.0
/// Of single operators ir::Work::steps, for slow_steps.cpp; 0: they are not slow, or sizes are not
/// known.
#pragma once

#include "ir/key.hpp"

namespace oplat::ir::ops {

// slow_windows.cpp
double power_pool(const Key& key);
double largest_of_window(const Key& key);
double mean_of_window(const Key& key);
double deformed_columns(const Key& key);
double samples(const Key& key);

/// attention.cpp: ONNX's own Attention.
double capped_scores(const Key& key);

// slow_types.cpp
double of_float16(const Key& key);
double cast(const Key& key);
double quantize(const Key& key);
double dequantize(const Key& key);
double quotients(const Key& key);
double shrink(const Key& key);
double range(const Key& key);
double signs(const Key& key);
double compared(const Key& key);
double connected(const Key& key);
double added_up(const Key& key);
double extremes_of_operands(const Key& key);
template <int kPicoseconds>
double of_doubles(const Key& key);

}  // namespace oplat::ir::ops
