// SPDX-License-Identifier: Apache-2.0
/// A sparse model as bytes and back. Format 1, all numbers little-endian, text = u64 length and bytes, f = IEEE 754:
///   text "oplat.sparse"; u32 format;
///   machine: f64 overhead ns, f64 flops per ns, f64 bytes per ns, u32 tiles at once;
///   space: text, a slice a line: how many numbers, which of them are axes, a tab, the slice;
///   scaler: u64 columns; of each u32 feature of the shape, f32 least, f32 mean, f32 1 / deviation;
///   process (gaussian.cpp): u32 1 if all rows answer, 0 if the nearest; f64 mean of ln(time / bound), f64 factor
///     across slices, f64 noise; u64 columns; twice f64 variance and f64 weight of each column; u64 rows; of each u32 slice,
///     f64 value (all rows: its factor; nearest: its deviation from the mean), f32 of each column;
///   text forest of shapes; text forest that corrects the process; 3 f32 shares of process, trees, corrected process;
///   text forest of the spread, f32 its factor, f32 spread of the trees alone, f64 expected |error|;
///   u64 XXH3 of all before it.
#include <cmath>

#include "estimate/learned/bytes.hpp"
#include "estimate/learned/shape_features.hpp"
#include "estimate/learned/sparse_model.hpp"
#include "oplat/base/hash.hpp"

namespace oplat::estimate {
namespace {

constexpr std::string_view kMagic = "oplat.sparse";
constexpr std::uint32_t kFormat = 1;
constexpr std::uint32_t kMostProcessors = 100'000;
constexpr float kMostFactor = 10;

tl::unexpected<Error> broken(std::string_view what) {
  return fail(Code::Input, "sparse fit: {}; run oplat fit again", what);
}

bool positive(double value) { return std::isfinite(value) && value > 0; }

Result<Forest> read_forest(ByteReader& reader) {
  auto forest = Forest::load(reader.text());
  if (!forest) return broken(forest.error().message);
  return forest;
}

bool factor(float value) { return value >= 0 && value <= kMostFactor; }

}  // namespace

std::string SparseModel::save() const {
  ByteWriter writer;
  writer.text(kMagic);
  writer.u32(kFormat);
  writer.f64(machine_.overhead_ns);
  writer.f64(machine_.flops_per_ns);
  writer.f64(machine_.bytes_per_ns);
  writer.u32(static_cast<std::uint32_t>(machine_.processors));
  writer.text(space_.save());
  writer.u64(scaler_.columns().size());
  for (const Scaler::Column& column : scaler_.columns()) {
    writer.u32(column.feature);
    writer.f32(column.least);
    writer.f32(column.mean);
    writer.f32(column.scale);
  }
  gaussian_.save(writer);
  writer.text(trees_.save());
  writer.text(correction_.save());
  for (const float share : shares_) writer.f32(share);
  writer.text(spread_.save());
  writer.f32(spread_factor_);
  writer.f32(quick_spread_);
  writer.f64(expected_error_);
  writer.u64(base::hash64(writer.bytes()));
  return writer.take();
}

Result<SparseModel> SparseModel::load(std::string_view bytes) {
  if (bytes.size() < 8) return broken("is too short");
  ByteReader tail(bytes.substr(bytes.size() - 8));
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  ByteReader reader(body);
  if (reader.text() != kMagic) return broken("is none");
  if (const std::uint32_t format = reader.u32(); format != kFormat) {
    return broken(fmt::format("is of format {}, known is {}", format, kFormat));
  }
  if (tail.u64() != base::hash64(body)) return broken("its checksum does not fit its bytes");
  SparseModel model;
  model.machine_.overhead_ns = reader.f64();
  model.machine_.flops_per_ns = reader.f64();
  model.machine_.bytes_per_ns = reader.f64();
  const std::uint32_t processors = reader.u32();
  if (!positive(model.machine_.overhead_ns) || !positive(model.machine_.flops_per_ns) ||
      !positive(model.machine_.bytes_per_ns) || processors == 0 || processors > kMostProcessors)
    return broken("a rate that is no positive number");
  model.machine_.processors = static_cast<std::int32_t>(processors);
  auto space = Space::load(reader.text());
  if (!space) return broken("its space is damaged");
  model.space_ = std::move(*space);
  std::vector<Scaler::Column> columns(reader.count(16));
  for (Scaler::Column& column : columns) {
    column.feature = reader.u32();
    column.least = reader.f32();
    column.mean = reader.f32();
    column.scale = reader.f32();
    if (column.feature >= kShapeFeatures || !std::isfinite(column.least) || !std::isfinite(column.mean) ||
        !std::isfinite(column.scale))
      return broken("a column that is none");
  }
  model.scaler_ = Scaler(std::move(columns));
  OPLAT_TRY(gaussian, Gaussian::load(reader));
  if (gaussian.columns() != model.scaler_.columns().size()) return broken("a smooth model of other columns");
  model.gaussian_ = std::move(gaussian);
  OPLAT_TRY(trees, read_forest(reader));
  OPLAT_TRY(correction, read_forest(reader));
  float sum = 0;
  for (float& share : model.shares_) {
    share = reader.f32();
    if (!(share >= 0 && share <= 1)) return broken("a share that is none");
    sum += share;
  }
  OPLAT_TRY(spread, read_forest(reader));
  model.spread_factor_ = reader.f32();
  model.quick_spread_ = reader.f32();
  model.expected_error_ = reader.f64();
  // Forests may only ask for features that an answer has.
  if (!(std::abs(sum - 1) < 1e-3F) || trees.features() > kShapeFeatures ||
      correction.features() > kCorrectionFeatures ||
      spread.features() > kSpreadFeatures || !factor(model.spread_factor_) || !factor(model.quick_spread_) ||
      !(model.expected_error_ >= 0) || !std::isfinite(model.expected_error_))
    return broken("forests of other features");
  model.trees_ = std::move(trees);
  model.correction_ = std::move(correction);
  model.spread_ = std::move(spread);
  if (!reader.done()) return broken("is cut off, or longer than it says");
  return model;
}

}  // namespace oplat::estimate
