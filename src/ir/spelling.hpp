// SPDX-License-Identifier: Apache-2.0
/// Other keys under which tables hold a kernel: those of systems whose own texts say less than
/// oplat's key does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"

namespace oplat::ir {

/// A key that rows of a kernel may stand under.
struct Spelling {
  Key key;
  std::string difference =
      {};  ///< from the text that the system itself would look up; empty: it is that text
  bool open_batch =
      false;  ///< the one says the batch and the other leaves it open: the times need not be equal
};

/// Whether the domain of a printed key is that of a system with texts of its own. Costs nothing.
bool has_spellings(std::string_view key);

/// The keys that such a system's tables may have of this kernel, best first; none where the domain
/// has no such system, or the system no text for the operator.
std::vector<Spelling> table_spellings(const Key& key);

/// The first of them where it says less than `key`: all that can be told from rows of such a table.
std::optional<Key> table_form(const Key& key);

/// What the system itself calls the kernel.
std::optional<std::string> foreign_text(const Key& key);

}  // namespace oplat::ir
