// SPDX-License-Identifier: Apache-2.0
/// KeyDomain: what core code asks of keys that a foreign system names, without knowing the system.
///
/// Tables of other tools name kernels in their own words. oplat keeps such names as keys of a
/// domain of their own ("system:Conv{...}"), byte for byte, so that a table can be exported as it
/// came. Core code needs answers that only the system knows: how much work its operators do, under
/// which other keys its tables hold a kernel, what the tool itself calls it. Each system derives
/// one class a domain from KeyDomain (src/compat/<system>/), compat/registry.cpp lists them, and
/// ir::Catalogue hands them to core code. Every answer has a default, "nothing special", so that a
/// new domain overrides what it needs and no more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "ir/key.hpp"
#include "ir/label.hpp"
#include "ir/operator_info.hpp"

namespace oplat::ir {

/// Another key under which tables may hold the rows of a kernel.
struct KeyAlias {
  Key key;
  std::string difference =
      {};  ///< from the text that the system itself would look up; empty: it is that text
  bool open_batch =
      false;  ///< one key says the batch, the other leaves it open: the times need not be equal
};

/// Immutable and thread-safe. Objects live as long as the process (compat/registry.cpp) or as long
/// as the Catalogue that holds them (tests).
class KeyDomain {
 public:
  virtual ~KeyDomain() = default;

  /// What stands before the ":" of the domain's keys. Must be a literal.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Catalogue entries of the domain's operators. Called once for each Catalogue. Operators without
  /// an entry are still keyed, measured and counted in bytes.
  [[nodiscard]] virtual std::vector<OperatorInfo> operators() const { return {}; }

  /// Whether the system's tables hold kernels under texts of their own that say less than a key
  /// does: aliases() is asked only then, and "?" in a key does not keep rows from answering.
  [[nodiscard]] virtual bool has_aliases() const { return false; }
  /// Keys that the system's tables may have of this kernel, best first. Empty if the system has no
  /// text for the operator.
  [[nodiscard]] virtual std::vector<KeyAlias> aliases(const Key& key) const {
    static_cast<void>(key);
    return {};
  }
  /// The key as rows of such a table would have it, std::nullopt if that is `key` itself: what
  /// describe() makes features of.
  [[nodiscard]] virtual std::optional<Key> table_form(const Key& key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
  /// What the system itself calls the kernel, for messages; std::nullopt: nothing.
  [[nodiscard]] virtual std::optional<std::string> native_text(const Key& key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
  /// What labels say of the kernel (ir/label.hpp); std::nullopt: what they say of an operator of
  /// any system, common_words().
  [[nodiscard]] virtual std::optional<KernelWords> words(const Key& key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
  /// Why no kernel can have the sizes of the key; std::nullopt if it can. Keys of models come from
  /// shapes that a runtime executed, keys of foreign tables from what somebody wrote.
  [[nodiscard]] virtual std::optional<std::string> wrong_sizes(const Key& key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
  /// The text whose hash decides to which part of a split a row belongs (`oplat accuracy`), so that
  /// splits agree with those that the system's own users make; std::nullopt: the key's.
  /// `without_residual`: the same text for a kernel with and without a fused sum.
  [[nodiscard]] virtual std::optional<std::string> split_text(const Key& key,
                                                              bool without_residual) const {
    static_cast<void>(key);
    static_cast<void>(without_residual);
    return std::nullopt;
  }
  /// The key of a node that fusion rules left, whose domain is this one. Code::Input if the node
  /// lacks an operand or result that its operator has.
  [[nodiscard]] virtual Result<Key> kernel_key(const Graph& graph, const Node& node) const;
};

}  // namespace oplat::ir
