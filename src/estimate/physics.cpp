// SPDX-License-Identifier: Apache-2.0
/// Roofline of the rows: what the device was seen to achieve bounds what it was not yet asked.
#include "estimate/physics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/hash.hpp"
#include "base/stats.hpp"
#include "ir/work.hpp"

namespace oplat::estimate {
namespace {

struct RooflinePoint {
  std::optional<double> flops;
  double bytes = 0;
  double ns = 0;
};

/// Nothing unless every size is known and something is moved.
std::optional<RooflinePoint> count(const ir::Key& key, const ir::Catalogue& catalogue) {
  const ir::Work work = ir::work(key, catalogue);
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

constexpr std::string_view kMagic = "oplat.roofline";
constexpr std::uint32_t kFormat = 1;

/// Little-endian, whatever the machine.
void put(std::string& bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}
std::uint64_t get(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

class Physics final : public Estimator {
 public:
  explicit Physics(const ir::Catalogue& catalogue) : catalogue_(catalogue) {}

 private:
  std::string_view do_name() const override { return "physics"; }
  Status do_fit(std::span<const Sample> samples, const FitOptions&) override {
    roofline_ = fit_roofline(samples, catalogue_);
    if (!roofline_)
      return fail(Code::Refused,
                  "physics: none of {} rows has a time and a key whose sizes are all known",
                  samples.size());
    return {};
  }
  Status do_estimate(std::span<const Query> queries,
                     std::span<std::optional<Estimate>> answers) const override {
    if (!roofline_) return {};
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (answers[i]) continue;
      if (const auto key = ir::parse(queries[i].key))
        answers[i] = estimate_roofline(*roofline_, *key, catalogue_);
    }
    return {};
  }
  // magic, format, 7 numbers, hash of what stands before it.
  std::string do_save() const override {
    if (!roofline_) return {};
    std::string bytes(kMagic);
    put(bytes, kFormat);
    for (const double value : {roofline_->overhead_ns, roofline_->flops_per_ns.value_or(0.0),
                               roofline_->bytes_per_ns, roofline_->scale, roofline_->sd_log})
      put(bytes, std::bit_cast<std::uint64_t>(value));
    put(bytes, roofline_->flops_per_ns ? 1 : 0);
    put(bytes, static_cast<std::uint64_t>(roofline_->rows));
    put(bytes, base::hash64(bytes));
    return bytes;
  }
  Status do_load(std::string_view bytes) override {
    constexpr std::size_t kLength = kMagic.size() + 9 * 8;
    if (bytes.size() != kLength || !bytes.starts_with(kMagic))
      return fail(Code::Input, "roofline fit: {} bytes that are none; run oplat fit again",
                  bytes.size());
    if (get(bytes, kMagic.size()) != kFormat)
      return fail(Code::Input, "roofline fit: format {}, known is {}; run oplat fit again",
                  get(bytes, kMagic.size()), kFormat);
    if (get(bytes, kLength - 8) != base::hash64(bytes.substr(0, kLength - 8)))
      return fail(Code::Input,
                  "roofline fit: checksum does not fit its bytes; run oplat fit again");
    const auto number = [&](std::size_t i) {
      return std::bit_cast<double>(get(bytes, kMagic.size() + 8 * (1 + i)));
    };
    Roofline read{number(0), std::nullopt, number(2),
                  number(3), number(4),    static_cast<std::int64_t>(get(bytes, kLength - 16))};
    const bool with_flops = get(bytes, kLength - 24) != 0;
    if (with_flops) read.flops_per_ns = number(1);
    const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
    if (!positive(read.bytes_per_ns) || !positive(read.scale) || !std::isfinite(read.overhead_ns) ||
        read.overhead_ns < 0 || !positive(read.sd_log) ||
        (with_flops && !positive(*read.flops_per_ns)))
      return fail(Code::Input,
                  "roofline fit: a rate that is not a positive number; run oplat fit again");
    roofline_ = read;
    return {};
  }

  const ir::Catalogue& catalogue_;
  std::optional<Roofline> roofline_;
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
  roofline.sd_log = std::max(kPhysicsSd, std::sqrt(squares / static_cast<double>(ratios.size())));
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
  answer.sd_log = bytes_only ? std::max(roofline.sd_log, kPhysicsBytesOnlySd) : roofline.sd_log;
  answer.group = "physics";
  answer.source = Source::Physics;
  answer.tier = "roofline";
  answer.why =
      fmt::format("roofline of {} rows{}", roofline.rows, bytes_only ? ", bytes only" : "");
  return answer;
}

std::unique_ptr<Estimator> make_physics(const ir::Catalogue& catalogue) {
  return std::make_unique<Physics>(catalogue);
}

}  // namespace oplat::estimate
