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

#include "base/bytes.hpp"
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

/// A forest between two of its trees: what the next one depends on.
struct Growth {
  Forest forest;
  base::Random random;
  std::vector<float> sums;  ///< what the trees say of each row, in the order of the rows

  [[nodiscard]] std::string save() const {
    base::ByteWriter writer;
    writer.u64(random.state());
    writer.text(forest.save());
    for (const float sum : sums) writer.f32(sum);
    return writer.take();
  }
};

Result<Growth> start_growth(const Matrix& x, std::span<const float> y,
                            const BoostOptions& options) {
  const float start = mean(y);
  OPLAT_TRY(forest, Forest::make({}, start, x.columns));
  return Growth{std::move(forest), base::Random(options.seed), std::vector<float>(y.size(), start)};
}

/// The growth of this hash that was stopped; std::nullopt: there is none, or none that can be.
std::optional<Growth> begun_growth(const base::Hash128& hash, const Matrix& x,
                                   std::span<const float> y, const BoostOptions& options) {
  const auto bytes = options.finished->find_begun(hash);
  if (!bytes) return std::nullopt;
  base::ByteReader reader(*bytes);
  const base::Random random(reader.u64());
  auto forest = Forest::load(reader.text());
  std::vector<float> sums(y.size());
  for (float& sum : sums) sum = reader.f32();
  if (!forest || !reader.done() || forest->features() != x.columns ||
      forest->trees() > static_cast<std::size_t>(std::max(0, options.trees)) ||
      !std::all_of(sums.begin(), sums.end(), [](float sum) { return std::isfinite(sum); }))
    return std::nullopt;
  return Growth{std::move(*forest), random, std::move(sums)};
}

/// Grows the rest of the trees. Where that is stopped, `growth` holds what is grown.
Status grow_on(Growth& growth, const Matrix& x, std::span<const float> y,
               const BoostOptions& options) {
  for (int tree = 0; tree < static_cast<int>(growth.forest.trees()); ++tree) {
    if (options.progress && !options.progress(tree + 1))
      return fail(Code::Interrupted, "interrupted while fitting");
  }
  const Binned data(x);
  if (data.columns() == 0) return {};
  Grower grower(
      data, {options.leaves, static_cast<float>(options.min_rows), static_cast<float>(options.l2)});
  const std::vector<float> weights =
      options.weights.empty() ? std::vector<float>(y.size(), 1.0F) : options.weights;
  std::vector<float> left(y.size());
  const auto rate = static_cast<float>(options.learning_rate);
  for (int tree = static_cast<int>(growth.forest.trees()); tree < options.trees; ++tree) {
    for (std::size_t i = 0; i < y.size(); ++i) left[i] = y[i] - growth.sums[i];
    cut_to_quantile(left, options.huber_quantile);
    const auto rows =
        some_of(y.size(), share_of(y.size(), options.bagging_fraction), growth.random);
    const auto columns =
        some_of(data.columns(), share_of(data.columns(), options.feature_fraction), growth.random);
    TrainedTree grown = grower.grow(left, weights, rows, columns);
    for (auto& node : grown.nodes) node.value *= node.left < 0 ? rate : 1;
    OPLAT_CHECK(growth.forest.add(grown));
    grower.add_to(growth.sums, rate);
    if (options.progress && !options.progress(tree + 1))
      return fail(Code::Interrupted, "interrupted while fitting");
  }
  return {};
}

}  // namespace

Result<Forest> boost(const Matrix& x, std::span<const float> y, const BoostOptions& options) {
  OPLAT_TRY(growth, start_growth(x, y, options));
  if (options.finished == nullptr) {
    OPLAT_CHECK(grow_on(growth, x, y, options));
    return std::move(growth.forest);
  }
  const base::Hash128 hash = hash_of(x, y, options);
  OPLAT_TRY(finished, finished_forest(hash, options));
  if (finished) return std::move(*finished);
  if (auto begun = begun_growth(hash, x, y, options)) growth = std::move(*begun);
  const Status grown = grow_on(growth, x, y, options);
  if (!grown && grown.error().code == Code::Interrupted && growth.forest.trees() > 0)
    options.finished->keep_begun(hash, growth.save());
  if (!grown) return fail(grown.error());
  options.finished->keep(hash, growth.forest.save());
  return std::move(growth.forest);
}

}  // namespace oplat::estimate
