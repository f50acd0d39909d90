// SPDX-License-Identifier: Apache-2.0
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

constexpr int kMaxJobs = 256;

void add_device_filter(const Command& command, predict::RowFilter& to) {
  command.add_option("--device", to.device, "use rows of this device");
  command.add_option("--precision", to.precision, "use rows computed in this precision");
  add_option_filter(command, to);
}

constexpr const char* kThreadsHelp = "use rows measured with this many threads";

}  // namespace

void add_runtime_filter(const Command& command, predict::RowFilter& to) {
  command.add_option("--runtime", to.runtime, "use rows of this runtime");
  command.add_option("--runtime-version", to.version, "use rows of this version of the runtime");
}

void add_row_filter(const Command& command, predict::RowFilter& to) {
  add_runtime_filter(command, to);
  command.add_option("--threads", to.threads, kThreadsHelp).range(1, 4096);
  add_device_filter(command, to);
}

void add_row_filter(const Command& command, predict::RowFilter& to,
                    std::vector<std::int64_t>& threads) {
  add_runtime_filter(command, to);
  add_thread_list(command, threads, kThreadsHelp);
  add_device_filter(command, to);
}

void add_option_filter(const Command& command, predict::RowFilter& to) {
  command
      .add_texts(
          "--option", [&to](const std::string& text) { return app::add_row_option(to, text); },
          "use rows measured with this runtime option: NAME=VALUE, or NAME= if it was not set "
          "(repeatable; 'oplat table info' lists them)")
      .type_name("NAME=VALUE")
      .repeatable();
}

void add_mismatch_flag(const Command& command, predict::RowFilter& to) {
  command.add_flag("--allow-setting-mismatch", to.allow_setting_mismatch,
                   "use rows of the nearest setting, with a wider interval");
}

void add_unfitted(const Command& command, bool& unfitted) {
  command.add_flag("--unfitted", unfitted,
                   "ignore the fitted composition; add kernels up by start values");
}

void add_level(const Command& command, double& to, const std::string& help) {
  command.add_option("--level", to, help).range(0.01, 0.999).capture_default_str();
}

void add_prediction_options(const Command& command, app::PredictionTexts& to) {
  add_level(command, to.level);
  command
      .add_option("--missing", to.missing,
                  "what to do about kernels without an estimate: error, roofline or zero")
      .capture_default_str();
  add_estimator(command, to.estimator);
}

void add_estimator(const Command& command, std::string& to) {
  const std::vector<std::string> words = {"accurate", "fast"};
  const Option estimator =
      command
          .add_option("--estimator", to,
                      "learned estimator: accurate, or fast (a few microseconds a kernel)")
          .one_of(words)
          .capture_default_str();
  command.add_option("--profile", to, "").one_of(words).hidden().excludes(estimator);
}

void add_plan_source(const Command& command, std::string& to) {
  command
      .add_option("--plan", to,
                  "source of the plan: auto, cached (the table), runtime (the installed one) or "
                  "rules[:NAME] (fusion rules)")
      .capture_default_str();
}

void add_foreign_table_options(const Command& command, bool& skip_bad_rows, bool& calibrate) {
  command.add_flag("--skip-bad-rows", skip_bad_rows,
                   "skip malformed rows of a foreign table, and report them");
  add_calibrate(command, calibrate);
}

void add_calibrate(const Command& command, bool& to) {
  command.add_flag("--calibrate,!--no-calibrate", to,
                   "calibrate intervals by cross-validation (default); without it, fitting is "
                   "several times faster and intervals are wider guesses");
}

void add_learn_options(const Command& command, app::LearnOptions& to) {
  command.add_option("--seed", to.seed, "random seed for learning").capture_default_str();
  command.add_option("--jobs", to.jobs, "number of cores for learning (default: all)")
      .range(1, kMaxJobs)
      .type_name("N");
  add_calibrate(command, to.calibrate);
  command.add_flag("--exclude-suspects", to.exclude_suspects,
                   "ignore rows that 'oplat check' reports (rows of unknown batch are always "
                   "ignored if it does)");
  command.add_flag("--set-aside", to.exclude_suspects, "").hidden();
}

}  // namespace oplat::cli
