// SPDX-License-Identifier: Apache-2.0
/// Einsum of one or two operands. Of more, the cost is a matter of the order of products that a
/// runtime chooses, and nothing is said.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// Sizes by label; dimensions under "..." are labelled by their place from the end, below every
/// letter.
using Sizes = std::map<int, double>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// False where the term does not fit the operand or a size is unknown.
bool add_term(std::string_view term, const TensorEntry* operand, Sizes& sizes) {
  const auto dimensions = rank(operand);
  if (!dimensions) return false;
  const auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), is_letter));
  if (letters > *dimensions) return false;
  std::size_t hidden = *dimensions - letters;
  int at = 0;
  const auto add = [&](int label) {
    const auto size = dim(operand, at++);
    if (!size) return false;
    auto [known, is_new] = sizes.emplace(label, static_cast<double>(*size));
    // A size of 1 is repeated.
    if (!is_new && known->second == 1) known->second = static_cast<double>(*size);
    return true;
  };
  for (const char c : term) {
    if (is_letter(c) && !add(c)) return false;
    if (c != '.') continue;
    for (; hidden > 0; --hidden) {
      if (!add(-static_cast<int>(hidden))) return false;
    }
  }
  return hidden == 0;
}

/// A multiply-add for every combination of indices of two operands, as of a matrix product; an
/// addition for every element of one.
std::optional<double> flops_einsum(const Key& key) {
  const Value* equation = key.attribute("equation");
  if (equation == nullptr || equation->text() == nullptr) return std::nullopt;
  const std::string_view text = *equation->text();
  const auto terms = base::split(text.substr(0, text.find("->")), ',');
  if (terms.size() != key.operands.size() || terms.empty() || terms.size() > 2) return std::nullopt;
  Sizes sizes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!add_term(terms[i], key.operand(i), sizes)) return std::nullopt;
  }
  double combinations = 1;
  for (const auto& [label, size] : sizes) combinations *= size;
  return terms.size() == 2 ? 2 * combinations : combinations;
}

}  // namespace

std::vector<OperatorInfo> einsum() {
  return {{.domain = "", .op = "Einsum", .flops = flops_einsum}};
}

}  // namespace oplat::ir::ops
