// SPDX-License-Identifier: Apache-2.0
/// Use case: how well a table predicts rows that it was not shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/events.hpp"
#include "app/learning.hpp"
#include "base/result.hpp"
#include "estimate/accuracy.hpp"
#include "predict/row_selection.hpp"
#include "report/accuracy_report.hpp"

namespace oplat::app {

struct AccuracyRequest {
  std::string table;  ///< a table of oplat; it is only read
  predict::RowFilter rows = {.has_mismatch_flag = false};
  std::string split = "random";             ///< as parse_hold_out() takes it
  std::vector<std::string> operators = {};  ///< learn from and ask for these alone; empty: all
  estimate::Profile estimator = estimate::Profile::Accurate;
  LearnOptions learn = {};
  double level = 0.9;         ///< of the intervals
  std::int64_t networks = 0;  ///< random networks of each batch, made of rows held out
  std::uint64_t network_seed = 1;
};

struct AccuracyResult {
  table::Device device;
  table::Setting setting;
  estimate::Accuracy accuracy;
};

/// What parse_hold_out() takes, an entry of help each.
inline constexpr std::string_view kHoldOutHelp =
    R"(
  random             one row in ten, by the CRC-32 of its key's text: interpolation between rows
  twin               the same, but a convolution with and without its fused sum stay together
  level:FIELD=VALUE  all rows with one value of a field: a size that was never measured. Several,
                     separated by commas: rows of any are held out, rows of all are predicted.
                     Fields of convolutions: batch, in_h, out_c, ratio (in_c / out_c), kernel,
                     stride, residual (1 with a fused sum, else 0)
  beyond             the fifth of the rows with the most operations: extrapolation in size
  keep:PERCENT       all rows except PERCENT of them, chosen at random: a table of that many rows
  sample:PERCENT     the same, but oplat's sampler chooses the rows and sees only their times
  folds:COUNT        every row once: the CRC-32 of a row's key text selects its fold, and a fit of
                     the other folds predicts it
  groups:FILE        one group of rows after the other. FILE has lines KEY<tab>GROUP, and # begins
                     a comment. Rows that it does not list are always learned from
)";
/// What its result holds, for the same help.
inline constexpr std::string_view kAccuracyHelp =
    R"(
The output has one line for all rows, and one for each tier, band of measured latency and operator.
A tier is how a row relates to the measured rows: grid, no twin, level, pair, beyond, shape or
sparse (docs/guide/estimating.md). 'inside' is how often the interval of --level contains the
measured time. 'half-width' is the mean of half the interval divided by its midpoint.
--networks N builds N networks for each batch from the rows held out, shaped like a ResNet: 9, 12,
18 and 6 dense convolutions of kernel 1 or 3, at heights within a factor of 1.5 of 56, 28, 14 and 7,
with 64-256, 128-512, 256-1024 and 512-2048 output channels. Every row is equally likely. The error
of a network compares the sum of its predictions with the sum of its measured times.
)";

/// Which rows are held out: what estimate::parse_split() takes, or "groups:FILE" with a file of
/// lines KEY, tab, GROUP. Code::Usage for a word that is unknown, Code::Input for the file.
Result<estimate::Split> parse_hold_out(const std::string& text);

/// Learns from the other rows and asks for those held out. Code::Refused if too few rows remain, or
/// none is held out; Code::Interrupted once `events` are cancelled.
Result<AccuracyResult> accuracy(const AccuracyRequest& request, Events& events);

/// What `oplat accuracy` says of it. `estimator`: the request's, by name.
report::AccuracyReport accuracy_report(const AccuracyRequest& request, std::string estimator,
                                       AccuracyResult result);

}  // namespace oplat::app
