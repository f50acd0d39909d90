// SPDX-License-Identifier: Apache-2.0
/// Operators as Paddle-Lite's benchmark scripts write them: name, "[1 3 224 224]", "(stride=[1
/// 1],...)".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// The three texts of an operator in latency_lookup_table.txt; ops.txt has the first and the last.
struct LookupOperator {
  std::string name;
  std::string input;  ///< "[1 96 112 112]"
  std::string output;
  std::string parameters;  ///< "(ch_out=48,stride=[1 1],...)"
};

/// The key. Sizes of results are computed: the script that writes such tables gets those of
/// convolutions wrong. Operators that it does not know become paddle_lite:other{text=...}.
/// Code::Input: what cannot be, or is not said.
Result<ir::Key> lookup_key_of(std::string_view name, std::string_view input,
                              std::string_view parameters);

/// Back again; std::nullopt for what such a table cannot say.
std::optional<LookupOperator> lookup_operator_of(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
