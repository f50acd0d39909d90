// SPDX-License-Identifier: Apache-2.0
#include "predict/coefficients.hpp"

#include <algorithm>

namespace oplat::predict {

double CoefficientCovariance::variance_ns2(const SumParts& sum) const {
  const UnknownRow x = row_of(sum);
  double variance = 0;
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t j = 0; j < i; ++j) variance += 2 * x[i] * x[j] * at(i, j);
    variance += x[i] * x[i] * at(i, i);
  }
  return std::max(0.0, variance);
}

CoefficientCovariance CoefficientPrior::covariance() const {
  CoefficientCovariance covariance;
  for (std::size_t i = 0; i < kUnknowns; ++i) covariance.at(i, i) = sd[i] * sd[i];
  return covariance;
}

}  // namespace oplat::predict
