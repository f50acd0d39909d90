// SPDX-License-Identifier: Apache-2.0
/// The Gaussian process against dense formulas, its search, its choice and its bytes.
#include "estimate/learned/gaussian.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "estimate/learned/descent.hpp"
#include "estimate/learned/informative.hpp"
#include "estimate/learned/scaler.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kJitter = 1e-6;

SmoothKernel some_kernel(Index columns) {
  SmoothKernel kernel;
  kernel.parts[0].variance = 0.8;
  kernel.parts[0].weights = VectorXd::LinSpaced(columns, 0.05, 0.3);
  kernel.parts[1].variance = 0.1;
  kernel.parts[1].weights = VectorXd::LinSpaced(columns, 2, 0.4);
  kernel.across = 0.6;
  kernel.apart = 0.3;
  kernel.noise = 0.01;
  return kernel;
}

struct Problem {
  Points points;
  std::vector<double> y;
};

Problem some_problem(Index rows, Index columns, std::uint64_t seed = 7) {
  base::Random random(seed);
  Problem problem;
  problem.points.at.resize(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < columns; ++d) problem.points.at(i, d) = random.normal();
    problem.points.slices.push_back(static_cast<std::uint32_t>(random.below(2)));
    problem.y.push_back(3 + std::sin(problem.points.at(i, 0)) + 0.1 * random.normal());
  }
  return problem;
}

/// The kernel as its comment has it, one pair at a time.
double covariance(const SmoothKernel& kernel, const Points& a, Index i, const Points& b, Index j) {
  double sum = 0;
  for (const auto& part : kernel.parts) {
    double squares = 0;
    for (Index d = 0; d < part.weights.size(); ++d) {
      squares += part.weights(d) * (a.at(i, d) - b.at(j, d)) * (a.at(i, d) - b.at(j, d));
    }
    const double r = std::sqrt(3 * squares);
    sum += part.variance * (1 + r) * std::exp(-r);
  }
  const bool same = a.slices[static_cast<std::size_t>(i)] == b.slices[static_cast<std::size_t>(j)];
  return same ? sum : kernel.across * sum;
}

/// Mean and variance of row `i` of `asked` from the rows `from`, by a dense inverse.
std::pair<double, double> by_hand(const SmoothKernel& kernel, const Problem& rows,
                                  const std::vector<Index>& from, double mean, const Points& asked,
                                  Index i) {
  const auto n = static_cast<Index>(from.size());
  MatrixXd among(n, n);
  VectorXd to(n);
  VectorXd values(n);
  for (Index a = 0; a < n; ++a) {
    const Index row = from[static_cast<std::size_t>(a)];
    for (Index b = 0; b < n; ++b) {
      among(a, b) =
          covariance(kernel, rows.points, row, rows.points, from[static_cast<std::size_t>(b)]);
    }
    among(a, a) += kernel.noise + kJitter;
    to(a) = covariance(kernel, asked, i, rows.points, row);
    values(a) = rows.y[static_cast<std::size_t>(row)] - mean;
  }
  const MatrixXd inverse = among.fullPivLu().inverse();
  return {mean + to.dot(inverse * values), kernel.variance() + kernel.noise - to.dot(inverse * to)};
}

double mean_of(const std::vector<double>& y) {
  double sum = 0;
  for (const double value : y) sum += value;
  return sum / static_cast<double>(y.size());
}

std::vector<Index> all_but(Index rows, Index but) {
  std::vector<Index> out;
  for (Index i = 0; i < rows; ++i) {
    if (i != but) out.push_back(i);
  }
  return out;
}

std::vector<float> row_of(const Points& points, Index i) {
  std::vector<float> out;
  for (Index d = 0; d < points.at.cols(); ++d) out.push_back(static_cast<float>(points.at(i, d)));
  return out;
}

Gaussian::Options answers_by(bool exact) {
  Gaussian::Options options;
  options.max_exact = exact ? 1000 : 0;
  return options;
}

