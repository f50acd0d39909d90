// SPDX-License-Identifier: Apache-2.0
/// Memory that ONNX Runtime's convolutions take for themselves while they run, besides operands and
/// results.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::ir::ops {

/// Bytes that QLinearConv (core/providers/cpu/quantization/qlinearconv.cc) has besides its operands
/// and results: sums of 32 bits, one image's windows as columns, one image with its channels last.
/// Convolutions with symmetric weights sum in registers where the channels suit
/// MlasConvSymPackWSize() (mlas/lib/convsym.cpp): those that suit on no processor are counted.
/// std::nullopt if a size is unknown.
std::optional<double> scratch_of_qlinear(const Key& key);
/// ConvInteger (core/providers/cpu/quantization/conv_integer.cc): columns; its sums are the result.
std::optional<double> scratch_of_integers(const Key& key);
/// ConvTranspose (core/providers/cpu/nn/conv_transpose.cc): one image's and group's columns, which
/// are then added up in the result.
std::optional<double> scratch_of_spread(const Key& key);

}  // namespace oplat::ir::ops
