// SPDX-License-Identifier: Apache-2.0
/// Bands of duration, each with the 90th percentile of its errors.
#include "estimate/row_spread.hpp"

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"
#include "estimate/estimate.hpp"
#include "estimate/learned/calibration.hpp"

namespace oplat::estimate {
namespace {

/// Fewer say little of the largest of their errors.
constexpr std::size_t kMinPerBand = 100;
constexpr std::size_t kMaxBands = 8;
/// Times are told in steps, and rows that agree by chance are still single looks at a machine.
constexpr double kMinSd = 0.005;
constexpr std::size_t kBandBytes = 16;

}  // namespace

std::optional<RowSpread> RowSpread::learn(std::span<const LeftOutRow> rows) {
  if (rows.size() < kMinPerBand) return std::nullopt;
  std::vector<LeftOutRow> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const LeftOutRow& a, const LeftOutRow& b) { return a.log_ns < b.log_ns; });
  const std::size_t bands = std::clamp<std::size_t>(sorted.size() / kMinPerBand, 1, kMaxBands);
  RowSpread spread;
  for (std::size_t band = 0; band < bands; ++band) {
    const std::size_t begin = sorted.size() * band / bands;
    const std::size_t end = sorted.size() * (band + 1) / bands;
    std::vector<float> errors;
    for (std::size_t i = begin; i < end; ++i) errors.push_back(static_cast<float>(sorted[i].error));
    const double sd_log =
        static_cast<double>(spread_factor(errors, std::vector<float>(errors.size(), 1)));
    spread.bands_.push_back({sorted[end - 1].log_ns, std::clamp(sd_log, kMinSd, kMaxSd)});
  }
  return spread;
}

double RowSpread::at(double log_ns) const {
  const auto found = std::find_if(bands_.begin(), bands_.end(),
                                  [&](const Band& band) { return log_ns <= band.log_ns; });
  return found == bands_.end() ? bands_.back().sd_log : found->sd_log;
}

std::string RowSpread::save() const {
  base::ByteWriter writer;
  writer.u64(bands_.size());
  for (const Band& band : bands_) {
    writer.f64(band.log_ns);
    writer.f64(band.sd_log);
  }
  return writer.take();
}

std::optional<RowSpread> RowSpread::load(std::string_view bytes) {
  base::ByteReader reader(bytes);
  const std::size_t count = reader.count(kBandBytes);
  RowSpread spread;
  for (std::size_t i = 0; i < count; ++i) {
    const Band band{reader.f64(), reader.f64()};
    if (!std::isfinite(band.log_ns) || !(band.sd_log > 0) || !(band.sd_log <= kMaxSd))
      return std::nullopt;
    spread.bands_.push_back(band);
  }
  if (!reader.done() || spread.bands_.empty()) return std::nullopt;
  return spread;
}

}  // namespace oplat::estimate
