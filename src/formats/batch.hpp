// SPDX-License-Identifier: Apache-2.0
/// The batch of a model that names none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace oplat::formats {

/// An input that is fed, with its sizes.
struct FedInput {
  std::string name;
  std::vector<std::int64_t> dims;
};

/// The dimension with which all inputs of two dimensions or more begin (empty ones aside), else 1.
/// Of an input that a recurrent operator of `graph` reads, time comes first unless it says
/// otherwise.
std::int64_t leading_dimension(const ir::Graph& graph, std::span<const FedInput> inputs);

}  // namespace oplat::formats
