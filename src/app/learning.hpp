// SPDX-License-Identifier: Apache-2.0
/// Learning from a table's rows: the fit itself with progress, and the fit of a table that holds
/// one context, made where it is missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include "app/events.hpp"
#include "base/result.hpp"
#include "estimate/learned.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// How to learn.
struct LearnOptions {
  std::uint64_t seed = 1;
  int jobs = 0;                   ///< threads; 0: all cores
  bool calibrate = true;          ///< learn from rows left out in turn how sure estimates are
  bool exclude_suspects = false;  ///< rows that `check` faults teach nothing
};

/// How fast the steps of a fit are done lately: those that a stopped fit had finished take no time,
/// and say nothing of the others.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  /// Seconds left once `done` of `total` steps are done; std::nullopt before steps were watched for
  /// 3 s and 0.1 % of them were seen to be done.
  std::optional<double> eta_s(int done, int total, Clock::time_point now);

 private:
  struct Seen {
    Clock::time_point at;
    int done = 0;
  };
  /// Seconds that a step takes; std::nullopt: none was seen.
  [[nodiscard]] std::optional<double> seconds_per_step() const;

  std::optional<Seen> first_;
  std::deque<Seen> seen_;
};

/// The options as a request, without progress.
estimate::LearnRequest learn_request(const LearnOptions& options);

/// Reports that `rows` rows are read, then steps and the time left, to `events`; false once they
/// are cancelled. `lease`: a table open for writing, whose lease is kept alive meanwhile; nullptr:
/// none. Both must outlive the function that is returned.
std::function<bool(int done, int total)> learning_progress(std::int64_t rows, Events& events,
                                                           table::Table* lease);

/// Rows with a time, which a fit learns from.
Result<std::int64_t> rows_to_learn_from(const estimate::RowSource& rows);

/// As estimate::learn(), with progress. `table`: that of the rows, open for writing, whose lease is
/// kept alive; nullptr: nothing is written. Code::Interrupted once `events` are cancelled: the
/// table keeps what is finished, and the next call goes on with it.
Result<estimate::LearnedFit> learn(const estimate::RowSource& rows, const LearnOptions& options,
                                   Events& events, table::Table* table);

/// Stores fits of one device and setting together: all of them or none.
Status store_fits(table::Table& table, table::DeviceId device, table::SettingId setting,
                  std::span<const table::Fit> fits);

/// Whether a table of one device and setting has the fit that learn() would make now of its rows as
/// they are, or too few rows for one. Code::Input if its fit is damaged.
Result<bool> has_fit(const table::Table& table);

/// Makes the fits that are missing. `table` holds one device and setting, and is open for writing.
/// Code::Interrupted once `events` are cancelled: what is finished is kept, as by learn().
Status ensure_fit(table::Table& table, bool calibrate, Events& events);

}  // namespace oplat::app
