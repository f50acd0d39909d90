// SPDX-License-Identifier: Apache-2.0
/// Kernels of Paddle-Lite as the text tables describe them, as keys of the domain "paddle_lite",
/// and back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"
#include "table/codec.hpp"

namespace oplat::compat::paddleslim {

/// Larger sizes are those of no tensor; products of four of them still fit a double's exact range
/// of interest.
inline constexpr std::int64_t kMaxPaddleDim = std::int64_t{1} << 31;

enum class PaddlePrecision : std::uint8_t { Fp32, Fp16, Int8, Int8ToFloat };
/// Of Setting::precision; std::nullopt for another word.
std::optional<PaddlePrecision> paddle_precision(std::string_view word);
/// Notes what rows of Paddle-Lite tell together: the precision, where all that say one say the
/// same; and a warning of texts that were not understood, which no question finds.
void note_what_rows_tell(table::ForeignRead& read);

/// What slides over a feature map; std::nullopt if the text does not say.
struct PaddleWindow {
  std::array<ir::Dim, 2> kernel;  ///< height, width
  std::array<ir::Dim, 4> pads;    ///< top, bottom, left, right
  std::array<ir::Dim, 2> strides;
  std::array<ir::Dim, 2> dilations = {1, 1};
  bool ceil = false;
};

struct PaddleConv {
  std::array<std::int64_t, 4> input{};  ///< N, C, H, W
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  PaddleWindow window;
  std::optional<bool> bias;
  std::optional<std::string> activation;  ///< kNoPaddleActivation: there is none
  PaddlePrecision precision = PaddlePrecision::Fp32;
};

struct PaddlePool {
  std::array<std::int64_t, 4> input{};
  bool global = false;
  std::optional<std::string> type;  ///< max, avg
  PaddleWindow window;
};

/// The word for a kernel without an activation of its own.
inline constexpr std::string_view kNoPaddleActivation = "None";

/// The size that a window leaves of `input`; std::nullopt if something is unknown; below 1 where it
/// does not fit.
std::optional<std::int64_t> window_result(std::int64_t input, const PaddleWindow& window,
                                          std::size_t axis);

/// Code::Input if the sizes cannot be those of a convolution: channels that groups do not
/// divide, a window that does not fit. It is a depthwise_conv2d where every channel is a group.
Result<ir::Key> paddle_conv_key(const PaddleConv& conv);
Result<ir::Key> paddle_pool_key(const PaddlePool& pool);
/// An operator of one operand whose result has its shape.
ir::Key paddle_map_key(std::string_view op, const std::vector<std::int64_t>& dims,
                       PaddlePrecision precision);
ir::Key paddle_fc_key(const std::vector<std::int64_t>& input, std::int64_t inner,
                      std::int64_t columns, PaddlePrecision precision);
ir::TensorEntry paddle_tensor(const std::vector<std::int64_t>& dims, PaddlePrecision precision,
                              bool constant = false);

/// Back again; std::nullopt for keys of other kernels, or that do not say everything.
std::optional<PaddleConv> paddle_conv_of(const ir::Key& key);
std::optional<PaddlePool> paddle_pool_of(const ir::Key& key);
/// The shape of paddle_map_key.
std::optional<std::vector<std::int64_t>> paddle_map_of(const ir::Key& key);
/// Known sizes of a tensor.
std::optional<std::vector<std::int64_t>> paddle_dims(const ir::TensorEntry* entry);

}  // namespace oplat::compat::paddleslim
