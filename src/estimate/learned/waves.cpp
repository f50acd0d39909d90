// SPDX-License-Identifier: Apache-2.0
/// Least squares for each number of tiles at once, the other features projected out before.
#include "estimate/learned/waves.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "estimate/learned/scaler.hpp"
#include "estimate/learned/shape_features.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows that the search looks at, evenly spread, and how few are too few.
constexpr std::size_t kRowsLookedAt = 2000;
constexpr std::size_t kMinRows = 200;
constexpr std::int32_t kMaxAtOnce = 400;
/// Numbers are tried one by one up to here, then in steps of a fortieth.
constexpr std::int32_t kOneByOne = 200;
constexpr std::int32_t kCoarser = 40;
/// Share of the squares that waves must explain: this, and what as many columns of noise would,
/// with a margin.
constexpr double kMinWaveGain = 0.02;
constexpr double kMargin = 2;
/// Numbers that leave hardly more unexplained than the best one are as good: multiples of the truth
/// do.
constexpr double kTie = 0.01;
constexpr double kRidge = 1e-2;

bool dealt_out(const ir::Description& row) {
  return row.contraction && row.contraction->in_c * row.contraction->out_c > 1;
}

std::vector<std::size_t> evenly(std::vector<std::size_t> all) {
  if (all.size() <= kRowsLookedAt) return all;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < kRowsLookedAt; ++i)
    out.push_back(all[i * all.size() / kRowsLookedAt]);
  return out;
}

/// ln(waves / tiles): 0 for a device that takes one tile at a time.
MatrixXd waves_of(const std::vector<const ir::Contraction*>& products, std::int32_t at_once) {
  MatrixXd out(static_cast<Index>(products.size()), static_cast<Index>(kTileCount));
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t tile = 0; tile < kTileCount; ++tile) {
      const double tiles = tiles_of(*products[i], kTiles[tile]);
      out(static_cast<Index>(i), static_cast<Index>(tile)) =
          std::log(std::ceil(tiles / at_once) / tiles);
    }
  }
  return out;
}

/// What least squares with a weak pull to 0 explains of y.
VectorXd explained(const MatrixXd& x, const VectorXd& y) {
  const MatrixXd normal = x.transpose() * x + kRidge * MatrixXd::Identity(x.cols(), x.cols());
  return x * normal.ldlt().solve(x.transpose() * y);
}

}  // namespace

std::int32_t learn_waves(std::span<const ir::Description> rows, std::span<const double> log_ns,
                         const Space& space, Machine machine) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (dealt_out(rows[i]) && space.place(rows[i])) usable.push_back(i);
  }
  if (usable.size() < kMinRows) return 1;
  usable = evenly(std::move(usable));
  machine.processors = 1;
  Matrix shapes(usable.size(), kShapeFeatures);
  std::vector<const ir::Contraction*> products;
  VectorXd u(static_cast<Index>(usable.size()));
  for (std::size_t i = 0; i < usable.size(); ++i) {
    const ir::Description& row = rows[usable[i]];
    const double log_bound = std::log(machine.bound_ns(row.work));
    shape_features(row, *space.place(row), space.axes(), machine, log_bound, shapes.row(i));
    products.push_back(&*row.contraction);
    u(static_cast<Index>(i)) = log_ns[usable[i]] - log_bound;
  }
  const MatrixXd features = Scaler::learn(shapes).points(shapes).at;
  MatrixXd base(features.rows(), features.cols() + 1);
  base << features, VectorXd::Ones(features.rows());
  const MatrixXd normal =
      base.transpose() * base + kRidge * MatrixXd::Identity(base.cols(), base.cols());
  const Eigen::LDLT<MatrixXd> decomposed(normal);
  const auto left = [&](const MatrixXd& x) {
    return MatrixXd(x - base * decomposed.solve(base.transpose() * x));
  };
  const VectorXd unexplained = left(u);

  const double share =
      kMinWaveGain + kMargin * static_cast<double>(kTileCount) / static_cast<double>(usable.size());
  const double most = (1 - share) * unexplained.squaredNorm();
  double least = most;
  std::vector<std::pair<std::int32_t, double>> errors;
  for (std::int32_t at_once = 2; at_once <= kMaxAtOnce;
       at_once += at_once < kOneByOne ? 1 : at_once / kCoarser) {
    const double error =
        (unexplained - explained(left(waves_of(products, at_once)), unexplained)).squaredNorm();
    errors.emplace_back(at_once, error);
    least = std::min(least, error);
  }
  for (const auto& [at_once, error] : errors) {
    if (error < most && error <= (1 + kTie) * least) return at_once;
  }
  return 1;
}

}  // namespace oplat::estimate
