// SPDX-License-Identifier: Apache-2.0
#include "base/counted.hpp"

#include <fmt/format.h>

namespace oplat::base {

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count != 1 && many.empty()) return fmt::format("{} {}s", count, one);
  return fmt::format("{} {}", count, one_or_many(count, one, many));
}

std::string_view one_or_many(std::int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

}  // namespace oplat::base
