// SPDX-License-Identifier: Apache-2.0
/// What the loops of a CPU's kernels lose at their ends.
///
/// The problem: a kernel works off its result in blocks of registers. What is left over at the end
/// of a row or of the channels takes as long as a block, or nearly. So a convolution of 7 outputs a
/// row takes a seventh longer for each of them than one of 6, and sizes, or their logarithms, do
/// not show it.
///
/// The losses are those of the loops of ONNX Runtime's library MLAS, by what they need of a
/// processor that begins two vector products a cycle and needs four cycles for one. With AVX-512
/// products of matrices take 12, 6 or fewer rows and 32 or 16 columns at a time
/// (amd64/FgemmKernelAvx512FCommon.inc); convolutions in a blocked layout up to 6 outputs of a row
/// and 4 blocks of 16 channels (1 of a depthwise one), and outputs next to the padding one by one
/// (amd64/SconvKernelAvx512F.asm); convolutions in 8 bits always 6 outputs and up to 64 channels,
/// in steps of 16 (amd64/ConvSymKernelAvx512Core.asm); products of signed bytes, which AVX-512
/// has no instruction for, a compiled loop (qgemm_kernel_default.cpp) that takes 16 of the sum at a
/// time and the rest by 4; depthwise convolutions in 8 bits of channels that do not fill registers
/// a loop over places, 8 channels at a time and the rest one by one (qdwconv_kernelsize.cpp).
/// With AVX2 a register holds 8 numbers: products take up to 6 rows and 16 or 8 columns at a time
/// (amd64/FgemmKernelFma3Common.inc), convolutions up to 3 outputs of a row and 4 blocks of 8
/// channels (amd64/SconvKernelFma3.asm), those in 8 bits 4 or 2 outputs and 16 or 8 channels, with
/// three instructions where AVX-512 has one (amd64/ConvSymKernelAvx2.asm).
/// Which of them counts for a kernel, and how much, is learned from rows; on processors that are
/// not x86-64 the losses of AVX-512 are hints like others.
///
/// Example: 7 outputs a row, a window of 3 with padding, 64 channels: one output at each edge (4
/// cycles instead of 2) and 5 between them (10 cycles) are 18 cycles where 14 would do, a loss of
/// ln(18 / 14) = 0.25.
#pragma once

#include <cstddef>
#include <span>

#include "ir/description.hpp"

namespace oplat::estimate {

inline constexpr std::size_t kLoopFeatures = 7;

/// Writes kLoopFeatures numbers: ln of (cycles over those without a loss) of a product of matrices,
/// of a blocked convolution row by row, of one of all outputs in a row, of one in 8 bits; ln of
/// what rounding the sum's length up to a multiple of 4 adds; the loss of the compiled loop of
/// products, and of that of depthwise convolutions (0 for others).
/// NaN where no products are summed.
void loop_features(const ir::Description& description, std::span<float> out);

}  // namespace oplat::estimate
