// SPDX-License-Identifier: Apache-2.0
/// What may be written: the same rules by which cells are read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "table/records.hpp"

namespace oplat::table {

/// Code::Input, naming `what`, where a text is longer than kMaxText.
Status validate_text(std::string_view what, std::string_view text);
/// Code::Input if a number is negative, infinite or NaN.
Status validate_number(std::string_view what, double value);
Status validate_number(std::string_view what, const std::optional<double>& value);
Status validate_count(std::string_view what, std::int64_t value);
/// A key is on one line; its grammar is the ir layer's affair.
Status validate_key(std::string_view key);
Status validate(const Outcome& outcome);
Status validate(const Block& block);
Status validate(const InferenceTimes& times);

}  // namespace oplat::table
