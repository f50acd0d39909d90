// SPDX-License-Identifier: Apache-2.0
/// Growing trees against trying every split.
#include "estimate/learned/booster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/bytes.hpp"
#include "base/random.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

struct Data {
  Matrix x;
  std::vector<float> y;
};

/// Few distinct values, so that every one has a bin of its own; some missing.
Data random_data(std::uint64_t seed) {
  base::Random random(seed);
  Data data{Matrix(120, 3), {}};
  for (std::size_t i = 0; i < data.x.rows; ++i) {
    for (float& value : data.x.row(i))
      value = random.below(6) == 0 ? kNone : static_cast<float>(random.below(20));
    data.y.push_back(static_cast<float>(random.normal()) + (data.x.row(i)[1] > 11 ? 1.5F : 0.0F));
  }
  return data;
}

double squares(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

/// Least sum of squares of two leaves of at least `least` rows, over all splits and both ways for
/// what is missing.
double best_of_all(const Data& data, std::size_t least) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t column = 0; column < data.x.columns; ++column) {
    std::set<float> cuts{std::numeric_limits<float>::max()};
    for (std::size_t i = 0; i < data.x.rows; ++i) {
      if (!std::isnan(data.x.row(i)[column])) cuts.insert(data.x.row(i)[column]);
    }
    for (const float cut : cuts) {
      for (const bool missing_left : {false, true}) {
        std::vector<double> left, right;
        for (std::size_t i = 0; i < data.x.rows; ++i) {
          const float value = data.x.row(i)[column];
          (std::isnan(value) ? missing_left : value < cut) ? left.push_back(data.y[i])
                                                           : right.push_back(data.y[i]);
        }
        if (left.size() >= least && right.size() >= least)
          best = std::min(best, squares(left) + squares(right));
      }
    }
  }
  return best;
}

BoostOptions one_split() {
  BoostOptions options;
  options.trees = 1;
  options.learning_rate = 1;
  options.leaves = 2;
  options.feature_fraction = 1;
  options.bagging_fraction = 1;
  options.huber_quantile = 1;
  options.l2 = 0;
  return options;
}

double error_of(const Forest& forest, const Data& data) {
  double sum = 0;
  for (std::size_t i = 0; i < data.x.rows; ++i)
    sum += std::pow(forest.value(data.x.row(i)) - data.y[i], 2);
  return sum;
}

TEST(Booster, TheFirstSplitIsTheBestOfAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Data data = random_data(seed);
    BoostOptions options = one_split();
    options.min_rows = 7;
    const Forest forest = test::must(boost(data.x, data.y, options));
    EXPECT_NEAR(error_of(forest, data), best_of_all(data, options.min_rows), 1e-3)
        << "seed " << seed;
  }
}

TEST(Booster, ALeafIsTheWeightedMeanOfItsRows) {
  Data data{Matrix(40, 1), {}};
  BoostOptions options = one_split();
  for (std::size_t i = 0; i < 40; ++i) {
    data.x.row(i)[0] = i < 20 ? 0.0F : 1.0F;
    data.y.push_back(static_cast<float>(i % 2) + (i < 20 ? 0.0F : 10.0F));
    options.weights.push_back(i % 2 == 0 ? 0.5F : 1.5F);
  }
  const Forest forest = test::must(boost(data.x, data.y, options));
  EXPECT_NEAR(forest.value(std::vector<float>{0}), 0.75, 1e-5);
  EXPECT_NEAR(forest.value(std::vector<float>{1}), 10.75, 1e-5);
}

TEST(Booster, ALeafHasTheLeastWeightWhateverItsRows) {
  Data data{Matrix(40, 1), {}};
  BoostOptions options = one_split();
  options.min_rows = 5;
  for (std::size_t i = 0; i < 40; ++i) {
    data.x.row(i)[0] = static_cast<float>(i);
    data.y.push_back(i < 8 ? 1.0F : 0.0F);  // the best cut is before 8
    options.weights.push_back(i < 8 ? 0.5F : 1.125F);
  }
  const Forest forest = test::must(boost(data.x, data.y, options));
  EXPECT_GT(forest.value(std::vector<float>{0}), 0.7F);
  EXPECT_LT(forest.value(std::vector<float>{0}), 0.9F)
      << "eight rows weigh 4: one or two more came to them";
}

