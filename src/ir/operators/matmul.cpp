// SPDX-License-Identifier: Apache-2.0
/// Matrix products: two operations for each of K terms of every result. Bias, alpha and beta,
/// activations and requantisation are not counted, as with convolutions.
#include "ir/operators/matmul.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

std::optional<double> products(const Key& key, std::optional<std::int64_t> inner) {
  const auto results = elements(key.result(0));
  if (!results || !inner) return std::nullopt;
  return 2 * *results * static_cast<double>(*inner);
}

/// A is [M, K], or [K, M] with transA.
std::optional<double> flops_gemm(const Key& key) {
  return products(key, dim(key.operand(0), integer(key, "transA").value_or(0) != 0 ? 0 : 1));
}

/// A is [..., M, K] or [K]. transA swaps the last two; with transBatchA the first dimension takes
/// the place of the last but one (the batch dimensions lie between).
std::optional<double> flops_matmul(const Key& key) {
  const TensorEntry* a = key.operand(0);
  if (rank(a) == 1 || integer(key, "transA").value_or(0) == 0) return products(key, dim(a, -1));
  return products(key, dim(a, integer(key, "transBatchA").value_or(0) != 0 ? 0 : -2));
}

/// Weights are packed, so the inner length is an attribute.
std::optional<double> flops_packed(const Key& key) { return products(key, integer(key, "K")); }

OperatorInfo entry(std::string_view domain, std::string_view op,
                   std::optional<double> (*flops)(const Key&),
                   std::vector<std::size_t> unprinted = {}) {
  return {.domain = domain,
          .op = op,
          .unprinted_operands = std::move(unprinted),
          .flops = flops,
          .describe = describe_product,
          .contraction = contraction_of_product};
}

}  // namespace

std::optional<Contraction> contraction_of_product(const Key& key) {
  const TensorEntry* a = key.operand(0);
  const TensorEntry* y = key.result(0);
  const auto results = elements(y);
  const auto inner = dim(a, -1);
  const auto columns = dim(y, -1);
  const bool transposed = integer(key, "transA").value_or(0) != 0;
  if (!results || !inner || !columns || transposed || *inner < 1 || *columns < 1)
    return std::nullopt;
  const double rows = *results / static_cast<double>(*columns);
  // Packed weights have a shape of their own.
  const bool packed = integer(key, "K").has_value();
  const auto rank_of_b = packed ? 2 : rank(key.operand(second_factor(key)));
  double groups = 1;
  if (rank_of_b && *rank_of_b > 2) {
    const auto own_rows = dim(y, -2);
    if (!own_rows || *own_rows < 1) return std::nullopt;
    groups = rows / static_cast<double>(*own_rows);
  }
  Contraction product;
  product.groups = groups;
  product.in_c = static_cast<double>(*inner);
  product.out_c = static_cast<double>(*columns);
  product.out_h = rows / groups;
  return product;
}

// Of the quantised ones, weights, bias and the zero points of the activations are not printed; that
// of the weights is, since 0 has kernels of its own.
std::vector<OperatorInfo> matmul() {
  return {
      entry("", "Gemm", flops_gemm),
      entry("", "MatMul", flops_matmul),
      entry("", "MatMulInteger", flops_matmul, {1, 2}),
      entry("", "QLinearMatMul", flops_matmul, {2, 3, 7}),
      entry(kContrib, "FusedGemm", flops_gemm),
      entry(kContrib, "QGemm", flops_gemm, {2, 3, 6, 8}),
      entry(kContrib, "FusedMatMul", flops_matmul),
      entry(kContrib, "FusedMatMulActivation", flops_matmul),
      entry(kContrib, "TransposeMatMul", flops_matmul),
      entry(kContrib, "GemmFastGelu", flops_matmul),
      entry(kContrib, "MatMulInteger16", flops_matmul, {1}),
      entry(kContrib, "MatMulIntegerToFloat", flops_matmul, {1, 4}),
      entry(kContrib, "DynamicQuantizeMatMul", flops_matmul, {1}),
      entry(kContrib, "MatMulNBits", flops_packed, {1, 3, 4}),
      entry(kContrib, "MatMulBnb4", flops_packed, {1}),
      entry(kContrib, "MatMulFpQ4", flops_matmul, {1}),
  };
}

}  // namespace oplat::ir::ops
