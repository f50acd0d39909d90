// SPDX-License-Identifier: Apache-2.0
/// Estimators in order of trust; each fills what those before it left open.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "estimate/estimator.hpp"
#include "estimate/exact.hpp"
#include "estimate/learned.hpp"
#include "estimate/memo.hpp"

namespace oplat::estimate {

struct Chain {
  std::vector<std::unique_ptr<Estimator>> links;
  std::unique_ptr<Memo> memo = std::make_unique<Memo>();
};

struct ChainOptions {
  bool roofline = false;  ///< `--missing roofline`: what nothing else answers gets the roofline
  /// of the learned estimates; nothing: measured rows alone
  std::optional<Profile> profile = Profile::Accurate;
};

/// A link: `make` returns nullptr if the options leave it out or the table cannot feed it.
struct ChainEntry {
  std::string_view name;
  Result<std::unique_ptr<Estimator>> (*make)(const RowSource& rows, const ChainOptions& options);
};
/// Every link there is, most trusted first.
std::span<const ChainEntry> chain_entries();

/// The links that the options ask for, made and fitted.
Result<Chain> make_chain(const RowSource& rows, const ChainOptions& options);
/// What was answered before, then the links in turn.
Status estimate_all(const Chain& chain, std::span<const Query> queries,
                    std::span<std::optional<Estimate>> answers);

}  // namespace oplat::estimate
