// SPDX-License-Identifier: Apache-2.0
/// Use case: measure the kernels of models, or of a list of keys, into a table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/campaign.hpp"
#include "measure/in_model.hpp"
#include "report/measurement.hpp"
#include "report/profile_report.hpp"

namespace oplat::app {

struct ProfileRequest {
  std::vector<std::string> models;  ///< paths; the models themselves are measured end to end, too
  ModelInputs inputs;               ///< of every model
  std::string keys_file;            ///< path of a file of keys, one a line; empty: none
  /// Kernels to choose from: a space's name or file (search/kernel_space.hpp); empty: none. Then,
  /// and with `like`, campaign.target_error is the error of models never seen at which to stop.
  std::string space;
  std::string like;   ///< path of a folder of models whose kernels are the space; empty: none
  std::string table;  ///< path; made if it is not there
  bool table_must_exist = false;
  RuntimeRequest runtime;
  CampaignOptions campaign;
};

struct ProfileResult {
  std::string table;  ///< path
  measure::Summary summary;
  /// Kernels that take another time inside these models than their rows say.
  std::vector<measure::UnlikeKernel> unlike = {};
  report::Measurement measured = {};  ///< the models themselves, as far as they have a time
  std::optional<report::SpaceSummary> space = {};
  /// Whether there were kernels to measure, none was left to do, and none has a
  /// time.
  [[nodiscard]] bool every_kernel_failed() const {
    if (space) return space->rounds > 0 && space->measured == 0;
    return summary.kernels.total > 0 && summary.kernels.measured() == 0 &&
           summary.kernels.left == 0;
  }
};

/// Code::Usage if the request names nothing to measure, or says how models run and names none.
Status check_sources(const ProfileRequest& request);

/// Checks, in this order, that there is something to measure, the runtime's
/// name, model files, the keys file; starts the runtime; opens the table;
/// measures; then compares the kernels that matter with the runtime's profile
/// of the whole models. An error before the first block leaves no new table behind, except
/// for one about the table's own device. Refusals of kernels are rows; what was
/// measured before an error is kept.
Result<ProfileResult> profile(const ProfileRequest& request, Events& events);

/// Code::Runtime if every kernel failed.
Status require_kernels(const ProfileResult& result);

/// How a profile goes on that was not finished.
inline constexpr std::string_view kResume = "run the same command to resume";
/// Code::Interrupted if a profile was stopped.
Status require_finished(bool interrupted);

/// The keys of a file, one a line; '#' begins a comment line. Code::Input names
/// file and line of what is not a key, and a file that holds none.
Result<std::vector<std::string>> read_keys(const std::string& path);

}  // namespace oplat::app
