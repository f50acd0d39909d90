// SPDX-License-Identifier: Apache-2.0
/// Memo: answers that a chain gave before. The rows of an open table do not change under it, so
/// they stay right.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/hash.hpp"
#include "estimate/estimator.hpp"

namespace oplat::estimate {

/// Thread-safe. Holds up to kMaxAnswers; when it is full it begins anew.
class Memo {
 public:
  static constexpr std::size_t kMaxAnswers = 1'000'000;

  /// Fills what is known of the questions that ask for no sentence, which is not kept.
  void recall(std::span<const Query> queries, std::span<std::optional<Estimate>> answers) const;
  void keep(std::span<const Query> queries, std::span<const std::optional<Estimate>> answers);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<base::Hash128, Estimate> answers_;
};

}  // namespace oplat::estimate
