// SPDX-License-Identifier: Apache-2.0
/// Is a table still true here? A few of its rows, measured again and judged together
/// (docs/guide/measuring.md, "Does a table still hold?").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "measure/campaign.hpp"
#include "measure/device_facts.hpp"
#include "measure/progress.hpp"
#include "measure/statistics.hpp"
#include "measure/verdict.hpp"
#include "table/table.hpp"

namespace oplat::measure {

/// A row of a table that is to be measured again.
struct VerifyRow {
  std::string key;
  double reuse_bytes = 0;
  std::string
      op;  ///< operator, without its domain: the class by which rows are chosen and shifts are told
  std::string state;  ///< "hot", "last-level", "cold"
  table::Timing before;
  bool under_load =
      false;  ///< other programs kept the machine busy when it was measured for the table
};

/// Rows of origin "own" that hold a time in one of the cache states that are measured today, spread
/// evenly over operators, decades of latency and cache states; the same table and seed give the
/// same rows. Where several of `settings` hold a row, the first answers. Rows of more than 100 ms
/// are taken only where there are not enough others.
Result<std::vector<VerifyRow>> choose_rows(const table::Table& table, table::DeviceId device,
                                           std::span<const table::SettingId> settings,
                                           std::size_t most, std::uint64_t seed,
                                           const ir::Catalogue& catalogue);

/// A row with what became of it now.
struct RowCheck {
  VerifyRow row;
  std::optional<table::Outcome> after;  ///< std::nullopt if the budget ended before its first block
  std::optional<measure::Comparison> comparison;  ///< where both are times
  bool under_load = false;                        ///< other programs kept the machine busy now
};

enum class TableVerdict { Same, Slower, Faster, AnotherMachine, Unclear };
/// "same", "slower", "faster", "another machine", "unclear".
const char* name(TableVerdict verdict);

/// Operators of one kind in one cache state.
struct ClassShift {
  std::string op;
  std::string state;
  std::int64_t rows = 0;
  double ratio = 1;    ///< median of now / table
  bool moved = false;  ///< by more than the tolerance and than the rows' own noise
};

struct Judgement {
  TableVerdict verdict = TableVerdict::Unclear;
  std::vector<std::string> reasons;  ///< why, for people; lower case, no full stop
  std::int64_t compared = 0;         ///< rows that both hold a time
  std::int64_t refused =
      0;  ///< rows that hold a time in the table and none now though they were tried
  std::int64_t left = 0;  ///< rows that the budget did not reach
  std::int64_t under_load =
      0;  ///< rows compared that were measured now while other programs kept the machine busy
  std::int64_t outlying = 0;    ///< rows far from the common factor, beyond their own noise
  std::optional<double> ratio;  ///< median of now / table
  std::optional<base::Interval>
      interval;  ///< of that median over rows, 95 % or all of them where they are few
  std::optional<double> scatter;    ///< robust standard deviation of the logarithm of the ratios
  std::optional<double> noise;      ///< what the rows' own intervals lead to expect of it
  std::vector<ClassShift> classes;  ///< the furthest from 1 first
};

/// How far the median ratio of an unchanged table may be from 1. Half-widths of predictions are 6 %
/// or less (docs/results/accuracy.md), so that a shift of 5 % is one that a user of the table would
/// notice; two campaigns of one quiet machine differ by 1 to 2 %.
inline constexpr double kVerifyTolerance = 0.05;

/// Pure: the same checks give the same judgement.
///  - another machine: a fact that decides differs; or ratios scatter by more than 10 %, more than
///  half of their common
///    shift, and 2.5 times what the rows' own noise explains; or more than a fifth of the rows
///    moved, some up, some down
///  - slower, faster: the median is off by more than kVerifyTolerance and its interval does not
///  hold 1; or more than a
///    fifth of the rows moved, nearly all to one side
///  - same: none of these, and the median's interval is narrow enough to say so
///  - unclear: fewer than five rows or than half of them could be compared, the interval of the
///  median is too wide,
///    times differ but most rows were measured while other programs kept the machine busy, or
///    kernels fail that the table holds times of
/// `facts`: in which the table's device and this machine differ.
Judgement judge(std::span<const RowCheck> checks, std::span<const FactDifference> facts);

struct VerifyRequest {
  /// Device as the table describes it, setting, seed, budget, clock; keys, models and stop rule are
  /// set by verify().
  CampaignRequest campaign;
  table::Device here;  ///< as the worker describes it
};

struct Verification {
  std::vector<RowCheck> rows;
  Judgement judgement;
  std::vector<FactDifference> facts;
  measure::ReferenceMedians references;  ///< of this measurement, as a campaign's baseline
  std::int64_t blocks = 0;
  std::int64_t processes = 0;
  double seconds = 0;
  bool budget_ended = false;
  bool interrupted = false;
};

/// Measures `rows` again: five to eight blocks each, every pass in a fresh process, into `scratch`,
/// an empty table.
Result<Verification> verify(const VerifyRequest& request, const std::vector<VerifyRow>& rows,
                            table::Table& scratch, const RunnerFactory& factory,
                            Progress& progress);

/// The reference kernels' baseline of the first campaign of this device and these settings that
/// holds one.
Result<measure::ReferenceMedians> recorded_references(const table::Table& table,
                                                      table::DeviceId device,
                                                      std::span<const table::SettingId> settings);

}  // namespace oplat::measure