TEST(Booster, WhatIsMissingMayBeAllThatTells) {
  Data data{Matrix(40, 1), {}};
  for (std::size_t i = 0; i < 40; ++i) {
    data.x.row(i)[0] = i % 2 == 0 ? 5.0F : kNone;
    data.y.push_back(i % 2 == 0 ? 1.0F : 3.0F);
  }
  const Forest forest = test::must(boost(data.x, data.y, one_split()));
  EXPECT_NEAR(forest.value(std::vector<float>{5}), 1, 1e-5);
  EXPECT_NEAR(forest.value(std::vector<float>{kNone}), 3, 1e-5);
}

TEST(Booster, MoreLeavesAndTreesFitTheirRowsBetter) {
  const Data data = random_data(3);
  BoostOptions options = one_split();
  double last = error_of(test::must(boost(data.x, data.y, options)), data);
  for (const std::size_t leaves : {4U, 8U, 16U}) {
    options.leaves = leaves;
    const double now = error_of(test::must(boost(data.x, data.y, options)), data);
    EXPECT_LT(now, last);
    last = now;
  }
  options.trees = 20;
  EXPECT_LT(error_of(test::must(boost(data.x, data.y, options)), data), last);
}

/// One row in twenty is a thousand times what the others are.
TEST(Booster, AFewRowsOfAnotherKindDoNotPullAtTheRest) {
  Data data{Matrix(400, 1), {}};
  for (std::size_t i = 0; i < data.x.rows; ++i) {
    data.x.row(i)[0] = static_cast<float>(i % 20 / 10);
    data.y.push_back(i % 25 == 0 ? 1000.0F : 1.0F);
  }
  BoostOptions options = one_split();
  options.trees = 50;
  options.learning_rate = 0.2;
  const auto off = [&](double whole) {
    options.huber_quantile = whole;
    return std::abs(test::must(boost(data.x, data.y, options)).value(std::vector<float>{0}) - 1);
  };
  EXPECT_GT(off(1), 30) << "the mean";
  EXPECT_LT(off(0.9), 5) << "nearly the median";
}

TEST(Booster, ManyValuesShareBins) {
  Data data{Matrix(5000, 1), {}};
  for (std::size_t i = 0; i < data.x.rows; ++i) {
    data.x.row(i)[0] = static_cast<float>(i);
    data.y.push_back(i < 1700 ? 0.0F : 1.0F);
  }
  const Forest forest = test::must(boost(data.x, data.y, one_split()));
  EXPECT_LT(forest.value(std::vector<float>{1600}), 0.1F) << "a bin is 20 rows wide";
  EXPECT_GT(forest.value(std::vector<float>{1800}), 0.9F);
}

TEST(FinishedParts, AreNotGrownAgain) {
  const Data data = random_data(5);
  FinishedParts finished;
  BoostOptions options;
  options.trees = 20;
  const std::string plain = boost(data.x, data.y, options)->save();
  options.finished = &finished;
  int told = 0;
  options.progress = [&](int done) {
    ++told;
    return done < 12;
  };
  EXPECT_FALSE(boost(data.x, data.y, options)) << "stopped on the way";
  EXPECT_EQ(finished.size(), 0U) << "half a forest is not finished";
  EXPECT_EQ(finished.begun(), 1U);
  told = 0;
  options.progress = [&](int) { return ++told > 0; };
  EXPECT_EQ(boost(data.x, data.y, options)->save(), plain);
  EXPECT_EQ(told, 20);
  EXPECT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished.begun(), 0U);
  EXPECT_EQ(finished.reused(), 0U);

  FinishedParts later;
  ASSERT_TRUE(later.load(finished.save()));
  options.finished = &later;
  told = 0;
  EXPECT_EQ(boost(data.x, data.y, options)->save(), plain);
  EXPECT_EQ(later.reused(), 1U);
  EXPECT_EQ(told, 20) << "its trees count as done";
}

