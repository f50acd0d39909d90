// SPDX-License-Identifier: Apache-2.0
/// Offsets of slices are found whatever their sizes, and not where rows are few.
#include "estimate/learned/offsets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

constexpr std::uint32_t kQuick = 3;
constexpr std::uint32_t kSlow = 5;
constexpr std::uint32_t kRare = 7;
constexpr std::uint32_t kOtherFamily = 9;

struct OffRows {
  std::vector<Point> points;
  std::vector<ir::Description> descriptions;
  std::vector<double> values;

  void add(std::uint32_t slice, std::uint32_t family, double flops, double value) {
    Point point;
    point.slice = slice;
    point.family = family;
    points.push_back(point);
    ir::Description description;
    description.work.flops = flops;
    description.work.bytes_in = description.work.bytes_out = flops / 100;
    descriptions.push_back(description);
    values.push_back(value);
  }
  [[nodiscard]] Offsets learned() const { return Offsets::learn(points, descriptions, values); }
};

Point of_slice(std::uint32_t slice, std::uint32_t family = 1) {
  Point point;
  point.slice = slice;
  point.family = family;
  return point;
}

/// A slice that is slower by `offset`, of kernels four times as large; all take the less next to
/// the reference the larger they are.
OffRows two_slices(double offset) {
  OffRows rows;
  base::Random random(1);
  for (int i = 0; i < 80; ++i) {
    const double flops = std::exp(12 + 4 * random.uniform());
    rows.add(kQuick, 1, flops, -0.3 * std::log(flops) + 0.02 * random.normal());
    rows.add(kSlow, 1, 4 * flops, -0.3 * std::log(4 * flops) + offset + 0.02 * random.normal());
  }
  return rows;
}

TEST(Offsets, SizesAreNotTakenForTheSlice) {
  for (const double offset : {0.0, 3.5}) {
    const Offsets offsets = two_slices(offset).learned();
    EXPECT_NEAR(offsets.at(of_slice(kSlow)) - offsets.at(of_slice(kQuick)), offset,
                0.05 + 0.06 * offset);
  }
}

TEST(Offsets, FewRowsSayLittle) {
  OffRows rows = two_slices(0);
  rows.add(kRare, 1, 1e6, -0.3 * std::log(1e6) + 2);
  EXPECT_NEAR(rows.learned().at(of_slice(kRare)), 2.0 / 5, 0.1) << "one row next to four of nought";
}

TEST(Offsets, FamiliesAreApart) {
  OffRows rows = two_slices(0);
  for (int i = 0; i < 50; ++i) rows.add(kOtherFamily, 2, 1e5 * (1 + i), 40);
  const Offsets offsets = rows.learned();
  EXPECT_NEAR(offsets.at(of_slice(kQuick)), 0, 0.05);
  EXPECT_NEAR(offsets.at(of_slice(kOtherFamily, 2)), 0, 0.1)
      << "what all rows of a family have in common is for the models";
}

TEST(Offsets, WhatHasNoRowsHasNone) {
  const Offsets offsets = two_slices(3.5).learned();
  EXPECT_EQ(offsets.at(of_slice(11)), 0);
  Point relative = of_slice(kSlow);
  relative.relative = true;
  EXPECT_EQ(offsets.at(relative), 0);
  EXPECT_EQ(Offsets::learn({}, {}, {}).at(of_slice(kSlow)), 0);
}

TEST(Offsets, ComeBackTheSame) {
  const Offsets offsets = two_slices(3.5).learned();
  base::ByteWriter writer;
  offsets.save(writer);
  const std::string bytes = writer.take();
  base::ByteReader reader(bytes);
  const auto loaded = Offsets::load(reader);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(reader.done());
  for (const std::uint32_t slice : {kQuick, kSlow, kRare})
    EXPECT_EQ(loaded->at(of_slice(slice)), offsets.at(of_slice(slice)));
}

TEST(Offsets, DamageIsFound) {
  base::ByteWriter writer;
  writer.u64(1);
  writer.u32(kSlow);
  writer.f64(std::nan(""));
  const std::string bytes = writer.take();
  base::ByteReader reader(bytes);
  EXPECT_FALSE(Offsets::load(reader));
  base::ByteReader cut(std::string_view(bytes).substr(0, 10));
  std::ignore = Offsets::load(cut);
  EXPECT_FALSE(cut.ok());
}

}  // namespace
}  // namespace oplat::estimate
