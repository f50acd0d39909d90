// SPDX-License-Identifier: Apache-2.0
/// How well a table predicts rows that it was not shown (`oplat accuracy`).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "estimate/learned.hpp"

namespace oplat::estimate {

/// Which rows are held out.
struct Split {
  enum class Kind : std::uint8_t {
    Random,  ///< one row in ten, by the CRC-32 of its text
    Twin,    ///< the same, a convolution with and without its fused sum together
    Level,   ///< all rows of one value of a field; of several fields: those of any, and asked are
             ///< those of all
    Beyond,  ///< the fifth of most operations
    Keep,    ///< all but so many per cent, chosen at random
    Sample,  ///< all but so many per cent, chosen by the Sampler, which is told their times one by
             ///< one
    Groups,  ///< every row of a group once: each group in its turn; rows of no group are learned
             ///< from, never asked for
    Folds,   ///< every row once: the rows fall into so many folds by the CRC-32 of their text, each
             ///< fold in its turn
  };
  Kind kind = Kind::Random;
  std::vector<std::pair<std::string, double>> levels;  ///< of Level: field, value
  double percent = 100;   ///< of Keep and Sample: of the rows that are learned from
  std::size_t folds = 1;  ///< of Folds and Groups; fits of the others
  std::map<std::string, std::size_t, std::less<>> groups =
      {};  ///< of Groups: key, number of its group
};
/// "random", "twin", "level:FIELD=VALUE[,FIELD=VALUE]", "beyond", "keep:PERCENT", "sample:PERCENT",
/// "folds:COUNT". Code::Usage otherwise. "groups:FILE" is the caller's to read. Fields of
/// convolutions: batch, in_h, out_c, ratio (In_C / Out_C), kernel, stride, residual.
Result<Split> parse_split(std::string_view text);

/// Errors |predicted / measured - 1| of some rows.
struct ErrorLine {
  std::string name;  ///< "all", a tier, a band of latencies, or an operator
  std::int64_t rows = 0;
  double mape = 0;  ///< all of these are shares: 0.05 is 5 %
  double median = 0;
  double p90 = 0;
  double bias = 0;     ///< mean signed error
  double mean_ns = 0;  ///< mean of |predicted - measured|
  double within5 = 0;
  double within10 = 0;
  double coverage = 0;    ///< share of the rows inside their interval
  double half_width = 0;  ///< mean of half the interval's width over its middle
};

struct NetworkLine {
  std::int64_t batch = 0;
  std::int64_t networks = 0;
  double mape = 0;
  double bias = 0;
  double within1 = 0;
};

struct AccuracyRequest {
  Split split;
  /// Rows of these operators alone ("domain:op") are learned from and asked for; empty: of
  /// all.
  std::vector<std::string> operators;
  LearnRequest learn;
  Profile profile = Profile::Accurate;
  double level = 0.9;  ///< of the intervals
  bool exclude_suspects =
      false;  ///< rows that check_rows() faults are neither learned from nor asked for
  std::int64_t networks = 0;  ///< random networks of each batch, made of the rows held out
  std::uint64_t network_seed = 1;
  ir::Host host;  ///< the samples' device and setting
};

struct Accuracy {
  std::int64_t learned_from = 0;  ///< of several folds: the fewest
  std::int64_t asked = 0;
  std::int64_t unanswered = 0;
  std::int64_t set_aside = 0;  ///< rows, where the request says so
  std::int64_t stand_ins = 0;  ///< rows of unknown batch among those learned from
  bool calibrated = true;      ///< the spreads of every fold's fit were learned from rows left out
  double fit_seconds = 0;
  double microseconds_a_row = 0;
  std::vector<ErrorLine>
      lines;  ///< all; each tier; each band of latencies; each operator where there are several
  std::vector<NetworkLine> networks;
};

/// Fits without the rows of the split and asks for them. `catalogue`: of the rows' keys.
Result<Accuracy> measure_accuracy(std::span<const Sample> samples, const AccuracyRequest& request,
                                  const ir::Catalogue& catalogue);

}  // namespace oplat::estimate
