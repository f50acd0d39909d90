// SPDX-License-Identifier: Apache-2.0
/// oplat advise MODEL...: the setting and the batch that meet a latency.
#include <algorithm>
#include <memory>

#include "app/advise.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct AdviseFlags {
  app::AdviseRequest request;
  std::vector<std::string> shapes;
  std::vector<std::string> data;
  std::string threads;
  std::string batches;
  PredictionFlags prediction;
  std::string plan = "auto";
  GateFlags gate;
  FormOptions form;
  Verbosity verbosity;
};

/// "1,2,4".
Result<std::vector<std::int64_t>> numbers_of(std::string_view flag, const std::string& text,
                                             std::int64_t max) {
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const std::string& part : base::split(text, ',')) {
    const auto number = base::parse_int(part);
    if (!number || *number < 1 || *number > max)
      return fail(Code::Usage, "{} {}: '{}' is not a number from 1 to {}; write 1,2,4", flag,
                  base::printable(text), base::printable(part), max);
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end())
      numbers.push_back(*number);
  }
  return numbers;
}

/// Code::GateNotMet if no choice meets the target, Code::Missing if none has a latency.
Status check_advice(const report::AdviceReport& advice, const Gate& gate) {
  const auto is_met = [&](const auto& one) {
    return one.meets == report::Meets::Yes ||
           (gate.on == GateOn::Point && one.meets == report::Meets::Likely);
  };
  if (std::any_of(advice.choices.begin(), advice.choices.end(), is_met)) return {};
  const bool known = std::any_of(advice.choices.begin(), advice.choices.end(),
                                 [](const auto& one) { return one.latency_ns.has_value(); });
  if (!known) {
    for (const auto& one : advice.choices)
      if (one.code)
        return fail(*one.code, "no choice has a latency; the first lacks it because {}", one.why);
  }
  return fail(Code::GateNotMet, "no setting of the table meets --max-latency {}{}", gate.max_text,
              gate.on == GateOn::Upper ? " with the upper end of its interval" : "");
}

Result<int> run_advise(const AdviseFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, kPredictGates.front()));
  if (!gate)
    return fail(Code::Usage, "a target is missing; set it with --max-latency, such as 5ms");
  app::AdviseRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, request.models));
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  OPLAT_TRY(inputs, model_inputs({flags.shapes, std::nullopt, {}, flags.data}));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  OPLAT_TRY(options, prediction_options(flags.prediction));
  request.options = options;
  OPLAT_TRY(threads, numbers_of("--threads", flags.threads, 4096));
  request.threads = std::move(threads);
  OPLAT_TRY(batches, numbers_of("--batch", flags.batches, std::int64_t{1} << 31));
  request.batches = std::move(batches);
  request.max_latency_ns = gate->max_ns;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(advice, app::advise(request, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{advice, {}}));
  OPLAT_CHECK(check_advice(advice, *gate));
  return kDone;
}

constexpr const char* kAdviseFooter =
    R"(
Every setting of the table that the flags leave is tried with every batch. Those whose interval lies
below the target come first, then those whose latency does; among them the fastest per image. What
has no latency is listed with the command that measures it.
Exit codes: 0 a setting meets the target; 2 usage, or several devices; 3 a model or the table; 4 or 5
nothing has a latency; 6 no row for the flags; 7 no setting meets the target.
Example: oplat advise net.onnx net_int8.onnx --max-latency 5ms --table t.oplat --batch 1,2,4)";

}  // namespace

void add_advise(const Command& app) {
  const Command command = app.add_subcommand(
      "advise", "find the threads, precision and batch that meet a latency, from one table");
  const auto flags = std::make_shared<AdviseFlags>();
  command
      .add_option("MODEL", flags->request.models,
                  "model files: variants of one network, such as fp32 and int8")
      .required();
  add_table(command, flags->request.table);
  add_gate(command, flags->gate, kPredictGates);
  command
      .add_option("--threads", flags->threads,
                  "numbers of threads to try: 1,2,4 (default: all of the table)")
      .type_name("LIST");
  command.add_option("--batch", flags->batches, "batches to try: 1,2,4 (default: the model's own)")
      .type_name("LIST");
  command.add_option("--runtime", flags->request.rows.runtime, "use rows of this runtime");
  command.add_option("--runtime-version", flags->request.rows.version,
                     "use rows of this version of the runtime");
  command.add_option("--device", flags->request.rows.device, "use rows of this device");
  command.add_option("--precision", flags->request.rows.precision,
                     "use rows computed in this precision (default: all of the table)");
  add_option_filter(command, flags->request.rows);
  add_prediction_options(command, flags->prediction);
  add_plan_source(command, flags->plan);
  command
      .add_option(
          "--shape", flags->shapes,
          "set the dimensions of an input: NAME=1x3x224x224; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DIMS")
      .repeatable();
  command
      .add_option("--input", flags->data,
                  "set the data of an input: NAME=FILE.npy, NAME=zeros, NAME=ones or "
                  "NAME=uniform:LO:HI; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DATA")
      .repeatable();
  add_form<report::AdviceReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kAdviseFooter);
  command.runs([flags] { return run_advise(*flags); });
}

}  // namespace oplat::cli