/// Fewer rows than the nearest that count, so that both ways are the dense formula.
TEST(Gaussian, AnswersAsTheDenseFormula) {
  const Problem rows = some_problem(14, 3);
  const Problem asked = some_problem(6, 3, 8);
  const SmoothKernel kernel = some_kernel(3);
  for (const bool exact : {true, false}) {
    const Gaussian model = Gaussian::fit(rows.points, rows.y, kernel, answers_by(exact));
    EXPECT_EQ(model.exact(), exact);
    const std::vector<double> means = model.means(asked.points);
    for (Index i = 0; i < asked.points.size(); ++i) {
      const auto [mean, variance] =
          by_hand(kernel, rows, all_but(14, -1), mean_of(rows.y), asked.points, i);
      const std::uint32_t slice = asked.points.slices[static_cast<std::size_t>(i)];
      const Gaussian::Answer answer = model.answer(row_of(asked.points, i), slice, 0);
      EXPECT_NEAR(answer.mean, mean, 1e-4) << "row " << i << ", exact " << exact;
      EXPECT_NEAR(answer.sd, std::sqrt(variance), 1e-4) << "row " << i << ", exact " << exact;
      EXPECT_DOUBLE_EQ(means[static_cast<std::size_t>(i)], answer.mean);
    }
  }
}

TEST(Gaussian, ManyRowsAreAllWeighedWhereExact) {
  const Problem rows = some_problem(70, 2);
  const Problem asked = some_problem(3, 2, 9);
  const SmoothKernel kernel = some_kernel(2);
  const Gaussian model = Gaussian::fit(rows.points, rows.y, kernel, answers_by(true));
  for (Index i = 0; i < asked.points.size(); ++i) {
    const auto [mean, variance] =
        by_hand(kernel, rows, all_but(70, -1), mean_of(rows.y), asked.points, i);
    const std::uint32_t slice = asked.points.slices[static_cast<std::size_t>(i)];
    const Gaussian::Answer answer = model.answer(row_of(asked.points, i), slice, 0);
    EXPECT_NEAR(answer.mean, mean, 1e-3);
    // Of the nearest rows alone: never surer than all of them together.
    EXPECT_GE(answer.sd, std::sqrt(variance) - 1e-4);
  }
}

// A kernel that was never measured was so in no cache state: twins must not answer for each other.
TEST(Gaussian, RowsOfAKernelAreLeftOutTogether) {
  Problem rows = some_problem(15, 3);
  for (std::size_t i = 0; i < 15; ++i) rows.points.kernels.push_back(i / 2);
  const SmoothKernel kernel = some_kernel(3);
  for (const bool exact : {true, false}) {
    const Gaussian model = Gaussian::fit(rows.points, rows.y, kernel, answers_by(exact));
    ASSERT_EQ(model.left_out().size(), 15U);
    for (Index i = 0; i < 15; ++i) {
      auto others = all_but(15, i);
      std::erase_if(others, [&](const auto row) { return static_cast<Index>(row) / 2 == i / 2; });
      const auto [mean, variance] = by_hand(kernel, rows, others, mean_of(rows.y), rows.points, i);
      const Gaussian::Answer& left_out = model.left_out()[static_cast<std::size_t>(i)];
      EXPECT_NEAR(left_out.mean, mean, 1e-4) << "row " << i << ", exact " << exact;
      EXPECT_NEAR(left_out.sd, std::sqrt(variance), 1e-4) << "row " << i << ", exact " << exact;
    }
  }
}

TEST(Gaussian, WhatIsLeftOutIsAFitWithoutTheRow) {
  const Problem rows = some_problem(15, 3);
  const SmoothKernel kernel = some_kernel(3);
  for (const bool exact : {true, false}) {
    const Gaussian model = Gaussian::fit(rows.points, rows.y, kernel, answers_by(exact));
    ASSERT_EQ(model.left_out().size(), 15U);
    for (Index i = 0; i < 15; ++i) {
      const auto [mean, variance] =
          by_hand(kernel, rows, all_but(15, i), mean_of(rows.y), rows.points, i);
      EXPECT_NEAR(model.left_out()[static_cast<std::size_t>(i)].mean, mean, 1e-4)
          << "row " << i << ", exact " << exact;
      EXPECT_NEAR(model.left_out()[static_cast<std::size_t>(i)].sd, std::sqrt(variance), 1e-4)
          << "row " << i;
    }
  }
}

