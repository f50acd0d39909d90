// SPDX-License-Identifier: Apache-2.0
/// Fitting a Gaussian process, and its answers. gaussian.hpp describes the method.
#include "estimate/learned/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/random.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Eigen::VectorXf;

constexpr double kJitter = 1e-6;
/// Rows that a deviation, or where there are too many rows an answer, is made of.
constexpr std::size_t kNearestOfExact = 16;
constexpr std::size_t kNearest = 128;
constexpr float kRoot3F = 1.7320508F;
/// A matrix that is singular to the last bit gets more noise.
constexpr int kTries = 8;

VectorXd deviations_of(std::span<const double> y, double mean) {
  VectorXd out(static_cast<Index>(y.size()));
  for (std::size_t i = 0; i < y.size(); ++i) out(static_cast<Index>(i)) = y[i] - mean;
  return out;
}

double mean_of(std::span<const double> y) {
  return y.empty() ? 0 : std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
}

/// Rows at random that a kernel is learned from. Of several settings: half of them of setting 0, if
/// it has so many.
std::vector<std::size_t> rows_of_kernel(const Points& points, const Gaussian::Options& options) {
  std::vector<std::size_t> rows(static_cast<std::size_t>(points.size()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t most = options.rows_of_kernel;
  if (rows.size() <= most) return rows;
  base::Random random(options.seed);
  base::shuffle(rows, random);
  std::size_t of_setting = 0;
  std::stable_partition(rows.begin(), rows.end(), [&](std::size_t row) {
    return !points.settings.empty() && points.is_of_setting(row) && of_setting++ < most / 2;
  });
  rows.resize(most);
  return rows;
}

}  // namespace

Gaussian Gaussian::learn(const Points& points, std::span<const double> y, const Options& options) {
  const std::vector<std::size_t> rows = rows_of_kernel(points, options);
  VectorXd some(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) some(static_cast<Index>(i)) = y[rows[i]];
  if (some.size() > 0) some.array() -= some.mean();
  bool stopped = false;
  std::function<bool()> go_on;
  if (options.go_on)
    go_on = [&] {
      stopped = stopped || !options.go_on();
      return !stopped;
    };
  SmoothKernel kernel = learn_kernel(points.chosen(rows), some, options.steps, go_on);
  return stopped ? Gaussian() : fit(points, y, std::move(kernel), options);
}

Gaussian Gaussian::fit(const Points& points, std::span<const double> y, SmoothKernel kernel,
                       const Options& options) {
  Gaussian model;
  model.kernel_ = std::move(kernel);
  model.mean_ = mean_of(y);
  model.exact_ = y.size() <= options.max_exact;
  model.slices_ = points.slices;
  model.families_ = points.families;
  model.settings_ = points.settings;
  model.kernels_ = points.kernels;
  model.at_ = points.at.cast<float>();
  const VectorXd deviations = deviations_of(y, model.mean_);
  if (options.leave_out) model.left_out_.resize(y.size());
  if (model.exact_) {
    model.fit_exact(points, deviations, options.leave_out);
  } else {
    model.values_ = deviations;
  }
  if (options.leave_out) model.leave_out(options.threads);
  model.kernels_.clear();
  return model;
}

void Gaussian::leave_out(int threads) {
  base::for_parts(rows(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(columns());
    for (std::size_t i = begin; i < end; ++i) {
      if (setting(i) != 0) continue;
      for (std::size_t d = 0; d < row.size(); ++d)
        row[d] = at_(static_cast<Index>(i), static_cast<Index>(d));
      const Answer near = from_nearest(covariances(row, slices_[i], family(i)), nearest(), i);
      if (!exact_) left_out_[i].mean = near.mean;
      left_out_[i].sd = near.sd;
    }
  });
}

void Gaussian::fit_exact(const Points& points, const VectorXd& deviations, bool leave_out) {
  MatrixXd covariance = kernel_.between(points, points);
  covariance.diagonal().array() += kernel_.noise + kJitter;
  Eigen::LLT<MatrixXd> factor(covariance);
  for (int tries = 0; tries < kTries && factor.info() != Eigen::Success; ++tries) {
    kernel_.noise = std::max(10 * kernel_.noise, kJitter);
    covariance.diagonal().array() += kernel_.noise;
    factor.compute(covariance);
  }
  values_ = factor.solve(deviations);
  if (!leave_out) return;
  covariance = factor.matrixL();
  leave_out_exactly(inverse_of_lower(covariance), deviations);
}

/// The means of some rows B without them are y_B - ((K^-1)_BB)^-1 (K^-1 y)_B.
void Gaussian::leave_out_exactly(const MatrixXd& inverse_lower, const VectorXd& deviations) {
  std::unordered_map<std::size_t, std::vector<Index>> rows_of;
  for (Index i = 0; i < deviations.size(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    rows_of[kernels_.empty() ? row : kernels_[row]].push_back(i);
  }
  for (const auto& [kernel, rows] : rows_of) {
    const auto n = static_cast<Index>(rows.size());
    MatrixXd among(n, n);
    VectorXd values(n);
    for (Index a = 0; a < n; ++a) {
      const Index row = rows[static_cast<std::size_t>(a)];
      values(a) = values_(row);
      for (Index b = 0; b <= a; ++b) {
        const Index other = rows[static_cast<std::size_t>(b)];
        among(a, b) = among(b, a) = inverse_lower.col(row).dot(inverse_lower.col(other));
      }
    }
    const VectorXd off = among.llt().solve(values);
    for (Index a = 0; a < n; ++a) {
      const Index row = rows[static_cast<std::size_t>(a)];
      left_out_[static_cast<std::size_t>(row)].mean = mean_ + deviations(row) - off(a);
    }
  }
}

VectorXf Gaussian::covariances(std::span<const float> at, std::uint32_t slice,
                               std::uint32_t family) const {
  const auto n = static_cast<Index>(rows());
  std::array<Eigen::ArrayXf, SmoothKernel::kParts> squares;
  squares.fill(Eigen::ArrayXf::Zero(n));
  Eigen::ArrayXf difference(n);
  for (Index d = 0; d < at_.cols(); ++d) {
    difference = (at_.col(d).array() - at[static_cast<std::size_t>(d)]).square();
    for (std::size_t c = 0; c < SmoothKernel::kParts; ++c) {
      squares[c] += static_cast<float>(kernel_.parts[c].weights(d)) * difference;
    }
  }
  VectorXf out = VectorXf::Zero(n);
  for (std::size_t c = 0; c < SmoothKernel::kParts; ++c) {
    const Eigen::ArrayXf r = kRoot3F * squares[c].sqrt();
    out.array() += static_cast<float>(kernel_.parts[c].variance) * (1 + r) * (-r).exp();
  }
  const auto across = static_cast<float>(kernel_.across);
  const auto apart = static_cast<float>(kernel_.apart);
  const auto between = static_cast<float>(kernel_.between_settings);
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (slices_[row] != slice) out(i) *= across;
    if (slices_[row] != slice && !families_.empty() && families_[row] != family) out(i) *= apart;
    if (setting(row) != 0) out(i) *= between;
  }
  return out;
}

std::size_t Gaussian::nearest() const { return exact_ ? kNearestOfExact : kNearest; }

Gaussian::Answer Gaussian::from_nearest(const VectorXf& covariances, std::size_t nearest,
                                        std::optional<std::size_t> but) const {
  std::vector<Index> order;
  for (std::size_t i = 0; i < rows(); ++i) {
    if (!but || !is_one_kernel(i, *but)) order.push_back(static_cast<Index>(i));
  }
  const std::size_t count = std::min(nearest, order.size());
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
  // Ties by number, so that every platform chooses the same.
  std::partial_sort(order.begin(), middle, order.end(), [&](Index a, Index b) {
    return covariances(a) != covariances(b) ? covariances(a) > covariances(b) : a < b;
  });
  const double own = kernel_.variance() + kernel_.noise;
  if (count == 0) return {mean_, std::sqrt(own)};
  const auto n = static_cast<Index>(count);
  Points near;
  near.at.resize(n, at_.cols());
  VectorXd to(n);
  VectorXd values(n);
  for (Index i = 0; i < n; ++i) {
    const Index row = order[static_cast<std::size_t>(i)];
    near.at.row(i) = at_.row(row).cast<double>();
    near.slices.push_back(slices_[static_cast<std::size_t>(row)]);
    near.families.push_back(family(static_cast<std::size_t>(row)));
    near.settings.push_back(setting(static_cast<std::size_t>(row)));
    to(i) = static_cast<double>(covariances(row));
    values(i) = values_(row);
  }
  MatrixXd among = kernel_.between(near, near);
  among.diagonal().array() += kernel_.noise + kJitter;
  const VectorXd weights = among.selfadjointView<Eigen::Lower>().llt().solve(to);
  Answer answer;
  answer.mean = mean_ + weights.dot(values);
  answer.sd = std::sqrt(
      std::clamp(own - weights.dot(to), std::min(std::max(kernel_.noise, 1e-9), own), own));
  return answer;
}

Gaussian::Answer Gaussian::answer(std::span<const float> at, std::uint32_t slice,
                                  std::uint32_t family) const {
  const VectorXf near = covariances(at, slice, family);
  Answer out = from_nearest(near, nearest(), std::nullopt);
  if (exact_) out.mean = mean_ + near.cast<double>().dot(values_);
  return out;
}

std::vector<double> Gaussian::means(const Points& points, int threads) const {
  std::vector<double> out(static_cast<std::size_t>(points.size()));
  base::for_parts(out.size(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(columns());
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t d = 0; d < row.size(); ++d) {
        row[d] = static_cast<float>(points.at(static_cast<Index>(i), static_cast<Index>(d)));
      }
      const VectorXf near =
          covariances(row, points.slices[i], points.families.empty() ? 0 : points.families[i]);
      out[i] = exact_ ? mean_ + near.cast<double>().dot(values_)
                      : from_nearest(near, nearest(), std::nullopt).mean;
    }
  });
  return out;
}

