// SPDX-License-Identifier: Apache-2.0
/// Flags of commands that predict or learn: which rows, how to estimate, how to learn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/learning.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace oplat::cli {

/// --device, --runtime, --runtime-version, --precision, --threads, --option: which rows.
void add_row_filter(const Command& command, predict::RowFilter& to);
/// The same of a command that compares several numbers of threads, `threads`.
void add_row_filter(const Command& command, predict::RowFilter& to,
                    std::vector<std::int64_t>& threads);
/// --unfitted.
void add_unfitted(const Command& command, bool& unfitted);
/// --option NAME=VALUE alone.
void add_option_filter(const Command& command, predict::RowFilter& to);
/// --allow-setting-mismatch.
void add_mismatch_flag(const Command& command, predict::RowFilter& to);

/// --level, --missing, --estimator.
struct PredictionFlags {
  double level = 0.9;
  std::string missing = "error";
  std::string estimator = "accurate";
};
void add_prediction_options(const Command& command, PredictionFlags& to);
/// --estimator accurate|fast.
void add_estimator(const Command& command, std::string& to);
/// The flags as values. Code::Usage for a policy that is unknown.
Result<app::PredictionOptions> prediction_options(const PredictionFlags& flags);
/// Of a flag that takes only the words that there are.
estimate::Profile estimator_named(const std::string& word);

/// --plan, for commands that are asked about models.
void add_plan_source(const Command& command, std::string& to);

/// --shape, --batch, --input as values. Code::Usage quotes the flag and shows its form.
Result<app::ModelInputs> model_inputs(const ModelOptions& options);

/// --skip-bad-rows and --calibrate, for a --table of another system.
struct ForeignTableFlags {
  bool skip_bad_rows = false;
  bool calibrate = true;
};
void add_foreign_table_options(const Command& command, ForeignTableFlags& to);

/// --calibrate and --no-calibrate.
void add_calibrate(const Command& command, bool& to);
/// --seed, --jobs, --calibrate, --exclude-suspects.
void add_learn_options(const Command& command, app::LearnOptions& to);

}  // namespace oplat::cli
