// SPDX-License-Identifier: Apache-2.0
/// A sparse model as bytes and back. See docs/reference/fit-format.md.
#include <cmath>

#include "base/bytes.hpp"
#include "estimate/learned/calibration.hpp"
#include "estimate/learned/model_head.hpp"
#include "estimate/learned/shape_features.hpp"
#include "estimate/learned/sparse_model.hpp"

namespace oplat::estimate {
namespace {

/// Fits of before describe kernels by other numbers (docs/adr/0060, 0063, 0067, 0069), or hold one
/// process (0071), do not say how many rows of other numbers of threads helped, or no skew (0086).
constexpr ModelFormat kSparseFormat{"oplat.sparse", 13, "sparse fit"};

tl::unexpected<Error> broken_sparse(std::string_view what) {
  return fail(kSparseFormat.broken(what));
}

Result<Forest> read_forest(base::ByteReader& reader) {
  auto forest = Forest::load(reader.text());
  if (!forest) return broken_sparse(forest.error().message);
  return forest;
}

}  // namespace

std::string SparseModel::save() const {
  base::ByteWriter writer;
  write_head(writer, kSparseFormat, machine_, space_);
  write_reference(writer, reference_);
  writer.u64(scaler_.columns().size());
  for (const Scaler::Column& column : scaler_.columns()) {
    writer.u32(column.feature);
    writer.f32(column.least);
    writer.f32(column.mean);
    writer.f32(column.scale);
  }
  writer.u64(sites_);
  writer.u64(related_);
  smooth_.save(writer);
  writer.text(trees_.save());
  writer.text(correction_.save());
  for (const float share : shares_) writer.f32(share);
  writer.text(spread_.save());
  writer.f32(spread_factor_);
  writer.f32(quick_spread_);
  writer.f32(skew_);
  return sealed(std::move(writer));
}

Result<FitAge> SparseModel::age_of(std::string_view bytes) {
  return estimate::age_of(bytes, kSparseFormat);
}

Result<SparseModel> SparseModel::load(std::string_view bytes) {
  OPLAT_TRY(body, unsealed(bytes, kSparseFormat));
  base::ByteReader reader(body);
  OPLAT_TRY(head, read_head(reader, kSparseFormat));
  SparseModel model;
  model.machine_ = head.machine;
  model.space_ = std::move(head.space);
  OPLAT_TRY(reference, read_reference(reader, kSparseFormat));
  model.reference_ = reference;
  std::vector<Scaler::Column> columns(reader.count(16));
  for (Scaler::Column& column : columns) {
    column.feature = reader.u32();
    column.least = reader.f32();
    column.mean = reader.f32();
    column.scale = reader.f32();
    if (column.feature >= kKernelFeatures || !std::isfinite(column.least) ||
        !std::isfinite(column.mean) || !std::isfinite(column.scale))
      return broken_sparse("a column is out of range");
  }
  model.scaler_ = Scaler(std::move(columns));
  model.sites_ = static_cast<std::size_t>(reader.u64());
  model.related_ = static_cast<std::size_t>(reader.u64());
  OPLAT_TRY(smooth, SmoothModel::load(reader));
  if (smooth.columns() != model.scaler_.columns().size())
    return broken_sparse("the smooth model has other columns");
  model.smooth_ = std::move(smooth);
  OPLAT_TRY(trees, read_forest(reader));
  OPLAT_TRY(correction, read_forest(reader));
  float sum = 0;
  for (float& share : model.shares_) {
    share = reader.f32();
    if (!(share >= 0 && share <= 1)) return broken_sparse("a share is out of range");
    sum += share;
  }
  OPLAT_TRY(spread, read_forest(reader));
  model.spread_factor_ = reader.f32();
  model.quick_spread_ = reader.f32();
  model.skew_ = reader.f32();
  // Forests may only ask for features that an answer has.
  if (!(std::abs(sum - 1) < 1e-3F) || trees.features() > kKernelFeatures ||
      correction.features() > kCorrectionFeatures || spread.features() > kSpreadFeatures)
    return broken_sparse("a forest has other features");
  if (!is_spread_factor(model.spread_factor_) || !is_spread_factor(model.quick_spread_))
    return broken_sparse("a spread is out of range");
  if (!(model.skew_ >= 0 && model.skew_ <= 10)) return broken_sparse("its skew is out of range");
  model.trees_ = std::move(trees);
  model.correction_ = std::move(correction);
  model.spread_ = std::move(spread);
  if (!reader.done()) return broken_sparse("it is truncated, or longer than stated");
  return model;
}

}  // namespace oplat::estimate
