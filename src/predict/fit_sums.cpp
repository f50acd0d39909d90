// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of fit.cpp: iteratively reweighted least squares for the coefficients, in turn
/// with a grid search for the spread of models around them; then a grid search for the spread and
/// the correlation of errors of models that were left out.
#include "predict/fit_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "predict/composition_fit.hpp"

namespace oplat::predict {
namespace {

/// Degrees of freedom of a model's error and of the priors: few, since some networks are unlike all
/// others, and some machines.
constexpr double kFreedom = 4;
/// Coefficients are solved for so often with one spread, and the spread is chosen so often.
constexpr int kSteps = 4;
constexpr int kRounds = 3;
/// The grids of spreads.
constexpr double kMinSpreadOfModels = 0.004, kMaxSpreadOfModels = 0.6, kRatioOfSpreads = 1.15;
constexpr double kCoarseRatioOfSpreads = 1.3;
/// Standard deviation of what the correlation of measured kernels may be before models say it.
constexpr double kCorrelationDoubt = 0.3;

/// ln of a normal probability, up to what is constant.
double log_normal(double value, double sd) { return -0.5 * value * value / (sd * sd); }

/// ln of the probability of Student's t, up to what is constant, of a squared distance in units in
/// which its middle is as sharp as that of a normal one; and the weight that makes a normal
/// probability of it in a step of the fit.
double log_student(double square) {
  return -0.5 * (kFreedom + 1) * std::log1p(square / (kFreedom + 1));
}
double student_weight(double square) { return (kFreedom + 1) / (kFreedom + 1 + square); }

double log_prior_of_spread(double sd, const CoefficientPrior& prior) {
  return log_normal(std::log(sd / prior.sd_log), prior.sd_log_doubt);
}

/// Normal equations of the unknowns, from the prior on.
class Equations {
 public:
  Equations(const UnknownRow& mean, const UnknownRow& precision) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      a_[i][i] = precision[i];
      b_[i] = precision[i] * mean[i];
    }
  }
  void add(const UnknownRow& x, double y, double weight) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t j = 0; j < kUnknowns; ++j) a_[i][j] += weight * x[i] * x[j];
      b_[i] += weight * x[i] * y;
    }
  }
  /// c0 and c2 not below 0.
  [[nodiscard]] UnknownRow solve() const {
    std::array<bool, kUnknowns> is_zero{};
    UnknownRow x = solve(b_, is_zero);
    // On the edge of what a call or a byte can cost the others remain; without c2, c0 may reach its
    // edge after all.
    for (const Unknown edge : {kC0, kC2, kC0}) {
      if (x[edge] >= 0) continue;
      is_zero[edge] = true;
      x = solve(b_, is_zero);
    }
    return x;
  }
  /// Its inverse; ln of its determinant comes with it.
  [[nodiscard]] std::pair<CoefficientCovariance, double> covariance() const {
    CoefficientCovariance covariance;
    for (std::size_t j = 0; j < kUnknowns; ++j) {
      UnknownRow unit{};
      unit[j] = 1;
      const UnknownRow column = solve(unit, {});
      for (std::size_t i = j; i < kUnknowns; ++i) covariance.at(i, j) = column[i];
    }
    auto a = a_;
    double log_determinant = 0;
    for (std::size_t k = 0; k < kUnknowns; ++k) {
      log_determinant += std::log(a[k][k]);
      for (std::size_t i = k + 1; i < kUnknowns; ++i) {
        const double part = a[i][k] / a[k][k];
        for (std::size_t j = k; j < kUnknowns; ++j) a[i][j] -= part * a[k][j];
      }
    }
    return {covariance, log_determinant};
  }

 private:
  /// The prior makes the matrix positive definite: no pivot is needed.
  [[nodiscard]] UnknownRow solve(UnknownRow x, const std::array<bool, kUnknowns>& is_zero) const {
    auto a = a_;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (!is_zero[i]) continue;
      for (std::size_t j = 0; j < kUnknowns; ++j) a[i][j] = a[j][i] = 0;
      a[i][i] = 1;
      x[i] = 0;
    }
    for (std::size_t k = 0; k < kUnknowns; ++k) {
      for (std::size_t i = k + 1; i < kUnknowns; ++i) {
        const double part = a[i][k] / a[k][k];
        for (std::size_t j = k; j < kUnknowns; ++j) a[i][j] -= part * a[k][j];
        x[i] -= part * x[k];
      }
    }
    for (std::size_t i = kUnknowns; i-- > 0;) {
      for (std::size_t j = i + 1; j < kUnknowns; ++j) x[i] -= a[i][j] * x[j];
      x[i] /= a[i][i];
    }
    return x;
  }

  std::array<UnknownRow, kUnknowns> a_{};
  UnknownRow b_{};
};

