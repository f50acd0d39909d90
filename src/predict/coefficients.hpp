// SPDX-License-Identifier: Apache-2.0
/// The coefficients of a composition: what is known of them before a model of the machine was
/// measured, and how unsure they are.
#pragma once

#include <array>
#include <cstddef>

namespace oplat::predict {

/// What c2 is of. From LeftBeyondRow on, each counts what the one before it does.
enum class CountedResults {
  All,            ///< all bytes of results (docs/adr/0025)
  Left,           ///< those that caches lose (docs/adr/0088)
  LeftBeyondRow,  ///< those that caches lose in the model and not in the row (docs/adr/0090)
  WithWide8Bits,  ///< the same, elements of 8 bits as if they had 32 (docs/adr/0092)
  WithScratch,    ///< the same, and what kernels take for themselves (docs/adr/0093)
  WithInputs,     ///< the same, and what the model is given, but not what a branch hands on
                  ///< (docs/adr/0094)
  AmongThreads,   ///< the same, and of several threads what stays near a core (docs/adr/0097)
  ByReaders       ///< the same, of what stays near a core as far as who reads it waits for it
                  ///< (docs/adr/0101)
};
inline constexpr CountedResults kCountedNow = CountedResults::ByReaders;

/// What a model multiplies the coefficients with: one call, executed kernels, bytes of their
/// results that caches lose (KernelPrediction::evicted_bytes), and the sum of kernel times in ns,
/// with that of kernels with 8-bit tensors in it.
struct SumParts {
  double calls = 1;
  double kernels = 0;
  double evicted_bytes = 0;
  double ns = 0;
  double int8_ns = 0;
  double evicted_sd_bytes = 0;  ///< of evicted_bytes, by where caches end
  double reuse_bytes = 0;       ///< of the model; see Exposure
  double touched_bytes = 0;     ///< of these kernels; see Exposure
};

/// Coefficients of latency = c0 + c1 n + c2 * evicted bytes + scale * sum, with a scale of their
/// own for kernels with 8-bit tensors.
struct Coefficients {
  double c0_ns = 0;
  double c1_ns = 0;
  double c2_ns_per_byte = 0;
  double scale = 1;
  double scale_int8 = 1;
  [[nodiscard]] double kernels_ns(const SumParts& sum) const {
    return scale * (sum.ns - sum.int8_ns) + scale_int8 * sum.int8_ns;
  }
  [[nodiscard]] double predict(const SumParts& sum) const {
    return c0_ns * sum.calls + c1_ns * sum.kernels + c2_ns_per_byte * sum.evicted_bytes +
           kernels_ns(sum);
  }
};

/// The unknowns of a fit: c0, c1, c2, scale, and what scale_int8 is above scale.
enum Unknown : std::size_t { kC0, kC1, kC2, kScale, kScaleInt8, kUnknowns };
using UnknownRow = std::array<double, kUnknowns>;
inline UnknownRow row_of(const SumParts& sum) {
  return {sum.calls, sum.kernels, sum.evicted_bytes, sum.ns, sum.int8_ns};
}

/// A model takes at least this share of its kernels' sum, whatever c1 says.
inline constexpr double kMinShareOfKernels = 0.1;

/// Covariance of the unknowns, in ns^2 and so on: the lower triangle, row after row.
struct CoefficientCovariance {
  std::array<double, kUnknowns*(kUnknowns + 1) / 2> lower{};
  static constexpr std::size_t place(std::size_t i, std::size_t j) {
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
  }
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return lower[place(i, j)]; }
  double& at(std::size_t i, std::size_t j) { return lower[place(i, j)]; }
  /// Of the latency of a model, in ns^2; 0 at least.
  [[nodiscard]] double variance_ns2(const SumParts& sum) const;
  friend bool operator==(const CoefficientCovariance&, const CoefficientCovariance&) = default;
};

/// What is known before whole models are measured. In data/compositions, five machines and
/// settings, fits of all networks of one found (docs/adr/0052): c2 0.0001 to 0.016 ns a byte, scale
/// 1.00 to 1.01, scale_int8 0 to 0.045 above it. c1 is what networks of a few tens of us say
/// (docs/adr/0097). Runtimes whose networks miss more of the sums have wider ones (SumSpread).
struct CoefficientPrior {
  Coefficients mean;
  UnknownRow sd{};  ///< of each unknown
  /// Spread of a single model around its composition, relative, and how well that is known: the
  /// standard deviation of its logarithm.
  double sd_log = 0.05;
  double sd_log_doubt = 0.5;
  [[nodiscard]] CoefficientCovariance covariance() const;
};

}  // namespace oplat::predict
