// SPDX-License-Identifier: Apache-2.0
/// A fitted model as bytes and back: machine, space, reference, sites, models. See
/// docs/reference/fit-format.md "Learned estimates".
#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"
#include "estimate/learned/calibration.hpp"
#include "estimate/learned/grid_model.hpp"
#include "estimate/learned/model_head.hpp"

namespace oplat::estimate {
namespace {

/// Fits of before describe kernels by other numbers (docs/adr/0060, 0063, 0067, 0069).
constexpr ModelFormat kGridFormat{"oplat.learned", 12, "learned fit"};

Error broken_grid(std::string_view what) { return kGridFormat.broken(what); }

/// Coordinates are stored as numbers of levels: most axes have a few dozen.
void write_sites(base::ByteWriter& writer, const Lines& lines, const NeighbourFeatures& values,
                 std::size_t slices) {
  const auto sites = lines.sites();
  std::vector<std::vector<double>> levels(lines.axes());
  for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
    for (std::size_t slice = 0; slice < slices; ++slice) {
      const auto own = lines.levels(static_cast<std::uint32_t>(slice), axis);
      levels[axis].insert(levels[axis].end(), own.begin(), own.end());
    }
    std::sort(levels[axis].begin(), levels[axis].end());
    levels[axis].erase(std::unique(levels[axis].begin(), levels[axis].end()), levels[axis].end());
    writer.u64(levels[axis].size());
    for (const double level : levels[axis]) writer.f64(level);
  }
  writer.u64(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    writer.u32(sites[i].slice);
    for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
      const auto at = std::lower_bound(levels[axis].begin(), levels[axis].end(), sites[i].at[axis]);
      writer.u32(static_cast<std::uint32_t>(at - levels[axis].begin()));
    }
    writer.f32(values.u(static_cast<Site>(i)));
    for (const float wave : values.waves(static_cast<Site>(i))) writer.f32(wave);
  }
}

Status read_sites(base::ByteReader& reader, std::size_t axes, std::size_t slices,
                  std::vector<Point>& points, SiteValues& values) {
  std::vector<std::vector<double>> levels(axes);
  for (auto& axis : levels) {
    const std::size_t count = reader.count(8);
    for (std::size_t i = 0; i < count; ++i) axis.push_back(reader.f64());
    if (!std::is_sorted(axis.begin(), axis.end()) ||
        !std::all_of(axis.begin(), axis.end(), [](double v) { return std::isfinite(v); }))
      return fail(broken_grid("levels do not increase"));
  }
  const std::size_t sites = reader.count(4 + 4 * axes + 4 + 4 * kTileCount);
  for (std::size_t i = 0; i < sites; ++i) {
    Point point;
    point.slice = reader.u32();
    if (point.slice >= slices) return fail(broken_grid("a site has no stratum"));
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::uint32_t level = reader.u32();
      if (level >= levels[axis].size()) return fail(broken_grid("a site has no level"));
      point.at[axis] = levels[axis][level];
    }
    points.push_back(point);
    values.u.push_back(reader.f32());
    if (!std::isfinite(values.u.back())) return fail(broken_grid("a value is not a finite number"));
    for (std::size_t tile = 0; tile < kTileCount; ++tile) {
      const float wave = reader.f32();
      if (std::isinf(wave)) return fail(broken_grid("a value is not a finite number"));
      values.waves.push_back(wave);
    }
  }
  if (!reader.ok()) return fail(broken_grid("its sites are truncated"));
  return {};
}

}  // namespace

std::string GridModel::save() const {
  base::ByteWriter writer;
  write_head(writer, kGridFormat, machine_, space_);
  write_reference(writer, reference_);
  write_sites(writer, *lines_, *neighbours_, space_.slices());
  writer.u64(models_.size());
  for (const PatternModel& model : models_) {
    writer.u32(static_cast<std::uint32_t>(model.pattern.kind));
    writer.u32(model.pattern.axis);
    writer.f32(model.shape_share.share);
    writer.f32(model.shape_share.gap);
    writer.text(model.forest.save());
    writer.text(model.quick.save());
    writer.f32(model.spread_factor);
    writer.f32(model.quick_spread_factor);
    writer.text(model.spread.save());
  }
  return sealed(std::move(writer));
}

Result<FitAge> GridModel::age_of(std::string_view bytes) {
  return estimate::age_of(bytes, kGridFormat);
}

Result<GridModel> GridModel::load(std::string_view bytes) {
  OPLAT_TRY(body, unsealed(bytes, kGridFormat));
  base::ByteReader reader(body);
  OPLAT_TRY(head, read_head(reader, kGridFormat));
  GridModel model;
  model.machine_ = head.machine;
  model.space_ = std::move(head.space);
  OPLAT_TRY(reference, read_reference(reader, kGridFormat));
  model.reference_ = reference;
  std::vector<Point> points;
  SiteValues values;
  OPLAT_CHECK(read_sites(reader, model.space_.axes(), model.space_.slices(), points, values));
  // Each slice was learned from sites of its own; memory is set aside for its levels.
  if (model.space_.slices() > points.size()) return fail(broken_grid("a stratum has no sites"));
  model.lines_ =
      std::make_unique<Lines>(std::move(points), model.space_.axes(), model.space_.slices());
  model.neighbours_ = std::make_unique<NeighbourFeatures>(*model.lines_, values);
  const std::size_t models = reader.count(28);
  for (std::size_t i = 0; i < models; ++i) {
    PatternModel each;
    const std::uint32_t kind = reader.u32();
    each.pattern.axis = reader.u32();
    each.shape_share.share = reader.f32();
    each.shape_share.gap = reader.f32();
    if (kind > static_cast<std::uint32_t>(PatternKind::Shape) || each.pattern.axis >= kMaxAxes ||
        !(each.shape_share.share >= 0 && each.shape_share.share <= 1) ||
        !(each.shape_share.gap >= 0) || std::isinf(each.shape_share.gap))
      return fail(broken_grid("a pattern is unknown"));
    each.pattern.kind = static_cast<PatternKind>(kind);
    OPLAT_TRY(forest, Forest::load(reader.text()));
    if (forest.features() > model.features())
      return fail(broken_grid("a forest has other features"));
    each.forest = std::move(forest);
    OPLAT_TRY(quick, Forest::load(reader.text()));
    if (quick.features() > model.features())
      return fail(broken_grid("a forest has other features"));
    each.quick = std::move(quick);
    each.spread_factor = reader.f32();
    each.quick_spread_factor = reader.f32();
    OPLAT_TRY(spread, Forest::load(reader.text()));
    if (!is_spread_factor(each.spread_factor) || !is_spread_factor(each.quick_spread_factor) ||
        spread.features() > model.spread_columns(each.pattern))
      return fail(broken_grid("a spread is out of range"));
    each.spread = std::move(spread);
    model.patterns_.push_back(each.pattern);
    model.models_.push_back(std::move(each));
  }
  if (!reader.done()) return fail(broken_grid("it is truncated, or longer than stated"));
  return model;
}

}  // namespace oplat::estimate
