// SPDX-License-Identifier: Apache-2.0
/// The list of estimators, most trusted first.
#include "estimate/chain.hpp"

#include <algorithm>

#include "estimate/roofline.hpp"

namespace oplat::estimate {
namespace {

Result<std::unique_ptr<Estimator>> exact_link(const RowSource& rows, const ChainOptions&) {
  return make_exact(rows);
}

Result<std::unique_ptr<Estimator>> learned_link(const RowSource& rows,
                                                const ChainOptions& options) {
  if (!options.profile || rows.settings.empty()) return nullptr;
  return make_learned(rows, *options.profile);
}

Result<std::unique_ptr<Estimator>> roofline_link(const RowSource& rows,
                                                 const ChainOptions& options) {
  if (!options.roofline) return nullptr;
  OPLAT_TRY(samples, read_samples(rows));
  return make_roofline(samples, *rows.catalogue);
}

constexpr ChainEntry kEntries[] = {
    {"exact", exact_link}, {"learned", learned_link}, {"roofline", roofline_link}};

}  // namespace

std::span<const ChainEntry> chain_entries() { return kEntries; }

Result<Chain> make_chain(const RowSource& rows, const ChainOptions& options) {
  Chain chain;
  for (const ChainEntry& entry : chain_entries()) {
    OPLAT_TRY(link, entry.make(rows, options));
    if (link) chain.links.push_back(std::move(link));
  }
  return chain;
}

Status estimate_all(const Chain& chain, std::span<const Query> queries,
                    std::span<std::optional<Estimate>> answers) {
  const auto open = [&] {
    return std::any_of(answers.begin(), answers.end(), [](const auto& answer) { return !answer; });
  };
  chain.memo->recall(queries, answers);
  if (!open()) return {};
  for (const auto& link : chain.links) OPLAT_CHECK(link->estimate(queries, answers));
  chain.memo->keep(queries, answers);
  return {};
}

}  // namespace oplat::estimate
