// SPDX-License-Identifier: Apache-2.0
/// Einsum of one or two operands. Of more, the cost is a matter of the order of products that a
/// runtime chooses, and nothing is said.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

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

/// Terms of the operands, then that of the result.
using Terms = std::vector<std::string>;

/// Whether `second` comes behind `first` wherever either of them is.
bool are_together(const Terms& terms, char first, char second) {
  return std::all_of(terms.begin(), terms.end(), [&](const std::string& term) {
    const std::size_t at = term.find(first);
    return at == std::string::npos ? term.find(second) == std::string::npos
                                   : at + 1 < term.size() && term[at + 1] == second;
  });
}

constexpr std::size_t kMaxLabels = 20;  // letters a to z are left for them

/// A product of two operands: labels that are walked together are one, and are called a, b, ... in
/// their order.
struct Product {
  Terms terms;
  std::map<char, double> sizes;
};

std::optional<Product> product_of(const Key& key) {
  const Value* equation = key.attribute("equation");
  if (equation == nullptr || equation->text() == nullptr) return std::nullopt;
  const std::string_view text = *equation->text();
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  Product product;
  for (const auto& term : base::split(text.substr(0, arrow), ',')) product.terms.emplace_back(term);
  product.terms.emplace_back(text.substr(arrow + 2));
  if (product.terms.size() != 3 || key.operands.size() != 2) return std::nullopt;
  Sizes sizes;
  for (std::size_t i = 0; i < product.terms.size(); ++i) {
    std::string& term = product.terms[i];
    std::erase(term, ' ');
    std::string letters = term;
    std::sort(letters.begin(), letters.end());
    const bool plain = std::all_of(term.begin(), term.end(), is_letter) &&
                       std::adjacent_find(letters.begin(), letters.end()) == letters.end();
    if (!plain || (i < 2 && !add_term(term, key.operand(i), sizes))) return std::nullopt;
  }
  for (const auto& [label, size] : sizes) product.sizes.emplace(static_cast<char>(label), size);
  for (const std::string& from : {product.terms[0], product.terms[1]}) {
    for (std::size_t i = 0; i + 1 < from.size(); ++i) {
      const char second = from[i + 1];
      // Of a run all go to the first, the last one first.
      const char first = from[i];
      if (!product.sizes.contains(first) || !product.sizes.contains(second) ||
          !are_together(product.terms, first, second))
        continue;
      product.sizes[second] *= product.sizes[first];
      product.sizes.erase(first);
      for (std::string& term : product.terms) std::erase(term, first);
    }
  }
  std::map<char, char> names;
  Product renamed;
  for (const std::string& term : product.terms) {
    std::string& out = renamed.terms.emplace_back();
    for (const char label : term) {
      if (!product.sizes.contains(label) || names.size() > kMaxLabels) return std::nullopt;
      const auto [at, added] =
          names.emplace(label, static_cast<char>('a' + static_cast<int>(names.size())));
      if (added) renamed.sizes.emplace(at->second, product.sizes[label]);
      out += at->second;
    }
  }
  return renamed;
}

std::optional<Description> describe_einsum(const Key& key) {
  const auto product = product_of(key);
  if (!product) return std::nullopt;
  Description description;
  description.slice = ":Einsum " + product->terms[0] + "," + product->terms[1] + "->" +
                      product->terms[2] + " " + std::string(name(key.operand(0)->dtype));
  for (const auto& [label, size] : product->sizes) description.numbers.push_back(size);
  return description;
}

std::optional<Contraction> contraction_of_einsum(const Key& key) {
  const auto product = product_of(key);
  if (!product) return std::nullopt;
  Contraction out;
  for (const auto& [label, size] : product->sizes) {
    const auto is_in = [&, label = label](std::size_t term) {
      return product->terms[term].find(label) != std::string::npos;
    };
    double& role = !is_in(2)              ? out.in_c
                   : is_in(0) && is_in(1) ? out.groups
                   : is_in(0)             ? out.out_h
                                          : out.out_c;
    role *= size;
  }
  return out;
}

}  // namespace

std::vector<OperatorInfo> einsum() {
  return {{.domain = "",
           .op = "Einsum",
           .flops = flops_einsum,
           .describe = describe_einsum,
           .contraction = contraction_of_einsum}};
}

}  // namespace oplat::ir::ops
