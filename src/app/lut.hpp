// SPDX-License-Identifier: Apache-2.0
/// Use cases: Caffe2 nets by a look-up table of mobile-vision's runtime_lut, and the measuring of
/// such a table.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/campaign.hpp"
#include "app/events.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "compat/mobile_vision/lut_document.hpp"
#include "estimate/learned.hpp"
#include "predict/row_selection.hpp"

namespace oplat::app {

/// The device of the original's own table.
inline constexpr const char* kLutDevice = "SM-G950U-7.0-24";

struct LutRequest {
  std::vector<std::string> models;  ///< folders of nets, several of them separated by commas
  std::string input_dims;           ///< as JSON: {"data": [1, 3, 160, 160]}
  std::string folder;               ///< of look-up tables, unless `table` is given
  std::string table;                ///< of oplat; empty: a look-up table
  predict::RowFilter rows = {.has_mismatch_flag = false};  ///< of `table`
  /// nothing: the original's for a look-up table, the only one of a table
  std::optional<std::string> device = std::nullopt;
  std::string mode = "ave";  ///< see compat::mobile_vision::parse_lut_mode()
  bool estimate = false;     ///< operators without a record, too
  estimate::Profile estimator = estimate::Profile::Accurate;
  bool calibrate = true;  ///< of the fit that is made of a look-up table
  double level = 0.9;     ///< of the intervals
  bool skip_bad_rows = false;
};

/// Warnings go to `events`, all of them at the end. Operators without an answer are not an error
/// here: see LutDocument::require_answers(). Code::Usage: the request contradicts itself;
/// Code::Input: a file; Code::Refused: no rows.
Result<std::shared_ptr<const compat::mobile_vision::LutDocument>> lut_predict(
    const LutRequest& request, Events& events);

/// What the nets ask for, a line of JSON each; nothing is looked up.
Result<std::string> lut_queries(const LutRequest& request, Events& events);

struct LutBuildRequest {
  std::vector<std::string> models;  ///< at least one of these three
  std::vector<std::string> spaces;  ///< search spaces, whose kernels are measured
  std::string queries;              ///< path of lines as lut_queries() gives them
  std::string input_dims;           ///< of the nets, as JSON
  std::string out;                  ///< look-up table to write
  std::string table;                ///< of oplat that holds every block; empty: `out`.oplat
  RuntimeRequest runtime;           ///< with the name of the device
  CampaignOptions campaign;
};

struct LutBuildResult {
  std::size_t records = 0;  ///< written to `out`
  std::filesystem::path table;
  std::size_t operators = 0;  ///< asked for
  std::size_t missing = 0;    ///< of them without a record
  std::string reasons;        ///< of the first few, a line each, ready for a message
};

/// Measures every distinct operator and writes those with a time. Run again, it goes on where it
/// stopped. Code::Usage, Code::Input: request and files; Code::Runtime: the runtime, or nothing was
/// measured; Code::Interrupted: the table keeps what was measured.
Result<LutBuildResult> lut_build(const LutBuildRequest& request, Events& events);

}  // namespace oplat::app
