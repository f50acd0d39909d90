// SPDX-License-Identifier: Apache-2.0
/// The reference finds the parts that times are made of, and carries them beyond the rows.
#include "estimate/learned/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "unit/estimate/learned/synthetic.hpp"

namespace oplat::estimate {
namespace {

std::vector<ir::Description> descriptions() {
  std::vector<ir::Description> all;
  for (const test::SyntheticRow& row : test::synthetic_rows()) all.push_back(row.description);
  return all;
}

Reference reference_of(std::initializer_list<std::pair<ReferencePart, double>> ns_per_unit) {
  Reference reference;
  for (const auto& [part, ns] : ns_per_unit) reference.ns_per_unit[part] = ns;
  return reference;
}

std::vector<double> log_times(const Reference& truth, const std::vector<ir::Description>& rows) {
  std::vector<double> times;
  for (const ir::Description& row : rows) times.push_back(std::log(truth.ns(row)));
  return times;
}

TEST(ReferenceTest, OverlappingPartsTakeLessThanTheirSumAndMoreThanTheLongest) {
  const ir::Description row =
      test::synthetic_row(test::square(8, 64, 20, 64, 3, false)).description;
  Reference launch, flops, both;
  launch.ns_per_unit[kLaunch] = both.ns_per_unit[kLaunch] = 5e3;
  flops.ns_per_unit[kFlops] = both.ns_per_unit[kFlops] = 5e3 / *row.work.flops;
  EXPECT_NEAR(launch.ns(row), 5e3, 1e-6);
  EXPECT_NEAR(flops.ns(row), 5e3, 1e-6);
  EXPECT_NEAR(both.ns(row), std::exp2(0.8) * 5e3, 1e-6);
  EXPECT_FALSE(Reference{}.learned());
  EXPECT_EQ(Reference{}.ns(row), 0);
}

TEST(ReferenceTest, FindsThePartsThatTimesAreMadeOf) {
  Reference truth;
  truth.ns_per_unit = {5e3, 1e-4, 2e-3, 3e-3, 0, 4, 0};
  const auto rows = descriptions();
  const Reference found = learn_reference(rows, log_times(truth, rows));
  ASSERT_TRUE(found.learned());
  for (const ir::Description& row : rows)
    ASSERT_NEAR(found.ns(row) / truth.ns(row), 1, 0.01) << row.slice;
  // Sixteen times the operations of the largest row.
  const auto larger = test::synthetic_row(test::square(32, 512, 56, 512, 3, false)).description;
  EXPECT_NEAR(found.ns(larger) / truth.ns(larger), 1, 0.03);
}

TEST(ReferenceTest, NoPartIsNegativeWhateverTheTimes) {
  const auto rows = descriptions();
  std::vector<double> times;
  // Less the more there is to do: nothing but a launch explains that.
  for (const ir::Description& row : rows) times.push_back(12 - 0.2 * std::log(*row.work.flops));
  const Reference found = learn_reference(rows, times);
  for (const double ns : found.ns_per_unit) EXPECT_TRUE(std::isfinite(ns) && ns >= 0) << ns;
  EXPECT_GT(found.ns_per_unit[kLaunch], 0);
}

TEST(ReferenceTest, WeightsCostMoreTheFartherAwayTheyAre) {
  Reference truth = reference_of({{kLaunch, 500},
                                  {kFlops, 1e-2},
                                  {kBytesWeights, 1e-2},
                                  {kWeightsFromLast, 2e-2},
                                  {kWeightsFromMemory, 6e-2},
                                  {kColdLaunch, 5e3}});
  std::vector<ir::Description> rows;
  for (ir::Description row : descriptions()) {
    for (const std::size_t state : {0, 1, 2}) {
      row.state = state;
      rows.push_back(row);
    }
  }
  const Reference found = learn_reference(rows, log_times(truth, rows));
  for (const ir::Description& row : rows)
    ASSERT_NEAR(found.ns(row) / truth.ns(row), 1, 0.02) << row.slice << " " << row.state;
  ir::Description without = rows.back();
  without.work.bytes_weights = 0;
  ir::Description hot = without;
  hot.state = 0;
  EXPECT_EQ(truth.ns(without), truth.ns(hot)) << "nothing is waited for";
}

TEST(ReferenceTest, AnActivationOfFewRowsIsKnownWhereverItsElementsCount) {
  Reference truth =
      reference_of({{kLaunch, 500}, {kFlops, 1e-2}, {kBytesOut, 5e-2}, {kActivation, 0.1}});
  std::vector<ir::Description> rows = descriptions();
  std::vector<ir::Description> with;
  for (std::size_t i = 0; i < rows.size(); i += 10) {
    with.push_back(rows[i]);
    with.back().activation_cost = 1.5 * rows[i].work.bytes_out / 4;
  }
  rows.insert(rows.end(), with.begin(), with.end());
  const Reference found = learn_reference(rows, log_times(truth, rows));
  EXPECT_NEAR(found.ns_per_unit[kActivation], 0.1, 0.01);
  ir::Description few_sums = rows.front();
  few_sums.work.flops = 1e6;
  few_sums.work.bytes_out = 4e6;
  few_sums.activation_cost = 1e6;
  EXPECT_NEAR(found.ns(few_sums) / truth.ns(few_sums), 1, 0.05);
}

/// Rows of floats, and some of each kind of bytes.
std::vector<ir::Description> with_bytes() {
  const auto wide = descriptions();
  std::vector<ir::Description> rows = wide;
  for (const ir::Factors factors : {ir::Factors::Bytes, ir::Factors::SignedBytes}) {
    for (std::size_t i = 0; i < wide.size(); i += 5) {
      rows.push_back(wide[i]);
      rows.back().factors = factors;
      // Places of windows, or none.
      const auto& product = *wide[i].contraction;
      rows.back().windows.gathered = i % 2 == 0 ? product.batch * product.out_h * product.out_w *
                                                      product.kernel_h * product.kernel_w
                                                : 0;
    }
  }
  return rows;
}

// Bytes are multiplied four times as fast here; signed ones six times as slowly, after their
// weights were packed, which is all that counts where rows are few.
TEST(ReferenceTest, BytesHaveRatesOfTheirOwn) {
  Reference truth = reference_of({{kLaunch, 500},
                                  {kFlops, 1e-2},
                                  {kBytesOut, 5e-2},
                                  {kFlopsOfBytes, 2.5e-3},
                                  {kFlopsOfSignedBytes, 6e-2},
                                  {kSignedWeights, 0.4},
                                  {kGathered, 2}});
  const auto rows = with_bytes();
  const Reference found = learn_reference(rows, log_times(truth, rows));
  for (const ir::Description& row : rows)
    ASSERT_NEAR(found.ns(row) / truth.ns(row), 1, 0.05) << row.slice;
  ir::Description one_row = rows.front();
  one_row.factors = ir::Factors::SignedBytes;
  one_row.contraction = ir::Contraction{};
  one_row.contraction->in_c = 2048;
  one_row.contraction->out_c = 1000;
  one_row.work.flops = 2.0 * 2048 * 1000;
  one_row.work.bytes_in = 2048;
  one_row.work.bytes_weights = 2048 * 1000;
  one_row.work.bytes_out = 1000;
  EXPECT_NEAR(found.ns(one_row) / truth.ns(one_row), 1, 0.1);
}

TEST(ReferenceTest, WorkThatNoRowToldOfHasTheRateOfItsKin) {
  const ir::Description row = descriptions().back();
  const auto as = [](ir::Description description, ir::Factors factors) {
    description.factors = factors;
    return description;
  };
  const ir::Description bytes = as(row, ir::Factors::Bytes);
  const ir::Description signed_bytes = as(row, ir::Factors::SignedBytes);
  ir::Description depthwise = row;
  depthwise.contraction->in_c = depthwise.contraction->out_c = 1;
  depthwise.contraction->groups = 64;
  const ir::Description depthwise_bytes = as(depthwise, ir::Factors::SignedBytes);
  Reference floats = reference_of({{kLaunch, 500}, {kFlops, 1e-2}, {kHalfFilled, 1}});
  EXPECT_NEAR(floats.ns(bytes) / floats.ns(row), 1, 1e-12) << "with all that floats have";
  EXPECT_NEAR(floats.ns(signed_bytes) / floats.ns(row), 1, 1e-12);
  EXPECT_NEAR(floats.ns(depthwise) / floats.ns(depthwise_bytes), 1, 1e-12);
  floats.ns_per_unit[kFlopsOfDepthwise] = 8e-2;
  EXPECT_GT(floats.ns(depthwise), 2 * floats.ns(row));
  EXPECT_NEAR(floats.ns(depthwise) / floats.ns(depthwise_bytes), 1, 1e-12);
  floats.ns_per_unit[kFlopsOfBytes] = 5e-3;
  EXPECT_LT(floats.ns(bytes), floats.ns(row));
  EXPECT_NEAR(floats.ns(signed_bytes) / floats.ns(bytes), 1, 1e-12);
  floats.ns_per_unit[kFlopsOfDepthwiseBytes] = 1;
  EXPECT_NEAR(floats.ns(signed_bytes) / floats.ns(bytes), 1, 1e-12) << "not those of one channel";
  Reference only_bytes = reference_of({{kFlopsOfBytes, 5e-3}});
  EXPECT_NEAR(only_bytes.ns(row) / only_bytes.ns(bytes), 1, 1e-12) << "not without operations";
  EXPECT_NEAR(only_bytes.ns(depthwise) / only_bytes.ns(row), 1, 1e-12);
}

// Of signed bytes only products of one row were measured, which do little but pack their weights.
TEST(ReferenceTest, ProductsOfManyRowsCountWhereOnlyThoseOfFewWereMeasured) {
  Reference truth = reference_of(
      {{kLaunch, 500}, {kFlops, 1e-2}, {kFlopsOfBytes, 2.5e-3}, {kSignedWeights, 0.4}});
  std::vector<ir::Description> rows = descriptions();
  const std::size_t floats = rows.size();
  for (std::size_t i = 0; i < floats; i += 5) {
    rows.push_back(rows[i]);
    rows.back().factors = ir::Factors::Bytes;
  }
  ir::Description one_row = rows.front();
  one_row.factors = ir::Factors::SignedBytes;
  one_row.contraction = ir::Contraction{};
  for (const double width : {128.0, 256.0, 512.0, 1024.0}) {
    one_row.contraction->in_c = one_row.contraction->out_c = width;
    one_row.work.flops = 2 * width * width;
    one_row.work.bytes_in = one_row.work.bytes_out = width;
    one_row.work.bytes_weights = width * width;
    rows.push_back(one_row);
  }
  const Reference found = learn_reference(rows, log_times(truth, rows));
  ir::Description many = one_row;
  many.contraction->out_h = 10'000;
  many.work.flops = 1e4 * *one_row.work.flops;
  ir::Description unsigned_many = many;
  unsigned_many.factors = ir::Factors::Bytes;
  EXPECT_GE(found.ns(many), 0.99 * found.ns(unsigned_many));
}

TEST(ReferenceTest, OperatorsThatSumNoProductsHaveNoneOfTheirParts) {
  ir::Description row = descriptions().front();
  row.contraction.reset();
  Reference sums;
  sums.ns_per_unit[kSumLength] = sums.ns_per_unit[kHalfFilled] = 1;
  EXPECT_EQ(sums.ns(row), 0);
}

TEST(ReferenceTest, StepsOfAProductComeBesidesItsOtherParts) {
  auto rows = descriptions();
  const Reference truth = {{5e3, 1e-4, 2e-3, 3e-3, 0, 4, 0}};
  std::vector<double> times = log_times(truth, rows);
  const Reference found = learn_reference(rows, times);
  const Machine machine{1e3, 100, 10, 1};
  const double without = std::exp(log_reference(found, machine, rows.front()));
  // Half as long as the rest, or so long that a row says nothing of it.
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const double rest = std::exp(times[i]);
    rows[i].work.steps = i == 0 ? 2e6 : rest / 2;
    times[i] = std::log(rest + rows[i].work.steps);
  }
  const Reference with_steps = learn_reference(rows, times);
  EXPECT_NEAR(with_steps.ns_per_unit[kFlops], found.ns_per_unit[kFlops],
              0.01 * found.ns_per_unit[kFlops]);
  EXPECT_NEAR(std::exp(log_reference(with_steps, machine, rows.front())), without + 2e6,
              0.01 * without);
}

TEST(ReferenceTest, WorkWithoutProductsKeepsTheBoundAndTeachesNothing) {
  auto rows = descriptions();
  std::vector<double> times = log_times({{5e3, 1e-4, 2e-3, 3e-3, 0, 4, 0}}, rows);
  const Reference found = learn_reference(rows, times);
  ir::Description copy = rows.front();
  copy.contraction.reset();
  for (int i = 0; i < 100; ++i) {
    rows.push_back(copy);
    times.push_back(20);
  }
  EXPECT_EQ(learn_reference(rows, times).ns_per_unit, found.ns_per_unit);
  const Machine machine{1e3, 100, 10, 1};
  EXPECT_DOUBLE_EQ(log_reference(found, machine, rows.front()), std::log(found.ns(rows.front())));
  EXPECT_DOUBLE_EQ(log_reference(found, machine, copy), std::log(machine.bound_ns(copy.work)));
  EXPECT_DOUBLE_EQ(log_reference({}, machine, rows.front()),
                   std::log(machine.bound_ns(rows.front().work)));
}

TEST(ReferenceTest, FindsWhereOperandsComeFromMemory) {
  const auto rows_up_to = [](int largest) {
    std::vector<ir::Description> rows;
    for (int height = 8; height <= largest; height += height / 8)
      for (const int channels : {16, 64, 256})
        rows.push_back(
            test::synthetic_row(test::square(1, channels, height, channels, 3, false)).description);
    return rows;
  };
  Reference truth = reference_of({{kLaunch, 500}, {kFlops, 1e-3}, {kBytesFromMemory, 0.04}});
  truth.near_bytes = 16 << 20;
  const std::vector<ir::Description> rows = rows_up_to(700);
  const Reference found = learn_reference(rows, log_times(truth, rows));
  EXPECT_EQ(found.near_bytes, truth.near_bytes);
  for (const ir::Description& row : rows)
    ASSERT_NEAR(found.ns(row) / truth.ns(row), 1, 0.02) << row.work.bytes_in;

  const std::vector<ir::Description> small = rows_up_to(60);
  EXPECT_EQ(learn_reference(small, log_times(truth, small)).near_bytes, 0)
      << "rows that no cache is too small for tell of no end";
}

TEST(ReferenceTest, OfNoRowsNothingIsLearned) { EXPECT_FALSE(learn_reference({}, {}).learned()); }

}  // namespace
}  // namespace oplat::estimate
