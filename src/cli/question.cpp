// SPDX-License-Identifier: Apache-2.0
/// From flags and a model file to a prediction.
#include "cli/question.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "cli/learning.hpp"
#include "cli/model_memo.hpp"
#include "cli/rule_choice.hpp"
#include "cli/runtime_session.hpp"
#include "compat/registry.hpp"
#include "plan/identity.hpp"
#include "plan/rules.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat::cli {
namespace {

/// What --plan says of rules.
constexpr std::string_view kRules = "rules";
constexpr std::string_view kRulesOf = "rules:";

Status take_runtime_option(std::map<std::string, std::string>& to, const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return fail(Code::Usage, "--option {}: write NAME=VALUE, or NAME= for rows without it",
                base::printable(text));
  }
  if (!to.emplace(text.substr(0, at), text.substr(at + 1)).second) {
    return fail(Code::Usage, "--option {} is given twice", base::printable(text.substr(0, at)));
  }
  return {};
}

}  // namespace

void add_population_options(const Command& command, predict::RowFilter& question) {
  command.add_option("--runtime", question.runtime, "rows of this runtime");
  command.add_option("--runtime-version", question.version, "rows of this version of it");
  command.add_option("--threads", question.threads, "rows measured with this many threads")
      .range(1, 4096);
  command.add_option("--device", question.device, "rows of this device");
  command.add_option("--precision", question.precision, "rows computed in this precision");
  add_runtime_option_choice(command, question);
}

void add_runtime_option_choice(const Command& command, predict::RowFilter& question) {
  command
      .add_texts(
          "--option",
          [&question](const std::string& text) {
            return take_runtime_option(question.options, text);
          },
          "rows measured with the runtime's knob set so: NAME=VALUE, or NAME= where it was not set "
          "(repeatable; 'oplat table info' names them)")
      .type_name("NAME=VALUE")
      .repeatable();
}

