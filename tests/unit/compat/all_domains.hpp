// SPDX-License-Identifier: Apache-2.0
/// For tests on keys of every system: the functions of the catalogue with the catalogue that
/// programs use.
#pragma once

#include <optional>

#include "compat/registry.hpp"
#include "ir/catalogue.hpp"
#include "ir/description.hpp"
#include "ir/moved_work.hpp"
#include "ir/work.hpp"

namespace oplat::ir {

inline Work work(const Key& key) { return work(key, compat::catalogue()); }
inline Work moved_work(const Key& key) { return moved_work(key, compat::catalogue()); }
inline std::optional<Description> describe(const Key& key) {
  return describe(key, compat::catalogue(), {});
}

}  // namespace oplat::ir