TEST(FinishedParts, AForestThatWasBegunIsGrownOnAsIfItHadNotBeenStopped) {
  const Data data = random_data(5);
  BoostOptions options;
  options.trees = 20;
  options.bagging_fraction = 0.5;
  const std::string plain = boost(data.x, data.y, options)->save();
  std::string kept = FinishedParts().save();
  int stops = 0;
  for (int stop = 3;; stop += 5, ++stops) {
    FinishedParts parts;
    ASSERT_TRUE(parts.load(kept));
    EXPECT_EQ(parts.begun(), stops > 0 ? 1U : 0U);
    EXPECT_FALSE(parts.has_more());
    options.finished = &parts;
    options.progress = [&](int done) { return done < stop; };
    const auto forest = boost(data.x, data.y, options);
    EXPECT_TRUE(parts.has_more());
    kept = parts.save();
    if (!forest) continue;
    EXPECT_EQ(forest->save(), plain);
    EXPECT_EQ(parts.begun(), 0U);
    break;
  }
  EXPECT_EQ(stops, 4);
}

/// Under the hash of a forest that is grown by these options.
base::Hash128 hash_in(const FinishedParts& one) {
  const std::string bytes = one.save();
  base::ByteReader reader(bytes);
  static_cast<void>(reader.text());
  static_cast<void>(reader.text());
  EXPECT_EQ(reader.u64(), 1U);
  base::Hash128 hash;
  hash.high = reader.u64();
  hash.low = reader.u64();
  return hash;
}

TEST(FinishedParts, ThoseThatAreNoForestsAreGrownAnew) {
  const Data data = random_data(5);
  BoostOptions options;
  options.trees = 3;
  FinishedParts good;
  options.finished = &good;
  const std::string plain = boost(data.x, data.y, options)->save();
  const base::Hash128 hash = hash_in(good);
  std::string larger = plain;
  larger += "more";
  base::ByteWriter short_of_rows;
  short_of_rows.u64(1);
  short_of_rows.text(plain);
  short_of_rows.f32(1);
  for (const std::string& bad : {std::string(), std::string("no forest"), larger}) {
    FinishedParts parts;
    parts.keep(hash, bad);
    options.finished = &parts;
    EXPECT_EQ(boost(data.x, data.y, options)->save(), plain);
    EXPECT_EQ(parts.reused(), 1U) << "it was there";
  }
  for (const std::string& bad : {std::string(), std::string("no growth"), short_of_rows.bytes()}) {
    FinishedParts parts;
    parts.keep_begun(hash, bad);
    options.finished = &parts;
    EXPECT_EQ(boost(data.x, data.y, options)->save(), plain);
    EXPECT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts.begun(), 0U);
  }
}

TEST(FinishedParts, AreOfTheSameNumbersGrownInTheSameWay) {
  FinishedParts finished;
  BoostOptions options;
  options.trees = 3;
  options.finished = &finished;
  Data data = random_data(5);
  ASSERT_TRUE(boost(data.x, data.y, options));
  data.y[7] += 1;
  ASSERT_TRUE(boost(data.x, data.y, options));
  options.seed = 2;
  ASSERT_TRUE(boost(data.x, data.y, options));
  options.leaves = 9;
  ASSERT_TRUE(boost(data.x, data.y, options));
  options.weights.assign(data.y.size(), 2);
  ASSERT_TRUE(boost(data.x, data.y, options));
  EXPECT_EQ(finished.reused(), 0U);
  EXPECT_EQ(finished.size(), 5U);
}

TEST(FinishedParts, DamagedOnesAreRefusedAndNoneIsLeft) {
  FinishedParts finished;
  finished.keep({1, 2}, "forest");
  finished.keep_begun({3, 4}, "half a forest");
  const std::string good = finished.save();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    FinishedParts read;
    EXPECT_FALSE(read.load(bad)) << at;
    EXPECT_EQ(read.size() + read.begun(), 0U);
    EXPECT_FALSE(read.load(good.substr(0, at))) << at;
  }
}

}  // namespace
}  // namespace oplat::estimate