TEST(Gaussian, RowsOfAnotherSettingHelpAsFarAsTheyAreAlike) {
  // Waves that twenty rows do not show.
  const auto truth = [](const Points& points, std::size_t i) {
    return 3 + std::sin(4 * points.at(static_cast<Index>(i), 0));
  };
  constexpr std::size_t kOwn = 20;
  Problem both = some_problem(300, 2, 3);
  std::vector<std::size_t> own;
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (i < kOwn) own.push_back(i);
    both.points.settings.push_back(i < kOwn ? 0 : 1);
    both.y[i] = truth(both.points, i) + (i < kOwn ? 0 : 0.05);
  }
  const Problem asked = some_problem(100, 2, 5);
  const auto error_of = [&](const Gaussian& model) {
    const std::vector<double> means = model.means(asked.points);
    double sum = 0;
    for (std::size_t i = 0; i < means.size(); ++i)
      sum += std::abs(means[i] - truth(asked.points, i));
    return sum / static_cast<double>(means.size());
  };
  const double alone = error_of(
      Gaussian::learn(both.points.chosen(own), std::span(both.y).first(kOwn), answers_by(true)));
  const Gaussian with = Gaussian::learn(both.points, both.y, answers_by(true));
  EXPECT_GT(with.kernel().between_settings, 0.8);
  EXPECT_LT(error_of(with), 0.4 * alone) << alone;
  // Where they have nothing in common they count little.
  for (std::size_t i = kOwn; i < 300; ++i)
    both.y[i] = 3 + std::cos(3 * both.points.at(static_cast<Index>(i), 1));
  const Gaussian with_strangers = Gaussian::learn(both.points, both.y, answers_by(true));
  EXPECT_LT(with_strangers.kernel().between_settings, 0.5);
  EXPECT_LT(error_of(with_strangers), 3 * alone) << alone;
}

TEST(Gaussian, EqualRowsAndOneRowAreNoTrouble) {
  Problem rows = some_problem(5, 2);
  for (Index i = 1; i < 5; ++i) rows.points.at.row(i) = rows.points.at.row(0);
  rows.points.slices.assign(5, 0);
  SmoothKernel kernel = some_kernel(2);
  kernel.noise = 1e-12;
  const Gaussian model = Gaussian::fit(rows.points, rows.y, kernel, {});
  EXPECT_NEAR(model.answer(row_of(rows.points, 0), 0, 0).mean, mean_of(rows.y), 1e-3);

  const Problem one = some_problem(1, 2);
  const Gaussian alone = Gaussian::learn(one.points, one.y, {});
  EXPECT_NEAR(alone.answer(row_of(one.points, 0), one.points.slices[0], 0).mean, one.y[0], 1e-9);
}

TEST(SmoothKernel, TheGradientIsThatOfTheMisfit) {
  Problem rows = some_problem(12, 3);
  for (std::uint32_t i = 0; i < 12; ++i) {
    rows.points.slices[i] = i % 4;
    rows.points.families.push_back(i % 4 / 2);
    rows.points.settings.push_back(i % 3 == 0 ? 1 : 0);
  }
  VectorXd y(12);
  for (Index i = 0; i < 12; ++i) y(i) = rows.y[static_cast<std::size_t>(i)] - 3;
  const VectorXd at = parameters_of(some_kernel(3));
  VectorXd gradient(at.size());
  VectorXd unused(at.size());
  misfit(at, rows.points, y, gradient);
  constexpr double kStep = 1e-5;
  for (Index i = 0; i < at.size(); ++i) {
    VectorXd beside = at;
    beside(i) += kStep;
    const double above = misfit(beside, rows.points, y, unused);
    beside(i) -= 2 * kStep;
    const double below = misfit(beside, rows.points, y, unused);
    EXPECT_NEAR(gradient(i), (above - below) / (2 * kStep), 1e-5) << "parameter " << i;
  }
}

