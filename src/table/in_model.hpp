// SPDX-License-Identifier: Apache-2.0
/// Flags of rows whose kernel took another time inside a model than by itself.
#pragma once

#include <optional>
#include <string_view>

#include "base/interval.hpp"
#include "table/records.hpp"

namespace oplat::table {

/// The flag. Next to it stands "in_model_ns=LOW..HIGH": what the kernel took inside of models, ns
/// an execution.
inline constexpr const char* kUnlikeInModel = "unlike_in_model";

/// Whether `flag` is one of the two, which more blocks of the row do not change.
bool is_in_model_flag(std::string_view flag);

/// What the kernel took inside of models that its row does not explain; std::nullopt if nothing is
/// known, or of a damaged flag.
std::optional<base::Interval> in_model_ns(const Method& method);

/// Sets both flags, or with std::nullopt removes them. The flags stay sorted.
void set_in_model_ns(Method& method, const std::optional<base::Interval>& ns);

}  // namespace oplat::table
