// SPDX-License-Identifier: Apache-2.0
/// Roofline: the best rates among the rows bound kernels that were not measured.
///
/// The problem: a kernel without a similar row still needs a time of the right order of magnitude.
/// Its operations and bytes are known from its key, so that time >= overhead + max(operations /
/// peak rate, bytes / peak bandwidth). The rates are those that rows reached, and the typical ratio
/// of rows to this bound is the answer, with their scatter as a wide spread. It is the last link of
/// the chain, and used only on request (--missing roofline).
#include "estimate/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stats.hpp"
#include "ir/moved_work.hpp"

namespace oplat::estimate {
namespace {

struct RooflinePoint {
  std::optional<double> flops;
  double bytes = 0;
  double ns = 0;
};

/// Nothing unless every size is known and something is moved. With the whole of its table, an
/// embedding of 2.24 GiB took 173 ms by the roofline and 14 us in truth, and a measured one would
/// raise the machine's rate beyond all others.
std::optional<RooflinePoint> count(const ir::Key& key, const ir::Catalogue& catalogue) {
  const ir::Work work = ir::moved_work(key, catalogue);
  if (!work.complete || !std::isfinite(work.bytes()) || work.bytes() <= 0) return std::nullopt;
  RooflinePoint point{work.flops, work.bytes(), 0};
  if (point.flops && (!std::isfinite(*point.flops) || *point.flops < 0)) point.flops.reset();
  return point;
}

double bound_ns(const Roofline& roofline, const RooflinePoint& point) {
  double ns = point.bytes / roofline.bytes_per_ns;
  if (point.flops && roofline.flops_per_ns)
    ns = std::max(ns, *point.flops / *roofline.flops_per_ns);
  return roofline.overhead_ns + ns;
}

class RooflineEstimator final : public Estimator {
 public:
  RooflineEstimator(const Roofline& roofline, const ir::Catalogue& catalogue)
      : roofline_(roofline), catalogue_(catalogue) {}

 private:
  std::string_view do_name() const override { return "roofline"; }
  Status do_estimate(std::span<const Query> queries,
                     std::span<std::optional<Estimate>> answers) const override {
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (answers[i]) continue;
      if (const auto key = ir::parse(queries[i].key))
        answers[i] = estimate_roofline(roofline_, *key, catalogue_);
    }
    return {};
  }

  const Roofline roofline_;
  const ir::Catalogue& catalogue_;
};

}  // namespace

std::optional<Roofline> fit_roofline(std::span<const Sample> samples,
                                     const ir::Catalogue& catalogue) {
  std::vector<RooflinePoint> points;
  for (const Sample& sample : samples) {
    const auto key = ir::parse(sample.key);
    if (!key) continue;
    auto point = count(*key, catalogue);
    if (!point) continue;
    point->ns = std::exp(sample.log_ns);
    if (!std::isfinite(point->ns) || point->ns <= 0) continue;
    points.push_back(*point);
  }
  if (points.empty()) return std::nullopt;

  Roofline roofline;
  roofline.rows = static_cast<std::int64_t>(points.size());
  roofline.overhead_ns = kMaxOverheadNs;
  for (const RooflinePoint& point : points) {
    roofline.overhead_ns = std::min(roofline.overhead_ns, point.ns);
    roofline.bytes_per_ns = std::max(roofline.bytes_per_ns, point.bytes / point.ns);
    if (point.flops && *point.flops > 0)
      roofline.flops_per_ns = std::max(roofline.flops_per_ns.value_or(0), *point.flops / point.ns);
  }
  std::vector<double> ratios;
  for (const RooflinePoint& point : points)
    ratios.push_back(std::log(point.ns / bound_ns(roofline, point)));
  const double middle = *base::median(ratios);
  double squares = 0;
  for (const double ratio : ratios) squares += std::pow(ratio - middle, 2);
  roofline.scale = std::exp(middle);
  roofline.sd_log = std::max(kRooflineSd, std::sqrt(squares / static_cast<double>(ratios.size())));
  return roofline;
}

std::optional<Estimate> estimate_roofline(const Roofline& roofline, const ir::Key& key,
                                          const ir::Catalogue& catalogue) {
  const auto point = count(key, catalogue);
  if (!point) return std::nullopt;
  const bool bytes_only = !point->flops || !roofline.flops_per_ns;
  Estimate answer;
  answer.median_ns = roofline.scale * bound_ns(roofline, *point);
  if (!std::isfinite(answer.median_ns)) return std::nullopt;
  answer.sd_log = bytes_only ? std::max(roofline.sd_log, kRooflineBytesOnlySd) : roofline.sd_log;
  answer.group = "physics";
  answer.source = Source::Roofline;
  answer.tier = "roofline";
  answer.why =
      fmt::format("roofline of {} rows{}", roofline.rows, bytes_only ? ", bytes only" : "");
  return answer;
}

std::unique_ptr<Estimator> make_roofline(std::span<const Sample> samples,
                                         const ir::Catalogue& catalogue) {
  const auto roofline = fit_roofline(samples, catalogue);
  if (!roofline) return nullptr;
  return std::make_unique<RooflineEstimator>(*roofline, catalogue);
}

}  // namespace oplat::estimate