void Gaussian::save(base::ByteWriter& writer) const {
  writer.u32(exact_ ? 1 : 0);
  writer.f64(mean_);
  writer.f64(kernel_.across);
  writer.f64(kernel_.apart);
  writer.f64(kernel_.between_settings);
  writer.f64(kernel_.noise);
  writer.u64(columns());
  for (const SmoothKernel::Part& part : kernel_.parts) {
    writer.f64(part.variance);
    for (const double weight : part.weights) writer.f64(weight);
  }
  writer.u64(rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    const auto row = static_cast<Index>(i);
    writer.u32(slices_[i]);
    writer.u32(family(i));
    writer.u32(setting(i));
    writer.f64(values_(row));
    for (Index d = 0; d < at_.cols(); ++d) writer.f32(at_(row, d));
  }
}

Result<Gaussian> Gaussian::load(base::ByteReader& reader) {
  const auto broken = [](std::string_view what) {
    return fail(Code::Input, "smooth model: {}; run oplat fit again", what);
  };
  const auto between = [](double value, double low, double high) {
    return value >= low && value <= high;
  };
  constexpr double kMax = 1e6;
  Gaussian model;
  const std::uint32_t exact = reader.u32();
  model.exact_ = exact == 1;
  model.mean_ = reader.f64();
  model.kernel_.across = reader.f64();
  model.kernel_.apart = reader.f64();
  model.kernel_.between_settings = reader.f64();
  model.kernel_.noise = reader.f64();
  if (!reader.ok() || exact > 1 || !between(model.mean_, -kMax, kMax) ||
      !between(model.kernel_.across, 0, 1) || !between(model.kernel_.apart, 0, 1) ||
      !between(model.kernel_.between_settings, 0, 1) || !between(model.kernel_.noise, 0, kMax))
    return broken("its kernel is damaged");
  const std::size_t columns = reader.count(8 * SmoothKernel::kParts);
  for (SmoothKernel::Part& part : model.kernel_.parts) {
    part.variance = reader.f64();
    part.weights.resize(static_cast<Index>(columns));
    if (!between(part.variance, 1e-12, kMax)) return broken("a variance is out of range");
    for (double& weight : part.weights) {
      weight = reader.f64();
      if (!between(weight, 0, kMax)) return broken("a weight is out of range");
    }
  }
  const std::size_t rows = reader.count(4 + 4 + 4 + 8 + 4 * columns);
  if (!reader.ok()) return broken("it is cut off");
  model.values_.resize(static_cast<Index>(rows));
  model.at_.resize(static_cast<Index>(rows), static_cast<Index>(columns));
  for (Index row = 0; row < static_cast<Index>(rows); ++row) {
    model.slices_.push_back(reader.u32());
    model.families_.push_back(reader.u32());
    model.settings_.push_back(reader.u32());
    model.values_(row) = reader.f64();
    bool finite = std::isfinite(model.values_(row));
    for (Index d = 0; d < model.at_.cols(); ++d) {
      model.at_(row, d) = reader.f32();
      finite = finite && std::abs(model.at_(row, d)) <= static_cast<float>(kMax);
    }
    if (!finite) return broken("a row holds a value that is not finite");
  }
  return model;
}

}  // namespace oplat::estimate
