// SPDX-License-Identifier: Apache-2.0
/// Sizes and slices of a family are told apart by turns. offsets.hpp describes the method.
#include "estimate/learned/offsets.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Nought counts as so many rows of a slice.
constexpr double kRowsOfNought = 4;
/// Turns after which slices move no more.
constexpr int kTurns = 20;
/// Of the squares of a family's rows, so that sizes that all have in common do no harm.
constexpr double kRidge = 1e-3;
/// Of the logarithm of a ratio of times: more is damage.
constexpr double kMaxOffset = 100;

constexpr Index kSizes = 5;
std::array<double, kSizes> sizes_of(const ir::Work& work) {
  const auto log = [](double value) { return std::log1p(std::max(value, 0.0)); };
  return {1, log(work.flops.value_or(0)), log(work.bytes_in), log(work.bytes_weights),
          log(work.bytes_out)};
}

/// Means of what a family's rows take beyond what their sizes explain, of each slice.
std::map<std::uint32_t, double> offsets_of(std::span<const std::size_t> rows,
                                           std::span<const Point> points,
                                           std::span<const ir::Description> descriptions,
                                           std::span<const double> values) {
  const auto count = static_cast<Index>(rows.size());
  MatrixXd sizes(count, kSizes);
  VectorXd y(count);
  std::map<std::uint32_t, double> rows_of;
  for (Index i = 0; i < count; ++i) {
    const std::size_t row = rows[static_cast<std::size_t>(i)];
    const auto of_row = sizes_of(descriptions[row].work);
    for (Index d = 0; d < kSizes; ++d) sizes(i, d) = of_row[static_cast<std::size_t>(d)];
    y(i) = values[row];
    rows_of[points[row].slice] += 1;
  }
  MatrixXd squares = sizes.transpose() * sizes;
  // Not what all have in common: that is the models' from the first turn on.
  auto of_sizes = squares.diagonal().tail(kSizes - 1);
  of_sizes *= 1 + kRidge;
  of_sizes.array() += kRidge;
  const Eigen::LLT<MatrixXd> decomposed(squares);
  std::map<std::uint32_t, double> offsets;
  for (const auto& [slice, n] : rows_of) offsets[slice] = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    VectorXd rest = y;
    for (Index i = 0; i < count; ++i)
      rest(i) -= offsets[points[rows[static_cast<std::size_t>(i)]].slice];
    const VectorXd explained = sizes * decomposed.solve(sizes.transpose() * rest);
    for (auto& [slice, offset] : offsets) offset = 0;
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t slice = points[rows[static_cast<std::size_t>(i)]].slice;
      offsets[slice] += (y(i) - explained(i)) / (rows_of[slice] + kRowsOfNought);
    }
  }
  return offsets;
}

}  // namespace

Offsets Offsets::learn(std::span<const Point> points, std::span<const ir::Description> descriptions,
                       std::span<const double> values) {
  std::map<std::uint32_t, std::vector<std::size_t>> families;
  for (std::size_t i = 0; i < points.size(); ++i) families[points[i].family].push_back(i);
  Offsets offsets;
  for (const auto& [family, rows] : families)
    offsets.slices_.merge(offsets_of(rows, points, descriptions, values));
  return offsets;
}

double Offsets::at(const Point& point) const {
  const auto slice = slices_.find(point.slice);
  return point.relative || slice == slices_.end() ? 0 : slice->second;
}

void Offsets::save(base::ByteWriter& writer) const {
  writer.u64(slices_.size());
  for (const auto& [slice, offset] : slices_) {
    writer.u32(slice);
    writer.f64(offset);
  }
}

std::optional<Offsets> Offsets::load(base::ByteReader& reader) {
  Offsets offsets;
  bool good = true;
  const std::size_t count = reader.count(4 + 8);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t slice = reader.u32();
    const double offset = reader.f64();
    good = good && std::abs(offset) <= kMaxOffset;
    offsets.slices_.insert_or_assign(slice, offset);
  }
  if (!good) return std::nullopt;
  return offsets;
}

}  // namespace oplat::estimate
