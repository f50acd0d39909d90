// SPDX-License-Identifier: Apache-2.0
/// Templates of the key texts of PaddleSlim's latency tables: one an operator, by which texts are
/// read and written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace oplat::compat::paddleslim::templates {

constexpr std::string_view kQuant = "quant";
constexpr std::string_view kBitLength = "bit_length";

enum class Kind : std::uint8_t {
  Operand,   ///< (1, 3, 224, 224)
  Operands,  ///< several of them, nothing in between
  Weights,   ///< a constant operand
  Result,
  Attribute,  ///< a number, a word (None among them), or a list of numbers
  Pad,        ///< the second of the list that the operator has
  Stride,
  Dilation,
  Kernel,   ///< 3x3: the second of the list, written twice
  Nothing,  ///< None, whatever the operator has: the original asks for an attribute of another name
  End,      ///< nothing but the text before it
};

/// What stands before a field, quirks of spacing included, and what the field is.
struct Field {
  std::string_view before;
  Kind kind;
  std::string_view name = {};  ///< of an attribute
};

/// The template of some operators.
struct Rule {
  std::string_view type;
  std::span<const Field> fields;
  bool part = false;  ///< of any operator whose type holds this text
};

/// That of an operator, or nullptr. The first that fits counts, as in the original.
const Rule* rule_of(std::string_view type);

}  // namespace oplat::compat::paddleslim::templates
