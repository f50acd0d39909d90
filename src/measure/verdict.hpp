// SPDX-License-Identifier: Apache-2.0
/// Whether two measurements of one thing differ by more than their noise (docs/guide/measuring.md).
#pragma once

#include <optional>

#include "table/records.hpp"

namespace oplat::measure {

enum class Verdict {
  Same,     ///< the interval of the ratio holds 1, and is narrow enough to say so
  Slower,   ///< all of it lies above 1
  Faster,   ///< all of it lies below 1
  Unclear,  ///< it holds 1 but is wider than kWidestSame
};
/// "same", "slower", "faster", "unclear".
const char* name(Verdict verdict);

struct Comparison {
  double ratio = 1;  ///< after / before
  double low = 1;    ///< its confidence interval
  double high = 1;
  Verdict verdict = Verdict::Unclear;
};

/// Level of the interval of a ratio: with it two measurements of one thing are told apart by
/// mistake in two or three of a hundred cases (a median is noisier than the interval's own sd
/// says), and a difference of three half-widths of a row's own interval is found in nine of ten:
/// tests/unit/measure/harness_test.cpp.
inline constexpr double kComparisonLevel = 0.99;
/// Half-width (of the logarithm) above which an interval that holds 1 says nothing: the ratio could
/// be 1.25 as well.
inline constexpr double kWidestSame = 0.2231;

/// The ratio after / before with its interval on the scale of logarithms: standard errors of both
/// rows add in quadrature (each from its own interval, or from the spread of its blocks where that
/// is larger), and Student's quantile has the degrees of freedom of Welch and Satterthwaite.
/// std::nullopt if a row holds no usable numbers (a time
/// <= 0, an interval upside down, no blocks).
std::optional<Comparison> compare(const table::Timing& before, const table::Timing& after,
                                  double level = kComparisonLevel);

}  // namespace oplat::measure