TEST(SmoothKernel, SlicesOfAFamilyAreMoreAlikeThanOthers) {
  Points points;
  points.at = MatrixXd::Zero(4, 2);
  points.slices = {0, 1, 2, 0};
  points.families = {0, 0, 1, 0};
  const SmoothKernel kernel = some_kernel(2);
  const MatrixXd all = kernel.between(points, points);
  EXPECT_DOUBLE_EQ(all(0, 3), kernel.variance());
  EXPECT_DOUBLE_EQ(all(0, 1), kernel.across * kernel.variance());
  EXPECT_DOUBLE_EQ(all(0, 2), kernel.across * kernel.apart * kernel.variance());
  // An answer counts rows alike, and one of no slice is like none of them.
  const std::vector<double> y = {1, 1, 5, 1};
  Gaussian::Options options;
  options.leave_out = false;
  const Gaussian model = Gaussian::fit(points, y, kernel, options);
  const std::vector<float> at(2, 0);
  const auto own = model.answer(at, 0, 0);
  const auto none = model.answer(at, Gaussian::kNoSlice, 0);
  const auto other = model.answer(at, Gaussian::kNoSlice, 1);
  EXPECT_LT(own.mean, none.mean);
  EXPECT_LT(none.mean, other.mean);
  EXPECT_LT(own.sd, none.sd);
}

TEST(SmoothKernel, LearningLowersTheMisfit) {
  const Problem rows = some_problem(30, 2);
  VectorXd y(30);
  for (Index i = 0; i < 30; ++i) y(i) = rows.y[static_cast<std::size_t>(i)] - mean_of(rows.y);
  VectorXd unused;
  const double before =
      misfit(parameters_of(learn_kernel(rows.points, y, 0)), rows.points, y, unused);
  const double after =
      misfit(parameters_of(learn_kernel(rows.points, y, 10)), rows.points, y, unused);
  EXPECT_LT(after, before - 1);
}

TEST(Descent, FindsTheLeastWithinBounds) {
  const Slope valley = [](const VectorXd& x, VectorXd& g) {
    const double a = 1 - x(0);
    const double b = x(1) - x(0) * x(0);
    g.resize(2);
    g << -2 * a - 400 * x(0) * b, 200 * b;
    return a * a + 100 * b * b;
  };
  const VectorXd start = VectorXd::Constant(2, -0.5);
  DescentBounds bounds{VectorXd::Constant(2, -10), VectorXd::Constant(2, 10)};
  const VectorXd free = descend(valley, start, bounds, 200);
  EXPECT_NEAR(free(0), 1, 1e-2);
  EXPECT_NEAR(free(1), 1, 2e-2);
  bounds.high(0) = 0.5;
  const VectorXd bound = descend(valley, start, bounds, 200);
  EXPECT_NEAR(bound(0), 0.5, 1e-3);
  EXPECT_NEAR(bound(1), 0.25, 1e-2);
}

TEST(Descent, StaysWhereTheFunctionHasNoValueElsewhere) {
  const Slope wall = [](const VectorXd& x, VectorXd& g) {
    g = VectorXd::Constant(1, 1);
    return x(0) < 0 ? std::numeric_limits<double>::infinity() : x(0);
  };
  const DescentBounds bounds{VectorXd::Constant(1, -5), VectorXd::Constant(1, 5)};
  const VectorXd found = descend(wall, VectorXd::Constant(1, 0.0), bounds, 10);
  EXPECT_EQ(found(0), 0);
}

TEST(LeastKnown, EachChoiceHasTheMostVarianceLeft) {
  const Problem known = some_problem(6, 2);
  const Problem candidates = some_problem(12, 2, 11);
  const SmoothKernel kernel = some_kernel(2);
  Problem all = known;
  std::vector<Index> from = all_but(6, -1);
  all.points.at.conservativeResize(18, 2);
  all.points.at.bottomRows(12) = candidates.points.at;
  all.points.slices.insert(all.points.slices.end(), candidates.points.slices.begin(),
                           candidates.points.slices.end());
  all.y.resize(18, 0);
  std::vector<bool> taken(12, false);
  for (const std::size_t chosen :
       choose_least_certain(kernel, known.points, candidates.points, 5)) {
    ASSERT_LT(chosen, 12U);
    EXPECT_FALSE(taken[chosen]);
    double most = 0;
    for (Index i = 0; i < 12; ++i) {
      if (taken[static_cast<std::size_t>(i)]) continue;
      most = std::max(most, by_hand(kernel, all, from, 0, candidates.points, i).second);
    }
    EXPECT_NEAR(by_hand(kernel, all, from, 0, candidates.points, static_cast<Index>(chosen)).second,
                most, 1e-5);
    taken[chosen] = true;
    from.push_back(6 + static_cast<Index>(chosen));
  }
  EXPECT_EQ(choose_least_certain(kernel, known.points, candidates.points, 50).size(), 12U);
}

