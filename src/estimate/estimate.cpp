// SPDX-License-Identifier: Apache-2.0
/// Names of sources, and what every estimator checks before it answers.
#include "estimate/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "base/interval.hpp"
#include "estimate/estimator.hpp"

namespace oplat::estimate {

base::Interval bounds_around(double median, double sd_log, double quantile, double floor) {
  const double factor = std::exp(quantile * sd_log);
  return {std::max(median / factor, std::min(floor, median)), median * factor};
}

std::string_view name(Source source) {
  switch (source) {
    case Source::Measured:
      return "measured";
    case Source::Interpolated:
      return "interpolated";
    case Source::Learned:
      return "learned";
    case Source::Roofline:
      return "roofline";
    case Source::Free:
      return "free";
    case Source::Missing:
      return "missing";
  }
  return "missing";
}

std::string_view document_name(Source source) {
  return source == Source::Roofline ? "physics" : name(source);
}

Status Estimator::estimate(std::span<const Query> queries,
                           std::span<std::optional<Estimate>> answers) const {
  if (queries.size() != answers.size())
    return fail(Code::Internal, "estimator {}: {} queries but room for {} answers", name(),
                queries.size(), answers.size());
  return do_estimate(queries, answers);
}

}  // namespace oplat::estimate
