// SPDX-License-Identifier: Apache-2.0
/// The batch of a model that names none.
#pragma once

#include <cstdint>
#include <optional>
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

/// Why a run of the model with this batch does nothing: "input 'x' has the shape [0,64], which
/// holds nothing to compute with; ..."; std::nullopt: it does something.
std::optional<std::string> nothing_to_run(const ir::Graph& graph, std::span<const FedInput> inputs,
                                          std::int64_t batch);

}  // namespace oplat::formats