TEST(MostTelling, EachChoiceLeavesTheLeastVarianceOfWhatIsAsked) {
  const Problem known = some_problem(6, 2);
  const Problem candidates = some_problem(12, 2, 11);
  const Problem asked = some_problem(9, 2, 12);
  const std::vector<float> weights{1, 1, 1, 1, 1, 1, 1, 1, 20};
  const SmoothKernel kernel = some_kernel(2);
  Problem all = known;
  std::vector<Index> from = all_but(6, -1);
  all.points.at.conservativeResize(18, 2);
  all.points.at.bottomRows(12) = candidates.points.at;
  all.points.slices.insert(all.points.slices.end(), candidates.points.slices.begin(),
                           candidates.points.slices.end());
  all.y.resize(18, 0);
  const auto left_with = [&](std::vector<Index> rows) {
    double sum = 0;
    for (Index i = 0; i < 9; ++i)
      sum += static_cast<double>(weights[static_cast<std::size_t>(i)]) *
             by_hand(kernel, all, rows, 0, asked.points, i).second;
    return sum;
  };
  std::vector<bool> taken(12, false);
  for (const std::size_t chosen :
       choose_most_informative(kernel, known.points, candidates.points, asked.points, weights, 5)) {
    ASSERT_LT(chosen, 12U);
    EXPECT_FALSE(taken[chosen]);
    const auto with = [&](std::size_t candidate) {
      std::vector<Index> rows = from;
      rows.push_back(6 + static_cast<Index>(candidate));
      return left_with(std::move(rows));
    };
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < 12; ++i) {
      if (!taken[i]) least = std::min(least, with(i));
    }
    EXPECT_NEAR(with(chosen), least, 1e-5 * least);
    taken[chosen] = true;
    from.push_back(6 + static_cast<Index>(chosen));
  }
  EXPECT_EQ(
      choose_most_informative(kernel, known.points, candidates.points, asked.points, weights, 50)
          .size(),
      12U);
}

TEST(MostTelling, ManyAreChosenAsOneAfterTheOther) {
  constexpr Index kCandidates = 700;  // more than are looked at together
  constexpr std::size_t kChosen = 90;
  const Points known = some_problem(40, 3).points;
  const Points candidates = some_problem(kCandidates, 3, 11).points;
  const Points asked = some_problem(80, 3, 12).points;
  const SmoothKernel kernel = some_kernel(3);
  base::Random random(13);
  std::vector<float> weights;
  std::vector<float> costs;
  for (Index i = 0; i < asked.size(); ++i)
    weights.push_back(static_cast<float>(0.5 + random.uniform()));
  for (Index i = 0; i < kCandidates; ++i)
    costs.push_back(static_cast<float>(0.5 + random.uniform()));
  const auto chosen =
      choose_most_informative(kernel, known, candidates, asked, weights, kChosen, costs);
  ASSERT_EQ(chosen.size(), kChosen);
  EXPECT_EQ(chosen,
            choose_most_informative(kernel, known, candidates, asked, weights, kChosen, costs, 2));
  // Interrupted, it has those made by then.
  int left = 2;
  const auto some = choose_most_informative(kernel, known, candidates, asked, weights, kChosen,
                                            costs, 1, [&] { return left-- > 0; });
  EXPECT_GT(some.size(), 1U);
  ASSERT_LT(some.size(), kChosen);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), chosen.begin()));

  // Covariances with the candidates, of them and of what is asked, given all that is known.
  MatrixXd among = kernel.between(known, known);
  among.diagonal().array() += kernel.noise + kJitter;
  const Eigen::LLT<MatrixXd> factor(among);
  const MatrixXd to = factor.solve(kernel.between(known, candidates));
  MatrixXd of_candidates =
      kernel.between(candidates, candidates) - kernel.between(candidates, known) * to;
  MatrixXd of_asked = kernel.between(asked, candidates) - kernel.between(asked, known) * to;
  std::vector<bool> taken(kCandidates, false);
  for (const std::size_t one : chosen) {
    ASSERT_LT(one, taken.size());
    ASSERT_FALSE(taken[one]);
    const auto variance = [&](Index i) { return of_candidates(i, i) + kernel.noise + kJitter; };
    VectorXd gains = VectorXd::Zero(kCandidates);
    for (Index i = 0; i < kCandidates; ++i) {
      if (taken[static_cast<std::size_t>(i)]) continue;
      for (Index a = 0; a < asked.size(); ++a)
        gains(i) += static_cast<double>(weights[static_cast<std::size_t>(a)]) * of_asked(a, i) *
                    of_asked(a, i);
      gains(i) /= variance(i) * static_cast<double>(costs[static_cast<std::size_t>(i)]);
    }
    const auto at = static_cast<Index>(one);
    EXPECT_GE(gains(at), 0.999 * gains.maxCoeff());
    const VectorXd column = of_candidates.col(at) / std::sqrt(variance(at));
    const VectorXd told = of_asked.col(at) / std::sqrt(variance(at));
    of_asked -= told * column.transpose();
    of_candidates -= column * column.transpose();
    taken[one] = true;
  }
}

