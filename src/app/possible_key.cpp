// SPDX-License-Identifier: Apache-2.0
/// An estimate is a sum of rates times sizes, so sizes that contradict each other get a time like
/// any others. The runtimes refuse such kernels; who types a key by hand learns it here.
#include "app/possible_key.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace oplat::app {
namespace {

using ir::Dim;

constexpr std::string_view kContribDomain = "com.microsoft";
constexpr std::string_view kBlockedDomain = "com.microsoft.nchwc";

bool contradict(Dim a, Dim b) { return a && b && *a != *b; }

template <class... Args>
Status impossible(const ir::Key& key, fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::Usage, "{}: {}", base::printable(key.op),
              fmt::format(format, std::forward<Args>(args)...));
}

/// Dimensions of a tensor that says them all or some; nullptr where it says nothing.
const std::vector<Dim>* dims_of_entry(const ir::TensorEntry* entry) {
  return entry != nullptr && entry->shape.ranked ? &entry->shape.dims : nullptr;
}

std::int64_t integer_of(const ir::Key& key, std::string_view name, std::int64_t otherwise) {
  const ir::Value* value = key.attribute(name);
  return value != nullptr && value->integer() != nullptr ? *value->integer() : otherwise;
}

/// Steps, spaces and groups that are below 1.
Status check_windows(const ir::Key& key) {
  if (integer_of(key, "group", 1) < 1)
    return impossible(key, "group is {}; expected 1 or more", integer_of(key, "group", 1));
  for (const std::string_view name : {"strides", "dilations", "kernel_shape"}) {
    const ir::Value* value = key.attribute(name);
    if (value == nullptr || value->list() == nullptr) continue;
    for (const ir::Value& one : *value->list()) {
      if (one.integer() == nullptr || *one.integer() >= 1) continue;
      return impossible(key, "{} holds {}; expected 1 or more", name, *one.integer());
    }
  }
  return {};
}

/// Operands of a product or convolution by their places: those of eight bits have scales between
/// them.
struct Factors {
  std::size_t a = 0;
  std::size_t b = 1;
};

/// Whether dimension `at` of the result is what the operands make.
Status check_result(const ir::Key& key, std::size_t at, Dim wanted, std::string_view what) {
  const std::vector<Dim>* result = dims_of_entry(key.result(0));
  if (result == nullptr || at >= result->size() || !contradict((*result)[at], wanted)) return {};
  return impossible(key, "the result has {} {}, its operands make {}", *(*result)[at], what,
                    *wanted);
}

Status check_convolution(const ir::Key& key, const Factors& at, bool transposed) {
  const std::vector<Dim>* x = dims_of_entry(key.operand(at.a));
  const std::vector<Dim>* w = dims_of_entry(key.operand(at.b));
  if (x == nullptr || w == nullptr) return {};
  if (x->size() != w->size() || x->size() < 3)
    return impossible(key,
                      "the image has {} dimensions and the weights have {}; expected as many, "
                      "3 or more",
                      x->size(), w->size());
  const std::int64_t group = integer_of(key, "group", 1);
  const Dim channels = (*x)[1], first = (*w)[0], second = (*w)[1];
  // Not known, too, where no number holds it.
  const Dim grouped = ir::elements_of(std::array{second, Dim(group)});
  const Dim wanted = transposed ? first : grouped;
  if (contradict(channels, wanted))
    return impossible(key, "the image has {} channels, but the weights are for {}{}", *channels,
                      *wanted, transposed || group == 1 ? "" : fmt::format(" in {} groups", group));
  if (first && *first % group != 0)
    return impossible(key, "{} filters cannot be in {} groups", *first, group);
  if (const ir::Value* given = key.attribute("kernel_shape");
      given != nullptr && given->list() != nullptr) {
    const ir::List& kernel = *given->list();
    bool same = kernel.size() + 2 == w->size();
    for (std::size_t i = 0; same && i < kernel.size(); ++i)
      same = kernel[i].integer() == nullptr || !contradict(*kernel[i].integer(), (*w)[i + 2]);
    if (!same) return impossible(key, "kernel_shape is not that of the weights");
  }
  OPLAT_CHECK(check_result(key, 0, (*x)[0], "images"));
  return check_result(key, 1, transposed ? grouped : first, "channels");
}

