// SPDX-License-Identifier: Apache-2.0
/// Who answers `oplat lut`: lines of a look-up table, rows of an oplat table, and estimators for
/// what neither holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cached_table.hpp"
#include "base/interval.hpp"
#include "compat/mobile_vision/lut_files.hpp"
#include "compat/mobile_vision/lut_rows.hpp"
#include "compat/mobile_vision/nets.hpp"
#include "predict/prediction.hpp"

namespace oplat::cli {

/// What several records of one query come to; the command line of the original knows only the mean.
enum class LutMode : std::uint8_t { Mean, Min, Max, Last };
std::optional<LutMode> parse_lut_mode(std::string_view word);

/// The records of a query.
using LutLookup =
    std::function<Result<compat::mobile_vision::LutFound>(const formats::caffe2::LutQuery&)>;

/// The answer to one operator.
struct LutAnswer {
  formats::caffe2::LutQuery
      query;  ///< as it was found: an Int8Conv may have become an Int8ConvRelu
  std::vector<compat::mobile_vision::LutTime> times;  ///< of the records that were found
  std::optional<double> us;                           ///< nothing: nobody answers
  bool whole = false;                                 ///< whether Python would hold it as an int
  std::string source = "missing";          ///< "table", the source of an estimate, or "missing"
  std::optional<base::Interval> interval;  ///< of estimates
  double sd_log = 0;
  double floor_us = 0;  ///< no interval reaches below; KernelPrediction::floor_ns
  std::string group;    ///< answers of one group err together
  std::string why;      ///< of estimates and of what is missing
};

/// The answers to one net. The sums leave out what nobody answers, as the original does.
struct LutPrediction {
  std::string path;
  std::vector<LutAnswer> answers;
  double total_us = 0;
  bool total_whole = true;
  std::size_t found = 0;  ///< in the table
  std::size_t estimated = 0;
  std::optional<base::Interval>
      interval;  ///< of the sum, where all have an answer and estimates were asked for
  [[nodiscard]] std::size_t missing() const { return answers.size() - found - estimated; }
};

/// Records of a file for one device, found by its index. The file stays in memory.
LutLookup lookup_in_file(std::shared_ptr<const compat::mobile_vision::LutFile> file,
                         std::shared_ptr<const compat::mobile_vision::LutIndex> index,
                         std::string device);
/// Rows of a table; see compat::mobile_vision::LutRows.
LutLookup lookup_in_table(std::shared_ptr<const table::Table> table,
                          const predict::Selection& selection);

/// The records of one device as a table with a fit, kept for the next time.
Result<app::CachedTable> lut_table(const compat::mobile_vision::LutFile& file,
                                   const std::string& device, const app::CacheOptions& options,
                                   app::Events& events);

/// The original's rule: equality of the five fields, and an Int8Conv that is not found may be an
/// Int8ConvRelu.
Result<LutPrediction> look_up(const compat::mobile_vision::LutNet& net, const LutLookup& lookup,
                              LutMode mode, std::vector<std::string>& warnings);
/// Estimates what is missing, and how sure the sum is.
Status estimate_missing(LutPrediction& prediction, const predict::Predictor& predictor,
                        double level);

}  // namespace oplat::cli
