// SPDX-License-Identifier: Apache-2.0
/// Rows of a split.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/accuracy.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// A row that can be learned from.
struct DescribedRow {
  std::string key;
  ir::Description description;
  double log_ns = 0;
  std::string operator_name = {};  ///< "domain:op"
  bool stand_in = false;           ///< of unknown batch: learned from, never asked for
};

enum class Role : std::uint8_t { Learn, Ask, Drop };

/// One role a row, in one of the split's folds.
Result<std::vector<Role>> roles_of(std::span<const DescribedRow> rows, const Split& split,
                                   std::size_t fold, const LearnRequest& request,
                                   const ir::Catalogue& catalogue);

/// The end of a message about a split that asks for none of the rows: "; In_H of the rows is 8,
/// 16".
std::string why_none(std::span<const DescribedRow> rows, const Split& split);

/// A field's value of a row, std::nullopt if the row has no such field.
std::optional<double> field_of(const DescribedRow& row, std::string_view field);

}  // namespace oplat::estimate
