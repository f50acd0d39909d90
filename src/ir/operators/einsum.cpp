// SPDX-License-Identifier: Apache-2.0
/// Einsum: products of two operands. Of more, the first two are multiplied, their result and the
/// third, and so on, as ONNX Runtime does.
#include "ir/operators/einsum.hpp"

#include <algorithm>
#include <map>
#include <set>
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

using Labels = std::set<int>;

/// The labels of a term; std::nullopt where it does not fit the operand or a size is unknown.
std::optional<Labels> add_term(std::string_view term, const TensorEntry* operand, Sizes& sizes) {
  const auto dimensions = rank(operand);
  if (!dimensions) return std::nullopt;
  const auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), is_letter));
  if (letters > *dimensions) return std::nullopt;
  std::size_t hidden = *dimensions - letters;
  int at = 0;
  Labels labels;
  const auto add = [&](int label) {
    const auto size = dim(operand, at++);
    if (!size) return false;
    labels.insert(label);
    auto [known, is_new] = sizes.emplace(label, static_cast<double>(*size));
    // A size of 1 is repeated.
    if (!is_new && known->second == 1) known->second = static_cast<double>(*size);
    return true;
  };
  for (const char c : term) {
    if (is_letter(c) && !add(c)) return std::nullopt;
    if (c != '.') continue;
    for (; hidden > 0; --hidden) {
      if (!add(-static_cast<int>(hidden))) return std::nullopt;
    }
  }
  return hidden == 0 ? std::optional(labels) : std::nullopt;
}

/// Labels that the result has: those behind the arrow; without one those of a single operand.
Labels labels_of_result(std::string_view text, std::span<const Labels> operands) {
  Labels kept;
  const std::size_t arrow = text.find("->");
  for (const Labels& labels : operands) {
    for (const int label : labels) {
      const bool hidden = label < 0;
      const auto holders = std::count_if(operands.begin(), operands.end(),
                                         [&](const Labels& some) { return some.contains(label); });
      const bool said = arrow == std::string_view::npos
                            ? holders == 1
                            : text.find(static_cast<char>(label), arrow + 2) != std::string::npos;
      if (hidden || said) kept.insert(label);
    }
  }
  return kept;
}

double product_of_sizes(const Labels& labels, const Sizes& sizes) {
  double product = 1;
  for (const int label : labels) product *= sizes.at(label);
  return product;
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

std::optional<EinsumProducts> products_of_einsum(const Key& key) {
  const Value* equation = key.attribute("equation");
  if (equation == nullptr || equation->text() == nullptr) return std::nullopt;
  const std::string_view text = *equation->text();
  const auto terms = base::split(text.substr(0, text.find("->")), ',');
  if (terms.size() != key.operands.size() || terms.empty()) return std::nullopt;
  Sizes sizes;
  std::vector<Labels> operands;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    auto labels = add_term(terms[i], key.operand(i), sizes);
    if (!labels) return std::nullopt;
    operands.push_back(std::move(*labels));
  }
  if (operands.size() == 1) return EinsumProducts{.flops = product_of_sizes(operands[0], sizes)};
  const Labels result = labels_of_result(text, operands);
  EinsumProducts products;
  Labels so_far = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const Labels& next = operands[i];
    const auto is_kept = [&](int label) {
      return result.contains(label) ||
             std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(i) + 1, operands.end(),
                         [&](const Labels& later) { return later.contains(label); });
    };
    Labels multiplied, calls, kept;
    for (const Labels* labels : {static_cast<const Labels*>(&so_far), &next}) {
      bool sums = false;
      for (const int label : *labels) {
        const bool in_both = so_far.contains(label) && next.contains(label);
        if (is_kept(label)) kept.insert(label);
        if (in_both && is_kept(label)) calls.insert(label);
        if (in_both || is_kept(label)) multiplied.insert(label);
        sums = sums || !(in_both || is_kept(label));
      }
      // What one factor alone has and nothing needs is summed before.
      if (sums) products.flops += product_of_sizes(*labels, sizes);
    }
    products.flops += 2 * product_of_sizes(multiplied, sizes);
    products.calls += product_of_sizes(calls, sizes);
    so_far = std::move(kept);
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
