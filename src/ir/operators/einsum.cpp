// SPDX-License-Identifier: Apache-2.0
/// Einsum: products of two operands. Of more, the first two are multiplied, their result and the
/// third, and so on, as ONNX Runtime does.
#include "ir/operators/einsum.hpp"

#include <algorithm>
#include <map>
#include <span>
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

/// Of one operand; std::nullopt where the term does not fit it or a size is unknown.
std::optional<Sizes> sizes_of_term(std::string_view term, const TensorEntry* operand) {
  const auto dimensions = rank(operand);
  if (!dimensions) return std::nullopt;
  const auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), is_letter));
  if (letters > *dimensions) return std::nullopt;
  std::size_t hidden = *dimensions - letters;
  int at = 0;
  Sizes sizes;
  const auto add = [&](int label) {
    const auto size = dim(operand, at++);
    if (size) sizes.emplace(label, static_cast<double>(*size));
    return size.has_value();
  };
  for (const char c : term) {
    if (is_letter(c) && !add(c)) return std::nullopt;
    if (c != '.') continue;
    for (; hidden > 0; --hidden) {
      if (!add(-static_cast<int>(hidden))) return std::nullopt;
    }
  }
  return hidden == 0 ? std::optional(sizes) : std::nullopt;
}

/// A size of 1 is repeated.
void merge(Sizes& all, const Sizes& some) {
  for (const auto& [label, size] : some) {
    double& known = all.emplace(label, size).first->second;
    if (known == 1) known = size;
  }
}

double product_of_sizes(const Sizes& sizes) {
  double product = 1;
  for (const auto& [label, size] : sizes) product *= size;
  return product;
}

/// Whether the result has a label: behind the arrow, or without one where a single operand has it.
bool is_in_result(int label, std::string_view text, std::span<const Sizes> operands) {
  if (label < 0) return true;  // under "..."
  const std::size_t arrow = text.find("->");
  if (arrow != std::string_view::npos)
    return text.find(static_cast<char>(label), arrow + 2) != std::string_view::npos;
  return std::count_if(operands.begin(), operands.end(),
                       [&](const Sizes& some) { return some.contains(label); }) == 1;
}

/// A multiply-add for every combination of indices of two operands, as of a matrix product; an
/// addition for every element of one.
std::optional<double> flops_einsum(const Key& key) {
  const auto products = products_of_einsum(key);
  return products ? std::optional(products->flops) : std::nullopt;
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
    if (!plain) return std::nullopt;
    if (i == 2) continue;
    const auto own = sizes_of_term(term, key.operand(i));
    if (!own) return std::nullopt;
    merge(sizes, *own);
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

std::optional<EinsumProducts> products_of_einsum(const Key& key) {
  const Value* equation = key.attribute("equation");
  if (equation == nullptr || equation->text() == nullptr) return std::nullopt;
  const std::string_view text = *equation->text();
  const auto terms = base::split(text.substr(0, text.find("->")), ',');
  if (terms.size() != key.operands.size() || terms.empty()) return std::nullopt;
  std::vector<Sizes> operands;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    auto sizes = sizes_of_term(terms[i], key.operand(i));
    if (!sizes) return std::nullopt;
    operands.push_back(std::move(*sizes));
  }
  if (operands.size() == 1) return EinsumProducts{.flops = product_of_sizes(operands[0])};
  EinsumProducts products;
  Sizes so_far = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const Sizes& next = operands[i];
    const auto is_kept = [&](int label) {
      return is_in_result(label, text, operands) ||
             std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(i) + 1, operands.end(),
                         [&](const Sizes& later) { return later.contains(label); });
    };
    Sizes both = so_far;
    merge(both, next);
    double multiplied = 1, calls = 1;
    bool is_summed_first[2] = {false, false};
    for (const auto& [label, size] : both) {
      const auto in_first = so_far.find(label);
      const auto in_next = next.find(label);
      const bool in_both = in_first != so_far.end() && in_next != next.end();
      const bool kept = is_kept(label);
      if (in_both || kept) multiplied *= size;
      if (!in_both && !kept) is_summed_first[in_first == so_far.end()] = true;
      // What one factor has once makes one product.
      if (in_both && kept && in_first->second > 1 && in_next->second > 1) calls *= size;
    }
    if (is_summed_first[0]) products.flops += product_of_sizes(so_far);
    if (is_summed_first[1]) products.flops += product_of_sizes(next);
    products.flops += 2 * multiplied;
    products.calls += calls;
    std::erase_if(both, [&](const auto& one) { return !is_kept(one.first); });
    so_far = std::move(both);
  }
  return products;
}

std::vector<OperatorInfo> einsum() {
  return {{.domain = "",
           .op = "Einsum",
           .flops = flops_einsum,
           .describe = describe_einsum,
           .contraction = contraction_of_einsum}};
}

}  // namespace oplat::ir::ops
