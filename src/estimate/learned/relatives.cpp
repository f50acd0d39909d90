// SPDX-License-Identifier: Apache-2.0
/// Nearest rows of other kinds, and how far they err.
#include "estimate/learned/relatives.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bytes.hpp"
#include "base/stats.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kMinRows = 30;
/// So many of the nearest are weighed.
constexpr std::size_t kNearest = 6;
/// Square of a distance at which a row weighs half: sizes that differ by a factor of 1.6.
constexpr double kNear = 0.25;
/// Sizes of a few bytes are alike.
constexpr double kMinSize = 64;
/// Of a normal distribution's magnitudes nine in ten are below this.
constexpr double kQuantile90 = 1.6448536269514722;
constexpr double kMinSd = 0.1;
/// Where too few could be asked to learn from.
constexpr std::array<double, 2> kGuessedSd = {0.5, 1.0};
constexpr std::size_t kMinAsked = 10;
/// Asking every row from every other costs the square of their number.
constexpr std::size_t kMaxAsked = 600;
constexpr std::size_t kMaxSites = 20'000;

/// What an operator computes, whatever domain it is of and what is fused to it: "Conv" of
/// "com.microsoft:FusedConv" and "com.microsoft.nchwc:Conv".
std::string_view base_of(std::string_view op) {
  if (const std::size_t colon = op.rfind(':'); colon != std::string_view::npos)
    op.remove_prefix(colon + 1);
  for (const std::string_view prefix : {"QLinear", "NhwcFused", "Nhwc", "Fused"}) {
    if (op.size() > prefix.size() && op.starts_with(prefix)) {
      op.remove_prefix(prefix.size());
      break;
    }
  }
  return op;
}

}  // namespace

Relatives::Sizes Relatives::sizes_of(const ir::Work& work) {
  const auto log = [](double size) { return static_cast<float>(std::log(size + kMinSize)); };
  return {log(work.flops.value_or(0)), log(work.bytes_in), log(work.bytes_weights),
          log(work.bytes_out), log(work.steps)};
}

ir::Work Relatives::work_of(const Sizes& sizes) {
  const auto size = [](float log) {
    return std::max(0.0, std::exp(static_cast<double>(log)) - kMinSize);
  };
  ir::Work work;
  work.flops = size(sizes[0]);
  work.bytes_in = size(sizes[1]);
  work.bytes_weights = size(sizes[2]);
  work.bytes_out = size(sizes[3]);
  work.steps = size(sizes[4]);
  return work;
}

double Relatives::bound_without_steps(ir::Work work) const {
  work.steps = 0;
  return machine_.bound_ns(work);
}

bool Relatives::is_slow(const ir::Work& work) const {
  return work.steps * kStepNs > bound_without_steps(work);
}

template <class Counts>
std::optional<Relatives::Guess> Relatives::guess(const ir::Work& work, Counts counts) const {
  const Sizes sizes = sizes_of(work);
  const double log_bound = std::log(machine_.bound_ns(work));
  const bool slow = is_slow(work);
  const auto alike =
      nearest(sizes, [&](const Site& site) { return site.slow == slow && counts(site); });
  if (alike) return Guess{log_bound + alike->log_ns, alike->rows};
  const auto other = nearest(sizes, counts);
  if (!other) return std::nullopt;
  if (!slow) return Guess{log_bound + other->log_ns, other->rows};
  // They know what is computed and moved; steps are ns already.
  const double rest = std::exp(other->log_ns) * bound_without_steps(work);
  return Guess{std::log(rest + work.steps * kStepNs), other->rows};
}

template <class Counts>
std::optional<Relatives::Guess> Relatives::nearest(const Sizes& sizes, Counts counts) const {
  std::vector<std::pair<double, double>> near;  // squared distance, u
  for (const Site& site : sites_) {
    if (!counts(site)) continue;
    double distance = 0;
    for (std::size_t i = 0; i < kSizes; ++i) {
      const double difference = static_cast<double>(sizes[i] - site.sizes[i]);
      distance += difference * difference;
    }
    near.emplace_back(distance, static_cast<double>(site.u));
  }
  if (near.empty()) return std::nullopt;
  const std::size_t count = std::min(kNearest, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = 1 / (kNear + near[i].first);
    sum += weight * near[i].second;
    weights += weight;
  }
  return Guess{sum / weights, count};
}

template <class Counts>
std::optional<Relatives::Guess> Relatives::of_slow(const ir::Work& work, Counts counts) const {
  std::vector<double> all;
  for (const Site& site : sites_) {
    if (site.slow && counts(site)) all.push_back(static_cast<double>(site.u));
  }
  if (all.size() < kMinAsked) return std::nullopt;
  return Guess{std::log(machine_.bound_ns(work)) + base::median(all).value_or(0), all.size()};
}

std::optional<Relatives> Relatives::learn(std::span<const Row> rows, const Machine& machine) {
  Relatives relatives;
  relatives.machine_ = machine;
  std::map<std::string_view, std::uint32_t> ops;
  std::map<std::string_view, std::uint32_t> slices;
  for (const Row& row : rows) {
    const ir::Work& work = row.description->work;
    const double log_bound = std::log(machine.bound_ns(work));
    if (!std::isfinite(log_bound) || !std::isfinite(row.log_ns)) continue;
    if (relatives.sites_.size() == kMaxSites) break;
    Site site;
    const auto [op, added] = ops.emplace(row.op, static_cast<std::uint32_t>(ops.size()));
    if (added) relatives.ops_.emplace_back(row.op);
    site.op = op->second;
    site.slice = slices.emplace(row.description->slice, static_cast<std::uint32_t>(slices.size()))
                     .first->second;
    site.state = static_cast<std::uint8_t>(row.description->state);
    site.sizes = sizes_of(work);
    site.slow = relatives.is_slow(work);
    site.u = static_cast<float>(row.log_ns - log_bound);
    relatives.sites_.push_back(site);
  }
  if (relatives.sites_.size() < kMinRows) return std::nullopt;
  relatives.learn_spreads();
  return relatives;
}