/// Coefficients and spread, in turn.
class Fit {
 public:
  Fit(std::span<const KernelSum> sums, std::span<const MeasuredTime> measured,
      const CoefficientPrior& prior)
      : prior_(prior), sd_log_(prior.sd_log), unknowns_(start()) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double ns = measured[i].ns;
      UnknownRow x = row_of(sums[i].parts);
      for (double& one : x) one /= ns;
      rows_.push_back({x, measured[i].sd_log * measured[i].sd_log +
                              sums[i].variance_ns2(kMeasuredCorrelation) / (ns * ns)});
    }
  }

  FittedSums run() {
    for (int round = 0; round < kRounds && !rows_.empty(); ++round) {
      if (!solve_steps()) break;
      choose_spread();
    }
    solve_steps();
    const auto [covariance, log_determinant] = equations().covariance();
    double evidence = log_prior_of_spread(sd_log_, prior_) - 0.5 * log_determinant;
    for (const ModelRow& row : rows_) evidence += log_error(row, variance(row, sd_log_), 1);
    for (std::size_t i = 0; i < kUnknowns; ++i) evidence += log_student(square_from_mean(i));
    const double scale = unknowns_[kScale];
    return {
        {unknowns_[kC0], unknowns_[kC1], unknowns_[kC2], std::clamp(scale, kMinScale, kMaxScale),
         std::clamp(scale + unknowns_[kScaleInt8], kMinScale, kMaxScale)},
        covariance,
        sd_log_,
        evidence};
  }

 private:
  struct ModelRow {
    UnknownRow x;         ///< relative to the measured time
    double variance = 0;  ///< known, relative
  };

  [[nodiscard]] UnknownRow start() const {
    const Coefficients& mean = prior_.mean;
    return {mean.c0_ns, mean.c1_ns, mean.c2_ns_per_byte, mean.scale, mean.scale_int8 - mean.scale};
  }
  [[nodiscard]] double error(const ModelRow& row) const {
    double sum = -1;
    for (std::size_t i = 0; i < kUnknowns; ++i) sum += row.x[i] * unknowns_[i];
    return sum;
  }
  /// How far an unknown is from its prior's mean, in standard deviations, squared.
  [[nodiscard]] double square_from_mean(std::size_t i) const {
    const double z = (unknowns_[i] - start()[i]) / prior_.sd[i];
    return z * z;
  }
  static double variance(const ModelRow& row, double sd) { return row.variance + sd * sd; }
  /// ln of the error's probability. `free` is the share of it that the coefficients do not take.
  [[nodiscard]] double log_error(const ModelRow& row, double variance, double free) const {
    const double e = error(row);
    return -0.5 * free * std::log(variance) + log_student(e * e / variance);
  }
  [[nodiscard]] double weight(const ModelRow& row) const {
    const double known = variance(row, sd_log_);
    const double e = error(row);
    return student_weight(e * e / known) / known;
  }
  [[nodiscard]] Equations equations() const {
    UnknownRow precision{};
    for (std::size_t i = 0; i < kUnknowns; ++i)
      precision[i] = student_weight(square_from_mean(i)) / (prior_.sd[i] * prior_.sd[i]);
    Equations equations(start(), precision);
    for (const ModelRow& row : rows_) equations.add(row.x, 1, weight(row));
    return equations;
  }
  /// False where the times of an untrusted table run over: the step before stands.
  bool solve_steps() {
    for (int step = 0; step < kSteps; ++step) {
      const UnknownRow next = equations().solve();
      double sum = 0;
      for (const double one : next) sum += one;
      if (!std::isfinite(sum)) return false;
      unknowns_ = next;
    }
    return true;
  }
  void choose_spread() {
    const CoefficientCovariance covariance = equations().covariance().first;
    std::vector<double> free;
    for (const ModelRow& row : rows_) {
      const double taken =
          weight(row) * covariance.variance_ns2(
                            {row.x[kC0], row.x[kC1], row.x[kC2], row.x[kScale], row.x[kScaleInt8]});
      free.push_back(std::clamp(1 - taken, 0.0, 1.0));
    }
    double best = 0;
    bool any = false;
    for (double sd = kMinSpreadOfModels; sd < kMaxSpreadOfModels; sd *= kCoarseRatioOfSpreads) {
      double likelihood = log_prior_of_spread(sd, prior_);
      for (std::size_t i = 0; i < rows_.size(); ++i)
        likelihood += log_error(rows_[i], variance(rows_[i], sd), free[i]);
      if (any && !(likelihood > best)) continue;
      best = likelihood;
      sd_log_ = sd;
      any = true;
    }
  }

  const CoefficientPrior& prior_;
  double sd_log_;
  UnknownRow unknowns_;
  std::vector<ModelRow> rows_;
};

}  // namespace

FittedSums fit_sums(std::span<const KernelSum> sums, std::span<const MeasuredTime> measured,
                    const CoefficientPrior& prior) {
  return Fit(sums, measured, prior).run();
}

double ErrorTerm::score(double rho, double sd) const {
  return std::abs(log_error) / std::sqrt(variance(rho, sd) + noise_variance);
}

namespace {

/// One model in twenty that is off by five times what others are must not widen every interval: of
/// 17 small networks 16 were within 7 % and one, whose weights all come from memory, was 25 % off.
constexpr double kShareOfOutliers = 0.05;
constexpr double kSpreadOfOutliers = 5;

/// ln of the error's probability, up to what is constant: normal, or an outlier's by log_student().
double log_of_error(double error, double variance) {
  const double square = error * error / variance;
  const double outlying = std::exp(log_student(square / (kSpreadOfOutliers * kSpreadOfOutliers)));
  return std::log((1 - kShareOfOutliers) * std::exp(-0.5 * square) +
                  kShareOfOutliers / kSpreadOfOutliers * outlying) -
         0.5 * std::log(variance);
}

}  // namespace

SpreadFit fit_spread(std::span<const ErrorTerm> errors, const CoefficientPrior& prior) {
  SpreadFit best{kMeasuredCorrelation, prior.sd_log};
  if (errors.empty()) return best;
  double most = -1e300;
  for (const double rho : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9}) {
    for (double sd = kMinSpreadOfModels; sd < kMaxSpreadOfModels; sd *= kRatioOfSpreads) {
      double likelihood = log_prior_of_spread(sd, prior) +
                          log_normal(rho - kMeasuredCorrelation, kCorrelationDoubt);
      for (const ErrorTerm& error : errors) {
        likelihood += log_of_error(error.log_error, error.variance(rho, sd) + error.noise_variance);
      }
      if (likelihood > most) {
        most = likelihood;
        best = {rho, sd};
      }
    }
  }
  return best;
}

}  // namespace oplat::predict
