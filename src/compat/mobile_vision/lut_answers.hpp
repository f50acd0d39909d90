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

#include "base/interval.hpp"
#include "compat/mobile_vision/lut_files.hpp"
#include "compat/mobile_vision/lut_rows.hpp"
#include "compat/mobile_vision/nets.hpp"
#include "predict/prediction.hpp"
#include "table/codec.hpp"

namespace oplat::compat::mobile_vision {

/// What several records of one query come to; the command line of the original knows only the mean.
enum class LutMode : std::uint8_t { Mean, Min, Max, Last };
std::optional<LutMode> parse_lut_mode(std::string_view word);

/// The records of a query.
using LutLookup = std::function<Result<LutFound>(const formats::caffe2::LutQuery&)>;

/// The answer to one operator.
struct LutAnswer {
  formats::caffe2::LutQuery
      query;                       ///< as it was found: an Int8Conv may have become an Int8ConvRelu
  std::vector<LutTime> times;      ///< of the records that were found
  std::optional<double> us;        ///< nothing: nobody answers
  bool whole = false;              ///< whether Python would hold it as an int
  std::string source = "missing";  ///< "table", the source of an estimate, or "missing"
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
LutLookup lookup_in_file(std::shared_ptr<const LutFile> file, std::shared_ptr<const LutIndex> index,
                         std::string device);
/// Rows of a table; see LutRows.
LutLookup lookup_in_table(std::shared_ptr<const table::Table> table,
                          const predict::Selection& selection);

/// The records of one device as a table takes them.
struct LutImport {
  table::Setting setting;
  table::ForeignOrigin origin;
  table::ForeignRead read;
};
/// Code::Refused if the file holds no record of the device. Malformed lines are left out: whoever
/// opened the file said so.
Result<LutImport> lut_import(const LutFile& file, const std::string& device);
/// A file name for a table of these records and their fit: another one for whatever decides what
/// the table holds.
std::string lut_table_name(const LutFile& file, const std::string& device, bool calibrate);

/// The original's rule: equality of the five fields, and an Int8Conv that is not found may be an
/// Int8ConvRelu.
Result<LutPrediction> look_up(const LutNet& net, const LutLookup& lookup, LutMode mode,
                              std::vector<std::string>& warnings);
/// Estimates what is missing, and how sure the sum is.
Status estimate_missing(LutPrediction& prediction, const predict::Predictor& predictor,
                        double level);

}  // namespace oplat::compat::mobile_vision