/// Each asked row is left out with its slice, or with its operator; of many rows every n-th is
/// asked. The spread is that with which nine in ten lie inside the 90 % interval.
void Relatives::learn_spreads() {
  const std::size_t step = sites_.size() / kMaxAsked + 1;
  std::array<std::vector<double>, 2> errors;
  for (std::size_t i = 0; i < sites_.size(); i += step) {
    const Site& asked = sites_[i];
    const ir::Work work = work_of(asked.sizes);
    const double log_ns = std::log(machine_.bound_ns(work)) + static_cast<double>(asked.u);
    const auto of_operator = guess(work, [&](const Site& site) {
      return site.op == asked.op && site.slice != asked.slice && site.state == asked.state;
    });
    if (of_operator) errors[0].push_back(std::abs(of_operator->log_ns - log_ns));
    const auto is_other = [&](const Site& site) { return site.op != asked.op; };
    auto of_any = asked.slow ? of_slow(work, is_other) : std::nullopt;
    if (!of_any) {
      of_any = guess(work,
                     [&](const Site& site) { return is_other(site) && site.state == asked.state; });
    }
    if (of_any) errors[1].push_back(std::abs(of_any->log_ns - log_ns));
  }
  for (std::size_t kin = 0; kin < sd_log_.size(); ++kin) {
    std::vector<double>& of_kin = errors[kin];
    if (of_kin.size() < kMinAsked) {
      sd_log_[kin] = kGuessedSd[kin];
      continue;
    }
    const auto at = of_kin.begin() + static_cast<std::ptrdiff_t>((of_kin.size() * 9) / 10);
    std::nth_element(of_kin.begin(), at, of_kin.end());
    sd_log_[kin] = std::max(kMinSd, *at / kQuantile90);
  }
}

std::optional<Relatives::Answer> Relatives::answer(std::string_view op, const ir::Work& work,
                                                   std::size_t state) const {
  if (!work.complete || !std::isfinite(std::log(machine_.bound_ns(work)))) return std::nullopt;
  const auto number = std::find(ops_.begin(), ops_.end(), op) - ops_.begin();
  const auto is_op = [&](const Site& site) {
    return site.op == static_cast<std::uint32_t>(number);
  };
  const auto in_state = [&](const Site& site) { return site.state == state; };
  auto found = guess(work, [&](const Site& site) { return is_op(site) && in_state(site); });
  if (!found) found = guess(work, is_op);
  const Kin kin = found ? Kin::Operator : Kin::Any;
  if (!found) {
    const std::string_view base = base_of(op);
    std::vector<bool> alike;
    for (const std::string& one : ops_) alike.push_back(base_of(one) == base);
    found = guess(work, [&](const Site& site) { return alike[site.op]; });
  }
  // Steps are ns, which of other operators only the machine changes.
  if (!found && is_slow(work)) found = of_slow(work, [](const Site&) { return true; });
  if (!found) found = guess(work, in_state);
  if (!found) found = guess(work, [](const Site&) { return true; });
  if (!found) return std::nullopt;
  return Answer{found->log_ns, sd_log_[static_cast<std::size_t>(kin)], kin, found->rows};
}

std::string Relatives::save() const {
  base::ByteWriter writer;
  writer.f64(machine_.overhead_ns);
  writer.f64(machine_.flops_per_ns);
  writer.f64(machine_.bytes_per_ns);
  for (const double sd : sd_log_) writer.f64(sd);
  writer.u64(ops_.size());
  for (const std::string& op : ops_) writer.text(op);
  writer.u64(sites_.size());
  for (const Site& site : sites_) {
    writer.u32(site.op);
    writer.u32(site.state);
    for (const float size : site.sizes) writer.f32(size);
    writer.f32(site.u);
  }
  return writer.take();
}

Result<Relatives> Relatives::load(std::string_view bytes) {
  const auto broken = [] {
    return fail(Code::Input, "fit of relatives: is damaged; run oplat fit again");
  };
  base::ByteReader reader(bytes);
  Relatives relatives;
  for (double* number :
       {&relatives.machine_.overhead_ns, &relatives.machine_.flops_per_ns,
        &relatives.machine_.bytes_per_ns, &relatives.sd_log_[0], &relatives.sd_log_[1]}) {
    *number = reader.f64();
    if (!(*number > 0) || !std::isfinite(*number)) return broken();
  }
  const std::size_t ops = reader.count(8);
  for (std::size_t i = 0; i < ops; ++i) relatives.ops_.emplace_back(reader.text());
  const std::size_t sites = reader.count(4 * (3 + kSizes));
  for (std::size_t i = 0; i < sites; ++i) {
    Site site;
    site.op = reader.u32();
    const std::uint32_t state = reader.u32();
    for (float& size : site.sizes) size = reader.f32();
    site.u = reader.f32();
    if (site.op >= ops || state > 2 || !std::isfinite(site.u) ||
        !std::all_of(site.sizes.begin(), site.sizes.end(),
                     [](float size) { return std::isfinite(size); }))
      return broken();
    site.state = static_cast<std::uint8_t>(state);
    site.slow = relatives.is_slow(work_of(site.sizes));
    relatives.sites_.push_back(site);
  }
  if (!reader.done()) return broken();
  return relatives;
}

}  // namespace oplat::estimate
