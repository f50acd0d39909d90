// SPDX-License-Identifier: Apache-2.0
/// What Paddle-Lite's heavier operators have to do. Their definitions: operators/*_op.cc of
/// Paddle-Lite, whose shapes are Paddle's (python/paddle/nn/functional); a multiply-add counts as
/// two operations, as everywhere in the catalogue.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// Each weight that is not zero meets every place of the result once
/// (lite/backends/arm/math/sparse_conv_impl.cc). Where their number is not said all weights count,
/// which is the most it can be.
std::optional<double> flops_paddle_sparse_conv(const ir::Key& key);
/// Keys of operators that PaddleSlim's tables do not know hold operands in the order of the model,
/// which is that of their names: the filters are the constant of as many dimensions as the result.
std::optional<double> flops_paddle_conv(const ir::Key& key);
std::optional<double> flops_paddle_conv_transpose(const ir::Key& key);
/// X [..., M, K] or, where the result's rows say that it was transposed, [..., K, M]; keys do not
/// tell otherwise.
std::optional<double> flops_paddle_matmul(const ir::Key& key);
/// mul: both operands are flattened to matrices [M, K] and [K, N] at a column that the result does
/// not show, but M K N is the root of the product of all three sizes.
std::optional<double> flops_paddle_mul(const ir::Key& key);
/// rnn (lite/operators/rnn_op.cc): `num_layers` layers, in one direction or two, each with gates *
/// hidden rows of weights for what comes in and for the state: 4 gates of an LSTM, 3 of a GRU, 1
/// otherwise. std::nullopt if the key does not say them: PaddleSlim's texts do not.
std::optional<double> flops_paddle_rnn(const ir::Key& key);
/// lstm, gru, gru_unit: the input's share is computed before them (mul or fc), so that the state
/// alone meets its weights, the largest constant, at each step.
std::optional<double> flops_paddle_recurrence(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
