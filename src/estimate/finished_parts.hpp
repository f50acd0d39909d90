// SPDX-License-Identifier: Apache-2.0
/// What a fit that is stopped has finished, so that the next one need not do it again.
///
/// The problem: a fit of a large library takes minutes, nearly all of them for some dozens of
/// forests of boosted trees. A forest depends on nothing but the numbers that it is grown from and
/// how, and is the same whenever it is grown anew. So finished forests are kept by the hash of
/// those (docs/adr/0057): a fit that goes on finds them, one of other rows or of another seed does
/// not, and both come out as if nothing had been stopped. A forest itself may take a minute, so
/// those that were begun are kept, too, and grown on.
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
  /// What keep_begun() kept of a forest that is not finished.
  [[nodiscard]] std::optional<std::string> find_begun(const base::Hash128& made_of) const;
  /// In place of what was kept of the same forest before. Counts with finished ones to 100 MiB.
  void keep_begun(const base::Hash128& made_of, std::string forest);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t begun() const;
  /// Whether anything was kept since load().
  [[nodiscard]] bool has_more() const { return has_more_; }
  /// How many find() has found.
  [[nodiscard]] std::size_t reused() const { return reused_; }

 private:
  using Forests = std::map<base::Hash128, std::string>;
  /// With mutex_ held; not if it would be too much.
  void put(Forests& into, const base::Hash128& made_of, std::string forest);
  void erase_begun(const base::Hash128& made_of);

  mutable std::mutex mutex_;
  Forests forests_;
  Forests begun_;
  std::size_t bytes_ = 0;
  std::atomic<bool> has_more_ = false;
  std::atomic<std::size_t> reused_ = 0;
};

}  // namespace oplat::estimate
