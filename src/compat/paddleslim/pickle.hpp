// SPDX-License-Identifier: Apache-2.0
/// Python pickles of a dict from texts to numbers, of protocols 0 to 5. A pickle is a program; this
/// reader knows the instructions that make texts, numbers and one dict, and refuses all others by
/// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace oplat::compat::paddleslim {

/// What is in a number's place.
enum class PickleWord : std::uint8_t { None, True, False };
/// "None", "True", "False".
std::string_view name(PickleWord word);

struct PickleEntry {
  std::string key;
  std::variant<double, PickleWord> value;
  std::size_t offset = 0;  ///< of the instruction that made the key
};

/// The entries in the order in which they were set, duplicates included. Code::Input with the
/// offset, what was found and what was expected: for an instruction that could run code or makes
/// other objects, for a key that is not printable ASCII text or a value that is neither a number
/// nor a PickleWord, for lengths beyond the end, for bytes after the end.
Result<std::vector<PickleEntry>> read_pickled_dict(std::string_view bytes);

/// A pickle of protocol 3 that Python loads to a dict of these entries; of equal keys the last one
/// stays.
std::string write_pickled_dict(std::span<const PickleEntry> entries);

}  // namespace oplat::compat::paddleslim
