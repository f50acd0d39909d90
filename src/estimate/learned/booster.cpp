// SPDX-License-Identifier: Apache-2.0
/// Trains one tree after another on the residuals of the earlier ones. booster.hpp describes the
/// method.
#include "estimate/learned/booster.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "estimate/learned/grower.hpp"

namespace oplat::estimate {
namespace {

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum / std::max<double>(1, static_cast<double>(values.size())));
}

/// So many of the first `all` numbers, ascending.
std::vector<std::uint32_t> some_of(std::size_t all, std::size_t count, base::Random& random) {
  std::vector<std::uint32_t> numbers(all);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (std::size_t i = 0; i < count; ++i) std::swap(numbers[i], numbers[i + random.below(all - i)]);
  numbers.resize(count);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::size_t share_of(std::size_t all, double share) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(share * static_cast<double>(all) + 0.5),
                                 1, all);
}

void cut_to_quantile(std::vector<float>& deviations, double level) {
  if (deviations.empty()) return;
  std::vector<float> sizes;
  sizes.reserve(deviations.size());
  for (const float deviation : deviations) sizes.push_back(std::abs(deviation));
  const auto at =
      sizes.begin() + static_cast<std::ptrdiff_t>(level * static_cast<double>(sizes.size() - 1));
  std::nth_element(sizes.begin(), at, sizes.end());
  const float most = *at;
  for (float& deviation : deviations) deviation = std::clamp(deviation, -most, most);
}

}  // namespace

namespace {

std::string_view bytes_of(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

/// Of all that decides about the forest.
base::Hash128 hash_of(const Matrix& x, std::span<const float> y, const BoostOptions& options) {
  base::Hasher hasher;
  hasher.add(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", x.rows, x.columns, options.trees,
                         options.learning_rate, options.leaves, options.min_rows,
                         options.feature_fraction, options.bagging_fraction, options.huber_quantile,
                         options.l2, options.weights.size(), options.seed));
  hasher.add(bytes_of(std::span(x.values).first(x.rows * x.columns)));
  hasher.add(bytes_of(y));
  hasher.add(bytes_of(options.weights));
  return hasher.finish();
}

/// The finished forest of this hash; std::nullopt: there is none.
Result<std::optional<Forest>> finished_forest(const base::Hash128& hash,
                                              const BoostOptions& options) {
  const auto bytes = options.finished->find(hash);
  if (!bytes) return std::optional<Forest>();
  auto forest = Forest::load(*bytes);
  if (!forest) return std::optional<Forest>();
  for (int tree = 0; options.progress && tree < options.trees; ++tree)
    if (!options.progress(tree + 1)) return fail(Code::Interrupted, "interrupted while fitting");
  return std::optional(std::move(*forest));
}

Result<Forest> grow(const Matrix& x, std::span<const float> y, const BoostOptions& options) {
  const float start = mean(y);
  const Binned data(x);
  if (data.columns() == 0 || options.trees < 1) return Forest::make({}, start, x.columns);
  base::Random random(options.seed);
  Grower grower(
      data, {options.leaves, static_cast<float>(options.min_rows), static_cast<float>(options.l2)});
  const std::vector<float> weights =
      options.weights.empty() ? std::vector<float>(y.size(), 1.0F) : options.weights;
  std::vector<float> sums(y.size(), start);
  std::vector<float> left(y.size());
  std::vector<TrainedTree> trees;
  const auto rate = static_cast<float>(options.learning_rate);
  for (int tree = 0; tree < options.trees; ++tree) {
    for (std::size_t i = 0; i < y.size(); ++i) left[i] = y[i] - sums[i];
    cut_to_quantile(left, options.huber_quantile);
    const auto rows = some_of(y.size(), share_of(y.size(), options.bagging_fraction), random);
    const auto columns =
        some_of(data.columns(), share_of(data.columns(), options.feature_fraction), random);
    trees.push_back(grower.grow(left, weights, rows, columns));
    for (auto& node : trees.back().nodes) node.value *= node.left < 0 ? rate : 1;
    grower.add_to(sums, rate);
    if (options.progress && !options.progress(tree + 1))
      return fail(Code::Interrupted, "interrupted while fitting");
  }
  return Forest::make(trees, start, x.columns);
}

}  // namespace

Result<Forest> boost(const Matrix& x, std::span<const float> y, const BoostOptions& options) {
  if (options.finished == nullptr) return grow(x, y, options);
  const base::Hash128 hash = hash_of(x, y, options);
  OPLAT_TRY(finished, finished_forest(hash, options));
  if (finished) return std::move(*finished);
  OPLAT_TRY(forest, grow(x, y, options));
  options.finished->keep(hash, forest.save());
  return std::move(forest);
}

}  // namespace oplat::estimate
