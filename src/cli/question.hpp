// SPDX-License-Identifier: Apache-2.0
/// What the predicting subcommands share: which rows answer, and the plan of a model.
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "predict/prediction.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// --device, --runtime, --runtime-version, --precision, --threads, --option: which rows.
void add_population_options(const Command& command, predict::RowFilter& to);
/// --option NAME=VALUE alone.
void add_runtime_option_choice(const Command& command, predict::RowFilter& to);

/// Those, and --allow-setting-mismatch, --level, --missing, --profile.
struct QuestionOptions {
  predict::RowFilter question;
  std::string plan = "auto";
  double level = 0.9;
  std::string missing = "error";
  std::string profile = "accurate";
};
void add_question_options(const Command& command, QuestionOptions& to);
/// --plan, for commands that are asked about models.
void add_plan_option(const Command& command, QuestionOptions& to);
/// Checks what can be checked before any file is looked at: runtime name, plan and missing
/// policies.
Status check_question(const QuestionOptions& options);

/// A file that is there and can be read. Code::Input otherwise.
Status check_model_file(const std::string& path);

/// A model's plan, and the rows that answer for it.
struct AskedPlan {
  table::Plan plan;
  predict::Selection selection;  ///< with what only the model tells: a mismatch of precision
  std::vector<std::string> warnings;
};

/// The plan of a model under the selected setting. --plan auto: the table's own, else the installed
/// runtime's, else that of rules for a runtime that oplat has no worker for. `source` of the plan
/// says which. Code::Missing where there is none, with the ways to get one.
Result<AskedPlan> plan_model(const table::Table& table, const predict::Selection& selection,
                             const std::string& model, const ModelOptions& model_options,
                             const QuestionOptions& options, const Verbosity& verbosity);

/// Estimates and composition of a plan.
Result<predict::Prediction> predict_planned(const table::Table& table, const AskedPlan& planned,
                                            const std::string& model,
                                            const QuestionOptions& options);

/// Plan, estimates, composition of one model.
Result<predict::Prediction> predict_model(
    const table::Table& table, const predict::Selection& selection, const std::string& model,
    const ModelOptions& model_options, const QuestionOptions& options, const Verbosity& verbosity);

}  // namespace oplat::cli
