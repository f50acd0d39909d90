// SPDX-License-Identifier: Apache-2.0
/// Descriptions by what an operator's loops see (see ir/description.hpp).
///
/// A kernel that adds, moves or reduces tensors does not know their ranks: a dimension of one
/// element needs no loop, and neighbours that are walked together are one loop. So [1,240,28,28]
/// times [1,240,1,1] is 240 runs of 784 elements against one, and so is [240,784] times [240,1].
/// The numbers of such a description are the lengths of its loops, its slice says which loops there
/// are; models of other ranks share their rows.
///
/// Example: ReduceMean over axes 2 and 3 of [1,64,32,32] has the form "KR" with the numbers 64 and
/// 1024, over axis 1 "KRK" with 1, 64 and 1024.
///
/// All functions give std::nullopt for a key with an unknown size, and for one that does not have
/// the form; it is described by all its numbers then.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/description.hpp"
#include "ir/key.hpp"

namespace oplat::ir::ops {

/// Each element of the result from those at the same place of operands that may be broadcast. Loops
/// by which operands have them: of one element in common, of the first, ...
std::optional<Description> describe_elementwise(const Key& key);

/// Loops that are kept (K) and reduced (R): axes in the attribute `axes` or `axis`, or in operand
/// 1; all without any. Which of them have a fast loop depends on the runtime's number of threads.
std::optional<Description> describe_reduction(const Key& key, std::int64_t threads);

/// A mean or maximum of each channel of [N, C, ...].
std::optional<Description> describe_global_pool(const Key& key);

/// A window over each channel of [N, C, ...] or [N, ..., C]: channels, rows and width of the
/// result, of the window, and its strides.
std::optional<Description> describe_pool(const Key& key, bool channels_last);

/// How it is computed (permuted.hpp), by the bytes that move together.
std::optional<Description> describe_transpose(const Key& key);

/// Concat and Split: the loop before the axis, how many tensors are joined, and the elements of the
/// joined tensor from the axis on.
std::optional<Description> describe_concat(const Key& key);
std::optional<Description> describe_split(const Key& key);

/// The same of quantised tensors, and how many of them are requantised byte by byte.
std::optional<Description> describe_qlinear_concat(const Key& key);

/// Slice: how many runs of elements are copied, how long they are, and how far apart in lengths of
/// a run. Where the last axis has a step, which takes each element by itself: rows, how many are
/// taken of each, and the step. Backwards is as quick as forwards.
std::optional<Description> describe_slice(const Key& key);

/// Expand: loops that the operand has and loops that repeat it.
std::optional<Description> describe_expand(const Key& key);

/// Reshape and its like where they copy: the number of elements.
std::optional<Description> describe_copy(const Key& key);

/// How long the sequences of a recurrent layer are: all of the time axis, unless the key says their
/// lengths (sequence_lens).
struct SequenceLengths {
  double longest = 0;  ///< ONNX Runtime's LSTM and GRU end there; RNN goes on
  double mean = 0;
};
/// std::nullopt if the time axis is not known.
std::optional<SequenceLengths> sequence_lengths(const Key& key);

/// LSTM, GRU and RNN: directions, steps, batch, input and hidden size. Which of the small operands
/// (biases, first states) are there does not matter next to the products.
std::optional<Description> describe_recurrent(const Key& key);

/// Gather: the loop before the axis, indices, elements behind the axis, length of the axis.
std::optional<Description> describe_gather(const Key& key);

/// Resize and Upsample: images, their height and width as they become, and by how much they shrink,
/// the root of elements in by elements out: 1 if they grow, 2 at most, since then no result shares
/// its neighbours; of cubic and antialiased ones whatever it is. Volumes and signals have loops of
/// their own. Whether factors or sizes are said changes nothing, and neither does where the places
/// of an interpolation lie.
std::optional<Description> describe_resize(const Key& key);

/// Softmax and LogSoftmax normalise along one axis since this version, before it from one on.
inline constexpr std::int64_t kSoftmaxAlongOneAxis = 13;

/// Softmax and LogSoftmax: loops before, along and behind the axis; before version 13 all from the
/// axis on is one.
std::optional<Description> describe_softmax(const Key& key);

/// Normalisations over the last dimensions, from the attribute `axis` on (the last without it).
std::optional<Description> describe_layer_norm(const Key& key);

/// Matrix products: products in a batch, rows, inner length, columns.
std::optional<Description> describe_product(const Key& key);

/// To and from the blocked layout: batch, channels before and after, places of the image.
std::optional<Description> describe_reorder(const Key& key);

}  // namespace oplat::ir::ops
