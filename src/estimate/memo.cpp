// SPDX-License-Identifier: Apache-2.0
/// A map by the hash of key and footprint.
#include "estimate/memo.hpp"

#include <bit>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

/// No footprint is none of the footprints, and no bytes of others none of those.
base::Hash128 identity(const Query& query) {
  base::Hash128 hash = query.hash ? *query.hash : base::hash128(query.key);
  if (query.reuse_bytes)
    hash.high ^= base::mix_seed(1, std::bit_cast<std::uint64_t>(*query.reuse_bytes));
  if (query.foreign.mean > 0)
    hash.high ^= base::mix_seed(2, std::bit_cast<std::uint64_t>(query.foreign.mean));
  if (query.foreign.sd > 0)
    hash.high ^= base::mix_seed(3, std::bit_cast<std::uint64_t>(query.foreign.sd));
  return hash;
}

}  // namespace

void Memo::recall(std::span<const Query> queries,
                  std::span<std::optional<Estimate>> answers) const {
  const std::lock_guard lock(mutex_);
  if (answers_.empty()) return;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (answers[i] || queries[i].explain) continue;
    const auto found = answers_.find(identity(queries[i]));
    if (found != answers_.end()) answers[i] = found->second;
  }
}

void Memo::keep(std::span<const Query> queries, std::span<const std::optional<Estimate>> answers) {
  const std::lock_guard lock(mutex_);
  if (answers_.size() + queries.size() > kMaxAnswers) answers_.clear();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (answers[i] && !queries[i].explain) answers_.emplace(identity(queries[i]), *answers[i]);
  }
}

}  // namespace oplat::estimate