TEST(Scaler, ColumnsThatVaryGetMeanNoughtAndDeviationOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Matrix shapes(4, 4);
  shapes.values = {0, 1, 7, -100, 1, 3, 7, 2, 0, nan, 7, 4, 1, 5, 7, 3};
  const Scaler scaler = Scaler::learn(shapes);
  // The slice is not a column, nor what never varies.
  ASSERT_EQ(scaler.columns().size(), 2U);
  const Points points = scaler.points(shapes);
  EXPECT_EQ(points.slices, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_NEAR(points.at(0, 0), -std::sqrt(1.5), 1e-5);
  EXPECT_NEAR(points.at(2, 0), 0, 1e-6) << "what is missing counts as the mean";
  EXPECT_NEAR(points.at.col(1).mean(), 0, 1e-6);
  EXPECT_NEAR(points.at.col(1).squaredNorm(), 4, 1e-5);
  EXPECT_NEAR(points.at(1, 1) - points.at(0, 1), points.at(3, 1) - points.at(1, 1), 1e-5)
      << "a number without a logarithm is one less than the least that has one";
}

TEST(GaussianBytes, ComeBackTheSame) {
  const Problem rows = some_problem(20, 3);
  for (const bool exact : {true, false}) {
    const Gaussian model = Gaussian::fit(rows.points, rows.y, some_kernel(3), answers_by(exact));
    base::ByteWriter writer;
    model.save(writer);
    base::ByteReader reader(writer.bytes());
    const auto loaded = Gaussian::load(reader);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(reader.done());
    const std::vector<float> asked{0.1F, -0.4F, 1.5F};
    EXPECT_EQ(loaded->answer(asked, 1, 0).mean, model.answer(asked, 1, 0).mean);
    EXPECT_EQ(loaded->answer(asked, 1, 0).sd, model.answer(asked, 1, 0).sd);
    base::ByteWriter again;
    loaded->save(again);
    EXPECT_EQ(again.bytes(), writer.bytes());
  }
}

TEST(GaussianBytes, DamagedOnesAreRefusedOrAnswer) {
  const Problem rows = some_problem(5, 2);
  base::ByteWriter writer;
  Gaussian::fit(rows.points, rows.y, some_kernel(2), answers_by(false)).save(writer);
  for (std::size_t size = 0; size < writer.bytes().size(); ++size) {
    base::ByteReader reader(std::string_view(writer.bytes()).substr(0, size));
    EXPECT_FALSE(Gaussian::load(reader)) << "cut off after " << size << " bytes";
  }
  const std::vector<float> asked{0.1F, -0.4F};
  for (std::size_t at = 0; at < writer.bytes().size(); ++at) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string bytes = writer.bytes();
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      base::ByteReader reader(bytes);
      const auto loaded = Gaussian::load(reader);
      if (!loaded) {
        EXPECT_EQ(loaded.error().code, Code::Input);
      } else if (loaded->columns() == asked.size()) {
        EXPECT_FALSE(std::isnan(loaded->answer(asked, 0, 0).mean)) << "byte " << at;
      }
    }
  }
}

}  // namespace
}  // namespace oplat::estimate
