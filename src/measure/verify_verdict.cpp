// SPDX-License-Identifier: Apache-2.0
/// From rows measured twice to one word about the table.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/interval.hpp"
#include "base/stats.hpp"
#include "base/text.hpp"
#include "measure/statistics.hpp"
#include "measure/verify.hpp"

namespace oplat::measure {
namespace {

/// What two sessions of one machine differ by, row by row, beyond what the intervals of their
/// blocks show: placement, neighbours, drift.
constexpr double kSessionSd = 0.02;
/// Level at which the interval of a ratio is one standard error wide to either side.
constexpr double kOneSdLevel = 0.6827;
constexpr double kMedianLevel = 0.95;
constexpr std::size_t kMinRows = 5;

/// Of ratios: the least robust standard deviation that counts as scatter, alone and as a share of
/// the common shift, and how many times what the rows' own noise explains.
const double kMinScatter = std::log(1.10);
constexpr double kScatterOfShift = 0.5;
constexpr double kScatterOfNoise = 2.5;

/// A row is off if it is this far from the common factor and this many of its own standard errors.
const double kOutlyingLog = std::log(1.10);
constexpr double kOutlyingErrors = 3;
constexpr double kMaxOutlying = 0.2;
constexpr double kOneSided = 0.8;

/// Above this half-width (of the logarithm) the median ratio says nothing.
const double kWidestMedian = std::log(1.10);

/// Standard deviation of a normal distribution in median absolute deviations.
constexpr double kMadToSd = 1.4826;

struct Pair {
  const VerifyRow* row = nullptr;
  double log_ratio = 0;
  double sd = 0;  ///< that the rows' own noise explains
};

double median_of(const std::vector<double>& values) { return base::median(values).value_or(0); }

double factor(double log_ratio) { return std::exp(log_ratio); }

std::string percent(double log_value) {
  return fmt::format("{:.1f} %", 100 * (std::exp(log_value) - 1));
}

/// Interval of the median from order statistics: ranks below which a fair coin falls with half of
/// what the level leaves. All values where there are too few for the level.
base::Interval median_interval(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  double probability = std::pow(0.5, static_cast<double>(n));  // of exactly `rank` heads
  double below = 0;
  std::size_t rank = 0;
  while (rank < n / 2 && below + probability <= (1 - level) / 2) {
    below += probability;
    probability *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  const std::size_t low = rank == 0 ? 0 : rank - 1;
  return {values[low], values[n - 1 - low]};
}

std::vector<Pair> pairs_of(std::span<const RowCheck> checks) {
  std::vector<Pair> pairs;
  for (const RowCheck& check : checks) {
    if (!check.comparison) continue;
    Pair pair;
    pair.row = &check.row;
    pair.log_ratio = std::log(check.comparison->ratio);
    const auto narrow =
        measure::compare(check.row.before, std::get<table::Timing>(*check.after), kOneSdLevel);
    pair.sd = std::hypot(narrow ? std::log(narrow->high / narrow->low) / 2 : 0, kSessionSd);
    pairs.push_back(pair);
  }
  return pairs;
}

void count(Judgement& judgement, std::span<const RowCheck> checks) {
  for (const RowCheck& check : checks) {
    if (check.comparison) {
      ++judgement.compared;
      judgement.under_load += check.under_load ? 1 : 0;
    } else if (!check.after) {
      ++judgement.left;
    } else {
      ++judgement.refused;
    }
  }
}

std::vector<ClassShift> shifts_of(const std::vector<Pair>& pairs) {
  std::map<std::pair<std::string, std::string>, std::vector<const Pair*>> classes;
  for (const Pair& pair : pairs) classes[{pair.row->op, pair.row->state}].push_back(&pair);
  std::vector<ClassShift> shifts;
  for (const auto& [name, members] : classes) {
    std::vector<double> ratios, sds;
    for (const Pair* pair : members) {
      ratios.push_back(pair->log_ratio);
      sds.push_back(pair->sd);
    }
    const double shift = median_of(ratios);
    const double noise = median_of(sds) / std::sqrt(static_cast<double>(members.size()));
    ClassShift one{name.first, name.second, static_cast<std::int64_t>(members.size()),
                   factor(shift), false};
    one.moved = std::abs(shift) > std::log1p(kVerifyTolerance) && std::abs(shift) > 2 * noise;
    shifts.push_back(std::move(one));
  }
  std::stable_sort(shifts.begin(), shifts.end(), [](const ClassShift& a, const ClassShift& b) {
    return std::abs(std::log(a.ratio)) > std::abs(std::log(b.ratio));
  });
  return shifts;
}

/// Numbers over all pairs.
struct Figures {
  double shift = 0;
  base::Interval interval;
  double scatter = 0;  ///< robust sd of the log ratios
  double scatter_errors =
      0;  ///< the same in units of the rows' own noise; 1 where that explains all
  double noise = 0;
  std::size_t up = 0;  ///< outlying rows
  std::size_t down = 0;
};

Figures figures_of(const std::vector<Pair>& pairs) {
  Figures figures;
  std::vector<double> logs, sds, away, errors;
  for (const Pair& pair : pairs) {
    logs.push_back(pair.log_ratio);
    sds.push_back(pair.sd);
  }
  figures.shift = median_of(logs);
  figures.interval = median_interval(logs, kMedianLevel);
  figures.noise = median_of(sds);
  for (const Pair& pair : pairs) {
    const double distance = pair.log_ratio - figures.shift;
    away.push_back(std::abs(distance));
    errors.push_back(std::abs(distance) / pair.sd);
    if (std::abs(distance) > kOutlyingLog && std::abs(distance) > kOutlyingErrors * pair.sd) {
      ++(distance > 0 ? figures.up : figures.down);
    }
  }
  figures.scatter = kMadToSd * median_of(away);
  figures.scatter_errors = kMadToSd * median_of(errors);
  return figures;
}

/// What the times alone say.
TableVerdict verdict_of_times(const Figures& f, std::size_t rows,
                              std::vector<std::string>& reasons) {
  const double size = std::abs(f.shift);
  const bool holds_one = f.interval.low <= 0 && f.interval.high >= 0;
  if (f.scatter > std::max(kMinScatter, kScatterOfShift * size) &&
      f.scatter_errors > kScatterOfNoise) {
    reasons.push_back(fmt::format("ratios scatter by {}, of which noise explains {}",
                                  percent(f.scatter), percent(f.noise)));
    return TableVerdict::AnotherMachine;
  }
  if (size > std::log1p(kVerifyTolerance)) {
    if (holds_one) {
      reasons.push_back(
          fmt::format("the median ratio is {:.3f}, which is not significantly different from 1",
                      factor(f.shift)));
      return TableVerdict::Unclear;
    }
    reasons.push_back(fmt::format("times changed by a common factor of {:.3f}", factor(f.shift)));
    return f.shift > 0 ? TableVerdict::Slower : TableVerdict::Faster;
  }
  const std::size_t outlying = f.up + f.down;
  if (static_cast<double>(outlying) > kMaxOutlying * static_cast<double>(rows)) {
    const double share_up = static_cast<double>(f.up) / static_cast<double>(outlying);
    reasons.push_back(
        fmt::format("{} of {} rows are slower and {} faster by more than 10 % beyond their noise, "
                    "although the median is unchanged",
                    f.up, rows, f.down));
    if (share_up >= kOneSided) return TableVerdict::Slower;
    return share_up <= 1 - kOneSided ? TableVerdict::Faster : TableVerdict::AnotherMachine;
  }
  if ((f.interval.high - f.interval.low) / 2 > kWidestMedian) {
    reasons.push_back(
        fmt::format("the median ratio is between {:.2f} and {:.2f}, which is too wide",
                    factor(f.interval.low), factor(f.interval.high)));
    return TableVerdict::Unclear;
  }
  return TableVerdict::Same;
}

}  // namespace

const char* name(TableVerdict verdict) {
  switch (verdict) {
    case TableVerdict::Same:
      return "same";
    case TableVerdict::Slower:
      return "slower";
    case TableVerdict::Faster:
      return "faster";
    case TableVerdict::AnotherMachine:
      return "another machine";
    case TableVerdict::Unclear:
      return "unclear";
  }
  return "unclear";
}

Judgement judge(std::span<const RowCheck> checks, std::span<const FactDifference> facts) {
  Judgement judgement;
  count(judgement, checks);
  const std::vector<Pair> pairs = pairs_of(checks);
  const bool enough = pairs.size() >= kMinRows && 2 * pairs.size() >= checks.size();
  if (!pairs.empty()) {
    const Figures figures = figures_of(pairs);
    judgement.ratio = factor(figures.shift);
    judgement.interval =
        base::Interval{factor(figures.interval.low), factor(figures.interval.high)};
    judgement.scatter = figures.scatter;
    judgement.noise = figures.noise;
    judgement.outlying = static_cast<std::int64_t>(figures.up + figures.down);
    judgement.classes = shifts_of(pairs);
    if (enough) judgement.verdict = verdict_of_times(figures, pairs.size(), judgement.reasons);
  }
  if (!enough) {
    judgement.reasons.push_back(
        fmt::format("only {} of {} rows could be compared; a verdict needs {} and half of them",
                    pairs.size(), checks.size(), kMinRows));
  }
  const bool times_differ =
      judgement.verdict != TableVerdict::Same && judgement.verdict != TableVerdict::Unclear;
  if (times_differ && 2 * judgement.under_load > judgement.compared) {
    judgement.reasons.push_back(
        fmt::format("the machine was busy during {} of {} rows; from the times alone the verdict "
                    "would be \"{}\"; run it again when the machine is quiet",
                    judgement.under_load, judgement.compared, name(judgement.verdict)));
    judgement.verdict = TableVerdict::Unclear;
  }
  const auto loaded = std::count_if(checks.begin(), checks.end(),
                                    [](const RowCheck& check) { return check.row.under_load; });
  if (times_differ && 2 * static_cast<std::size_t>(loaded) > checks.size()) {
    judgement.reasons.push_back(
        fmt::format("the machine was busy when {} of {} rows of the table were measured", loaded,
                    checks.size()));
  }
  if (judgement.refused > 0) {
    judgement.reasons.push_back(
        fmt::format("{} of {} kernels with times in the table cannot be measured now",
                    judgement.refused, checks.size()));
    if (judgement.verdict == TableVerdict::Same) judgement.verdict = TableVerdict::Unclear;
  }
  bool other_hardware = false;
  for (const FactDifference& fact : facts) {
    judgement.reasons.push_back(
        fmt::format("{} is {} here, {} in the table", fact.fact, fact.here, fact.recorded));
    other_hardware = other_hardware || fact.decides;
  }
  if (other_hardware) judgement.verdict = TableVerdict::AnotherMachine;
  return judgement;
}

}  // namespace oplat::measure
