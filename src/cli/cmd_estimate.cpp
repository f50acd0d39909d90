// SPDX-License-Identifier: Apache-2.0
/// oplat estimate KEY...
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"

namespace oplat::cli {
namespace {

struct EstimateFlags {
  std::vector<std::string> keys;
  std::string table;
  QuestionOptions question;
  std::optional<double> reuse_bytes;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_estimate(const EstimateFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  std::vector<table::PlanKernel> kernels;
  for (const std::string& text : flags.keys) {
    auto key = ir::parse(text);
    if (!key) return fail(Code::Usage, "KEY: {}", key.error().message);
    kernels.push_back({"", text, 1});
  }
  OPLAT_CHECK(check_question(flags.question));
  OPLAT_TRY(missing, predict::parse_missing_policy(flags.question.missing));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question.question, compat::catalogue()));
  const auto profile =
      estimate::parse_profile(flags.question.profile).value_or(estimate::Profile::Accurate);
  OPLAT_TRY(estimates, predict::estimate_kernels(table, selection, kernels, flags.reuse_bytes,
                                                 missing, profile));
  // Rows measured under another setting answer with a wider spread, as in a whole prediction.
  for (predict::KernelPrediction& estimate : estimates) {
    for (const predict::Mismatch& one : selection.mismatch) {
      if (estimate.sd_log) estimate.sd_log = std::hypot(*estimate.sd_log, one.sd_log);
    }
  }
  report::EstimateListing listing;
  listing.kernels = estimates;
  listing.level = flags.question.level;
  listing.device = selection.device;
  listing.setting = selection.setting;
  listing.mismatch = selection.mismatch;
  listing.warnings = selection.warnings;
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{listing, {}}));
  if (flags.form.form() != "text") print_warnings(selection.warnings, flags.verbosity);
  for (const predict::KernelPrediction& kernel : estimates) {
    if (!kernel.latency_ns && missing != predict::MissingPolicy::Zero) {
      return fail(
          Code::Missing, "no estimate for {}: {}; measure it{}", kernel.key, kernel.why,
          missing == predict::MissingPolicy::Error ? ", or ask with --missing roofline" : "");
    }
  }
  return kDone;
}

}  // namespace

void add_estimate(const Command& app) {
  const Command command = app.add_subcommand("estimate", "estimate single kernels, given by key");
  const auto flags = std::make_shared<EstimateFlags>();
  command.add_option("KEY", flags->keys, "keys, as 'oplat plan' prints them").required();
  add_table(command, flags->table);
  add_question_options(command, flags->question);
  command
      .add_option("--reuse-bytes", flags->reuse_bytes,
                  "bytes touched between two uses of a weight (default: hot)")
      .not_negative();
  add_form<report::EstimateListing>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_estimate(*flags); });
}

}  // namespace oplat::cli
