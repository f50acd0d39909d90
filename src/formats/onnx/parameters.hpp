// SPDX-License-Identifier: Apache-2.0
/// Attributes that a key counts and does not print (ir/parameters.hpp), made up again.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "ir/parameters.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::formats::onnx {

/// Values for `attribute`: floats of both signs near one, seeded, or labels 0, 1, 2, ... where
/// `labels` says that they have to differ. Code::Refused above `kMaxMadeUp` values.
Status fill_counted(wire::Attribute& attribute, const ir::CountedValues& counted, bool labels,
                    std::uint64_t seed);
/// The attributes nodes_*, and class_* or target_*, of a TreeEnsemble node whose trees have the
/// sums of `forest`. Code::Refused where no trees have them, or they are more than can be held.
Status add_forest(wire::Node& node, const ir::Forest& forest, std::uint64_t seed);

/// Values of one attribute, and nodes of one forest, beyond which nothing is made up.
inline constexpr std::int64_t kMaxMadeUp = 50'000'000;
/// Nodes, and weights, of all forests of one model: each takes some 200 bytes while it is written.
inline constexpr std::int64_t kMaxForestEntries = 10'000'000;
/// Edges from a root: far beyond trees that anything trains.
inline constexpr std::int64_t kMaxForestDepth = 1000;

}  // namespace oplat::formats::onnx
