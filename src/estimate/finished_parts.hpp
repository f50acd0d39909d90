// SPDX-License-Identifier: Apache-2.0
/// What a fit that is stopped has finished, so that the next one need not do it again.
///
/// The problem: a fit of a large library takes minutes, nearly all of them for some dozens of
/// forests of boosted trees. A forest depends on nothing but the numbers that it is grown from and
/// how, and is the same whenever it is grown anew. So finished forests are kept by the hash of
/// those (docs/adr/0057): a fit that goes on finds them, one of other rows or of another seed does
/// not, and both come out as if nothing had been stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace oplat::estimate {

/// Of the fit record in the table.
inline constexpr std::string_view kFinishedPartsFormat = "oplat.learned-parts/1";

/// Thread-safe.
class FinishedParts {
 public:
  FinishedParts() = default;
  /// Reads what save() gave. Parts that another oplat made are left out, as their forests may be
  /// others. Code::Input for damaged bytes; nothing is there then.
  Status load(std::string_view bytes);
  [[nodiscard]] std::string save() const;

  /// The bytes of a forest.
  [[nodiscard]] std::optional<std::string> find(const base::Hash128& made_of);
  /// Keeps up to 100 MiB; the fit record of a table holds little more.
  void keep(const base::Hash128& made_of, std::string forest);

  [[nodiscard]] std::size_t size() const;
  /// How many find() has found.
  [[nodiscard]] std::size_t reused() const { return reused_; }

 private:
  mutable std::mutex mutex_;
  std::map<base::Hash128, std::string> forests_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> reused_ = 0;
};

}  // namespace oplat::estimate