Status check_gemm(const ir::Key& key, const Factors& at) {
  const std::vector<Dim>* a = dims_of_entry(key.operand(at.a));
  const std::vector<Dim>* b = dims_of_entry(key.operand(at.b));
  if (a == nullptr || b == nullptr) return {};
  if (a->size() != 2 || b->size() != 2)
    return impossible(key, "operands of {} and {} dimensions; expected 2", a->size(), b->size());
  const std::size_t of_a = integer_of(key, "transA", 0) == 0 ? 1 : 0;
  const std::size_t of_b = integer_of(key, "transB", 0) == 0 ? 0 : 1;
  if (contradict((*a)[of_a], (*b)[of_b]))
    return impossible(key, "the inner dimensions are {} and {}; expected the same", *(*a)[of_a],
                      *(*b)[of_b]);
  OPLAT_CHECK(check_result(key, 0, (*a)[1 - of_a], "rows"));
  return check_result(key, 1, (*b)[1 - of_b], "columns");
}

/// Matrices of the last two dimensions; those before are broadcast. A vector is a row on the left
/// and a column on the right.
Status check_matmul(const ir::Key& key, const Factors& at) {
  const std::vector<Dim>* a = dims_of_entry(key.operand(at.a));
  const std::vector<Dim>* b = dims_of_entry(key.operand(at.b));
  if (a == nullptr || b == nullptr) return {};
  if (a->empty() || b->empty()) return impossible(key, "an operand is a number, not a matrix");
  const bool turned_a = integer_of(key, "transA", 0) != 0 && a->size() > 1;
  const bool turned_b = integer_of(key, "transB", 0) != 0 && b->size() > 1;
  const Dim inner_a = (*a)[a->size() - (turned_a ? 2 : 1)];
  const Dim inner_b = b->size() == 1 ? (*b)[0] : (*b)[b->size() - (turned_b ? 1 : 2)];
  if (contradict(inner_a, inner_b))
    return impossible(key, "the inner dimensions are {} and {}; expected the same", *inner_a,
                      *inner_b);
  for (std::size_t i = 3; i <= std::min(a->size(), b->size()); ++i) {
    const Dim x = (*a)[a->size() - i], y = (*b)[b->size() - i];
    if (contradict(x, y) && *x != 1 && *y != 1)
      return impossible(key, "batches of {} and {} matrices; expected as many, or 1", *x, *y);
  }
  const std::vector<Dim>* result = dims_of_entry(key.result(0));
  if (a->size() < 2 || b->size() < 2 || result == nullptr) return {};
  if (result->size() != std::max(a->size(), b->size()))
    return impossible(key, "the result has {} dimensions, its operands make {}", result->size(),
                      std::max(a->size(), b->size()));
  OPLAT_CHECK(check_result(key, result->size() - 2, (*a)[a->size() - (turned_a ? 1 : 2)], "rows"));
  return check_result(key, result->size() - 1, (*b)[b->size() - (turned_b ? 2 : 1)], "columns");
}

struct CheckedOperator {
  std::string_view op;
  Status (*check)(const ir::Key&, const Factors&);
  Factors at = {};
};
Status check_plain_convolution(const ir::Key& key, const Factors& at) {
  return check_convolution(key, at, false);
}
Status check_transposed_convolution(const ir::Key& key, const Factors& at) {
  return check_convolution(key, at, true);
}
constexpr std::array kCheckedOperators = {
    CheckedOperator{"Conv", check_plain_convolution},
    CheckedOperator{"FusedConv", check_plain_convolution},
    CheckedOperator{"ConvInteger", check_plain_convolution},
    CheckedOperator{"QLinearConv", check_plain_convolution, {0, 3}},
    CheckedOperator{"ConvTranspose", check_transposed_convolution},
    CheckedOperator{"Gemm", check_gemm},
    CheckedOperator{"FusedGemm", check_gemm},
    CheckedOperator{"QGemm", check_gemm, {0, 3}},
    CheckedOperator{"MatMul", check_matmul},
    CheckedOperator{"FusedMatMul", check_matmul},
    CheckedOperator{"MatMulInteger", check_matmul},
    CheckedOperator{"MatMulIntegerToFloat", check_matmul},
    CheckedOperator{"QLinearMatMul", check_matmul, {0, 3}}};

}  // namespace

Status check_possible(const ir::Key& key) {
  if (!key.domain.empty() && key.domain != kContribDomain && key.domain != kBlockedDomain)
    return {};
  OPLAT_CHECK(check_windows(key));
  // Channels of the blocked layout are filled up; others have them last, or batches in between.
  if (key.domain == kBlockedDomain || integer_of(key, "channels_last", 0) != 0 ||
      integer_of(key, "transBatchA", 0) != 0 || integer_of(key, "transBatchB", 0) != 0)
    return {};
  const auto* const found =
      std::find_if(kCheckedOperators.begin(), kCheckedOperators.end(),
                   [&](const CheckedOperator& one) { return one.op == key.op; });
  return found == kCheckedOperators.end() ? Status() : found->check(key, found->at);
}

}  // namespace oplat::app
