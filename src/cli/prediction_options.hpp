// SPDX-License-Identifier: Apache-2.0
/// Flags of commands that predict or learn: which rows, how to estimate, how to learn.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
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
/// --runtime and --runtime-version alone.
void add_runtime_filter(const Command& command, predict::RowFilter& to);
/// --option NAME=VALUE alone.
void add_option_filter(const Command& command, predict::RowFilter& to);
/// --allow-setting-mismatch.
void add_mismatch_flag(const Command& command, predict::RowFilter& to);
/// --unfitted.
void add_unfitted(const Command& command, bool& unfitted);

/// --level.
void add_level(const Command& command, double& to,
               const std::string& help = "confidence level of the interval");
/// --level, --missing, --estimator.
void add_prediction_options(const Command& command, app::PredictionTexts& to);
/// --estimator accurate|fast.
void add_estimator(const Command& command, std::string& to);

/// Flags of commands that predict models.
struct ModelPredictionFlags {
  app::ModelInputTexts model;       ///< --shape, --batch, --input
  app::PredictionTexts prediction;  ///< --level, --missing, --estimator
  std::string plan = "auto";        ///< --plan
};
/// --plan.
void add_plan_source(const Command& command, std::string& to);
/// The flags as values of a request. Code::Usage quotes the flag that is wrong.
template <class Request>
Status read_into(const ModelPredictionFlags& flags, Request& request) {
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.model));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  OPLAT_TRY(options, app::parse_prediction(flags.prediction));
  request.options = options;
  return {};
}

/// --skip-bad-rows and --calibrate, for a --table of another system.
void add_foreign_table_options(const Command& command, bool& skip_bad_rows, bool& calibrate);
/// --calibrate and --no-calibrate.
void add_calibrate(const Command& command, bool& to);
/// --seed, --jobs, --calibrate, --exclude-suspects.
void add_learn_options(const Command& command, app::LearnOptions& to);

}  // namespace oplat::cli