void add_question_options(const Command& command, QuestionOptions& to) {
  add_population_options(command, to.question);
  command.add_flag("--allow-setting-mismatch", to.question.allow_setting_mismatch,
                   "answer from the nearest setting, with a wider interval");
  command.add_option("--level", to.level, "level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command
      .add_option("--missing", to.missing, "kernels without an estimate: error, roofline or zero")
      .capture_default_str();
  add_estimate_profile(command, to.profile);
}

void add_plan_option(const Command& command, QuestionOptions& to) {
  command
      .add_option("--plan", to.plan,
                  "where the kernels come from: auto, cached (the table's), runtime (ask the "
                  "installed one), rules[:NAME] (what its optimiser does, as data)")
      .capture_default_str();
}

Status check_question(const QuestionOptions& options) {
  if (options.plan.starts_with(kRulesOf)) {
    OPLAT_CHECK(plan::rules_named(options.plan.substr(kRulesOf.size()), compat::rule_sets())
                    .map([](const plan::RuleSet&) {}));
  } else if (options.plan != "auto" && options.plan != "cached" && options.plan != "runtime" &&
             options.plan != kRules) {
    return fail(Code::Usage, "--plan {}: use auto, cached, runtime, rules or rules:NAME",
                base::printable(options.plan));
  }
  OPLAT_CHECK(predict::parse_missing_policy(options.missing));
  if (options.question.runtime && rule_sets_for(*options.question.runtime).empty())
    OPLAT_CHECK(check_runtime_name(*options.question.runtime));
  return {};
}

Status check_model_file(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(Code::Input, "{}: {}", path,
                errno == ENOENT ? "no such file" : std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail(Code::Input, "{}: is a folder, not a model file", path);
  if (!S_ISREG(info.st_mode))
    return fail(Code::Input, "{}: is no regular file; write what it gives into one first", path);
  if (::access(path.c_str(), R_OK) != 0)
    return fail(Code::Input, "{}: cannot be read: {}", path, std::strerror(errno));
  if (info.st_size == 0) return fail(Code::Input, "{}: the file is empty, no model", path);
  return {};
}

namespace {

/// The installed runtime's plan. `selection` decides the setting; what differs on this machine is a
/// warning.
Result<table::Plan> runtime_plan(const predict::Selection& selection, const std::string& model,
                                 const ModelOptions& model_options, const Verbosity& verbosity,
                                 std::vector<std::string>& warnings) {
  RunOptions flags;
  flags.runtime = selection.setting.runtime;
  OPLAT_TRY(session, start_runtime(flags, verbosity));
  if (session.setting.version != selection.setting.version) {
    warnings.push_back(
        fmt::format("the plan is that of {} {} on this machine; the rows are of version {}",
                    flags.runtime, session.setting.version, selection.setting.version));
  }
  if (session.device.isa != selection.device.isa) {
    warnings.push_back(
        fmt::format("the plan is this machine's ({}), whose instruction set differs from that of "
                    "{}; profile the model on the device "
                    "for its own plan",
                    session.device.name, selection.device.name));
  }
  OPLAT_TRY(shapes, shape_options(model_options));
  OPLAT_TRY(inputs, input_options(model_options));
  runtimes::PlanRequest request;
  request.model = model;
  request.shapes = shapes.shapes;
  request.batch = shapes.batch;
  request.inputs = inputs;
  request.setting = selection.setting;
  return ask_plan(session, request);
}

Result<table::Plan> plan_for(const table::Table& table, predict::Selection& selection,
                             const std::string& model, const ModelOptions& model_options,
                             const QuestionOptions& options, const Verbosity& verbosity,
                             std::vector<std::string>& warnings) {
  OPLAT_TRY(asked, shape_options(model_options));
  OPLAT_TRY(asked_inputs, input_options(model_options));
  const bool by_rules = options.plan == kRules || options.plan.starts_with(kRulesOf);
  const RuleQuestion rules{
      options.plan.starts_with(kRulesOf) ? options.plan.substr(kRulesOf.size()) : std::string(),
      asked, options.question};
  if (by_rules) return rule_plan(table, selection, model, rules, warnings);
  OPLAT_TRY(hash, model_hash(table, model));
  OPLAT_TRY(shapes, plan::resolve_shapes(model, asked));
  OPLAT_TRY(inputs, plan::resolve_inputs(asked_inputs));
  if (options.plan != "runtime") {
    OPLAT_TRY(stored, table.find_plan(plan::identity(hash, shapes, selection.setting,
                                                     selection.device.isa, inputs)));
    if (stored) {
      stored->source = "cached";
      return *stored;
    }
    if (options.plan == "cached") {
      return fail(Code::Missing,
                  "{}: the table holds no plan of it for {}; profile it on the device, or ask the "
                  "installed runtime with --plan runtime",
                  model, table::describe(selection.setting));
    }
  }
  const bool has_worker = check_runtime_name(selection.setting.runtime).has_value();
  if (options.plan == "auto" && !has_worker && !rule_sets_for(selection.setting.runtime).empty()) {
    return rule_plan(table, selection, model, rules, warnings);
  }
  auto plan = runtime_plan(selection, model, model_options, verbosity, warnings);
  if (!plan && plan.error().code == Code::Runtime) {
    return fail(Code::Runtime,
                "{}: the table holds no plan of it, and the runtime that could make one failed: {}",
                model, plan.error().message);
  }
  return plan;
}

}  // namespace

Result<AskedPlan> plan_model(const table::Table& table, const predict::Selection& selection,
                             const std::string& model, const ModelOptions& model_options,
                             const QuestionOptions& options, const Verbosity& verbosity) {
  AskedPlan planned{{}, selection, {}};
  OPLAT_TRY(plan, plan_for(table, planned.selection, model, model_options, options, verbosity,
                           planned.warnings));
  planned.plan = std::move(plan);
  return planned;
}

Result<predict::Prediction> predict_planned(const table::Table& table, const AskedPlan& planned,
                                            const std::string& model,
                                            const QuestionOptions& options) {
  OPLAT_TRY(missing, predict::parse_missing_policy(options.missing));
  predict::Options how;
  how.level = options.level;
  how.missing = missing;
  how.profile = estimate::parse_profile(options.profile).value_or(estimate::Profile::Accurate);
  OPLAT_TRY(prediction, predict::predict(table, planned.selection, planned.plan, how));
  prediction.model = model;
  prediction.warnings.insert(prediction.warnings.end(), planned.warnings.begin(),
                             planned.warnings.end());
  return std::move(prediction);
}

Result<predict::Prediction> predict_model(
    const table::Table& table, const predict::Selection& selection, const std::string& model,
    const ModelOptions& model_options, const QuestionOptions& options, const Verbosity& verbosity) {
  OPLAT_TRY(planned, plan_model(table, selection, model, model_options, options, verbosity));
  return predict_planned(table, planned, model, options);
}

}  // namespace oplat::cli
