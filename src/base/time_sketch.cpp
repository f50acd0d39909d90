// SPDX-License-Identifier: Apache-2.0
#include "base/time_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/text.hpp"

namespace oplat::base {
namespace {

/// Bin i holds times above kGrowth^(i-1) ns and up to kGrowth^i ns; bin 0 all that are up to 1 ns.
constexpr double kGrowth = 1.002;
constexpr std::int32_t kMaxBin = 40'000;  // beyond 1e34 ns
constexpr std::int64_t kMaxCount = std::int64_t{1} << 52;
constexpr double kMaxNs = 1e18;  // thirty years

std::int32_t bin_of(double ns) {
  if (!(ns > 1)) return 0;
  static const double kPerBin = 1 / std::log(kGrowth);
  return static_cast<std::int32_t>(
      std::min(std::ceil(std::log(ns) * kPerBin), static_cast<double>(kMaxBin)));
}

/// As far, relatively, from one bound of the bin as from the other.
double centre_of(std::int32_t bin) {
  return bin == 0 ? 1 : 2 * std::pow(kGrowth, bin) / (kGrowth + 1);
}

/// Counts beyond what any machine reaches stay at the bound, rather than overflow.
std::int64_t added(std::int64_t a, std::int64_t b) { return a > kMaxCount - b ? kMaxCount : a + b; }

/// Whether a sum may be of `count` times from `min` to `max`. Adding rounds, each time a little.
bool may_be_sum(double sum, double min, double max, std::int64_t count) {
  const double times = static_cast<double>(count);
  const double slack = std::max(1e-9, times * std::numeric_limits<double>::epsilon());
  return sum >= min * times * (1 - slack) && sum <= max * times * (1 + slack);
}

}  // namespace

void TimeSketch::add(double ns) {
  min_ = count_ == 0 ? ns : std::min(min_, ns);
  max_ = count_ == 0 ? ns : std::max(max_, ns);
  sum_ += ns;
  ++count_;
  ++bins_[bin_of(ns)];
}

void TimeSketch::add(std::span<const double> ns) {
  for (const double one : ns) add(one);
}

void TimeSketch::merge(const TimeSketch& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  sum_ += other.sum_;
  count_ = added(count_, other.count_);
  for (const auto& [bin, count] : other.bins_) bins_[bin] = added(bins_[bin], count);
}

std::optional<double> TimeSketch::mean() const {
  if (count_ == 0) return std::nullopt;
  // A sum of equal times may miss them by its last digit.
  return std::clamp(sum_ / static_cast<double>(count_), min_, max_);
}

std::optional<double> TimeSketch::max() const {
  return count_ == 0 ? std::nullopt : std::optional(max_);
}

std::optional<double> TimeSketch::quantile(double p) const {
  if (count_ == 0) return std::nullopt;
  const double wanted = std::ceil(std::clamp(p, 0.0, 1.0) * static_cast<double>(count_));
  const auto rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
  if (rank == 1) return min_;
  if (rank >= count_) return max_;
  std::int64_t seen = 0;
  for (const auto& [bin, count] : bins_) {
    seen += count;
    if (seen >= rank) return std::clamp(centre_of(bin), min_, max_);
  }
  return max_;
}

std::string TimeSketch::text() const {
  std::string text = fmt::format("{} {} {}", sum_, min_, max_);
  for (const auto& [bin, count] : bins_) text += fmt::format(" {}:{}", bin, count);
  return text;
}

Result<TimeSketch> TimeSketch::parse(std::string_view text) {
  const auto wrong = [](std::string_view what) {
    return fail(Code::Input, "times of inferences: {}", what);
  };
  const std::vector<std::string> words = split(text, ' ');
  if (words.size() < 3) return wrong("expected SUM MIN MAX BIN:COUNT ...");
  TimeSketch sketch;
  double* const ends[] = {&sketch.sum_, &sketch.min_, &sketch.max_};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = parse_double(words[i]);
    if (!number || !std::isfinite(*number) || *number < 0)
      return wrong("a number is not finite, or negative");
    *ends[i] = *number;
  }
  std::int64_t last = -1;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return wrong("a bin has no count");
    const auto bin = parse_int(word.substr(0, colon));
    const auto count = parse_int(word.substr(colon + 1));
    if (!bin || *bin <= last || *bin > kMaxBin) return wrong("the bins are not in rising order");
    if (!count || *count < 1 || *count > kMaxCount || sketch.count_ > kMaxCount - *count)
      return wrong("the count of a bin is out of range");
    last = *bin;
    sketch.bins_.emplace_hint(sketch.bins_.end(), static_cast<std::int32_t>(*bin), *count);
    sketch.count_ += *count;
  }
  if (sketch.count_ == 0) return wrong("they hold no times");
  // A time at the bound of two bins may be in either: machines round logarithms differently.
  const auto is_in = [](double ns, std::int32_t bin) { return std::abs(bin_of(ns) - bin) <= 1; };
  const bool in_order = sketch.min_ <= sketch.max_ &&
                        is_in(sketch.min_, sketch.bins_.begin()->first) &&
                        is_in(sketch.max_, sketch.bins_.rbegin()->first);
  if (!in_order) return wrong("the minimum or the maximum is outside of the bins");
  if (sketch.max_ > kMaxNs) return wrong("a time is longer than thirty years");
  if (!may_be_sum(sketch.sum_, sketch.min_, sketch.max_, sketch.count_))
    return wrong("the sum is not one of times from the minimum to the maximum");
  return sketch;
}

}  // namespace oplat::base
