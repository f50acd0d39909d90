// SPDX-License-Identifier: Apache-2.0
/// Two words among a row's flags, so that tables of every schema can hold them.
#include "table/in_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace oplat::table {
namespace {

constexpr std::string_view kRange = "in_model_ns=";
constexpr std::string_view kUpTo = "..";

}  // namespace

bool is_in_model_flag(std::string_view flag) {
  return flag == kUnlikeInModel || flag.starts_with(kRange);
}

std::optional<base::Interval> in_model_ns(const Method& method) {
  if (!method.has(kUnlikeInModel)) return std::nullopt;
  for (const std::string_view flag : method.flags) {
    if (!flag.starts_with(kRange)) continue;
    const std::string_view range = flag.substr(kRange.size());
    const std::size_t at = range.find(kUpTo);
    if (at == std::string_view::npos) return std::nullopt;
    const auto low = base::parse_double(range.substr(0, at));
    const auto high = base::parse_double(range.substr(at + kUpTo.size()));
    if (!low || !high || !std::isfinite(*high) || !(*low >= 0) || !(*low <= *high))
      return std::nullopt;
    return base::Interval{*low, *high};
  }
  return std::nullopt;
}

void set_in_model_ns(Method& method, const std::optional<base::Interval>& ns) {
  std::erase_if(method.flags, [](const std::string& flag) { return is_in_model_flag(flag); });
  if (!ns) return;
  method.add(kUnlikeInModel);
  // Rounded outwards: the range holds what was seen.
  method.add(
      fmt::format("{}{:.0f}{}{:.0f}", kRange, std::floor(ns->low), kUpTo, std::ceil(ns->high)));
}

}  // namespace oplat::table
