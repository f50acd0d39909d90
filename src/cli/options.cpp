// SPDX-License-Identifier: Apache-2.0
/// Shared flags.
#include "cli/options.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::cli {

void add_verbosity(const Command& command, Verbosity& to) {
  command.add_flag("--quiet", to.quiet, "print no progress, only results and errors");
  command.add_flag("--verbose", to.verbose,
                   "print more on stderr, including the output of workers");
}

void add_models(const Command& command, app::ModelList& to, const std::string& help) {
  const Option models = command.add_option("MODEL", to.models, help).required();
  command
      .add_option("--list", to.list,
                  "file that names more models, a path a line; - is standard input")
      .type_name("FILE")
      .stands_for(models);
}

void add_shape_option(const Command& command, app::ModelInputTexts& to) {
  command
      .add_option(
          "--shape", to.shapes,
          "set the dimensions of an input: NAME=1x3x224x224; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DIMS")
      .repeatable();
}

void add_input_option(const Command& command, app::ModelInputTexts& to) {
  command
      .add_option("--input", to.inputs,
                  "set the data of an input: NAME=FILE.npy, NAME=zeros, NAME=ones or "
                  "NAME=uniform:LO:HI; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DATA")
      .repeatable();
}

void add_model_options(const Command& command, app::ModelInputTexts& to, Sweeps sweeps) {
  add_shape_option(command, to);
  const std::string help =
      "set the batch: symbolic batch dimensions, else leading unknown ones, else the batch that an "
      "ONNX model fixes, where it can be rewritten (default: the model's, 1 if it is open)";
  if (sweeps == Sweeps::Yes) {
    command.add_option("--batch", to.batches, help + "; 1,2,4 compares several")
        .range(std::int64_t{1}, std::int64_t{1} << 31)
        .type_name("N,...")
        .repeatable()
        .comma_separated();
  } else {
    command.add_option("--batch", to.batch, help).range(std::int64_t{1}, std::int64_t{1} << 31);
  }
  add_input_option(command, to);
}

void add_table(const Command& command, std::string& to, bool required) {
  command.add_option("--table", to, "latency table")
      .envname("OPLAT_TABLE")
      .type_name("FILE")
      .required(required);
}

void add_table_argument(const Command& command, std::string& to) {
  command.add_option("TABLE,--table", to, "latency table").envname("OPLAT_TABLE").required();
}

void drop_default_table(std::string& table) {
  const char* const standing = std::getenv("OPLAT_TABLE");
  if (standing != nullptr && table == standing) table.clear();
}

void add_worker_option(const Command& command, std::optional<std::string>& to,
                       const Option& runtime) {
  command
      .add_option(
          "--worker", to,
          "command that starts the worker, usually on another machine: 'ssh HOST oplat worker "
          "NAME'; models are sent there, and --runtime may be left out (docs/guide/remote.md)")
      .type_name("COMMAND")
      .stands_for(runtime);
}

void add_worker_argument(const Command& command, std::vector<std::string>& to) {
  command
      .add_option("--worker-argument", to,
                  "argument for the worker, such as the table of 'replay' (repeatable)")
      .repeatable();
}

void add_thread_list(const Command& command, std::vector<std::int64_t>& to,
                     const std::string& help) {
  command.add_option("--threads", to, help + "; 1,2 compares several")
      .range(1, 4096)
      .type_name("N,...")
      .repeatable()
      .comma_separated();
}

void add_run_options(const Command& command, app::RuntimeTexts& to, RuntimeFlag flag,
                     Sweeps sweeps) {
  std::string help = "runtime that executes ('oplat runtimes' lists them";
  if (flag == RuntimeFlag::Defaults)
    help += "; default: the only installed one that reads the models";
  const Option runtime = command.add_option("--runtime", to.request.runtime, help + ")")
                             .required(flag == RuntimeFlag::Required);
  add_worker_option(command, to.worker, runtime);
  const std::string threads = "number of threads of the runtime";
  if (sweeps == Sweeps::Yes)
    add_thread_list(command, to.thread_list, threads + " (default: 1)");
  else
    command.add_option("--threads", to.request.threads, threads)
        .range(1, 4096)
        .capture_default_str();
  command.add_option("--precision", to.request.precision,
                     "precision in which the runtime computes (default: the model's own)");
  command
      .add_option(
          "--option", to.options,
          "set an option of the runtime: NAME=VALUE (repeatable; 'oplat runtimes' lists them)")
      .type_name("NAME=VALUE")
      .repeatable();
  command.add_option("--device", to.request.device,
                     "name of this machine in the table (default: made from its processor)");
  command.add_option("--cpu", to.request.cpu, "pin the worker to this CPU; needs --threads 1")
      .range(0, 4095);
  add_worker_argument(command, to.request.worker_arguments);
}

void add_campaign_options(const Command& command, app::CampaignTexts& to) {
  command
      .add_option(
          "--budget", to.budget,
          "stop after this time: 4m, 1.5h; counts once models are planned; each row gets one "
          "block before any gets a second, and what is left is reported and waits for the "
          "next run (default: until every row is precise)")
      .type_name("TIME");
  command
      .add_option("--seed", to.options.seed,
                  "random seed for the order of rows, weights and inputs")
      .capture_default_str();
  command
      .add_option("--blocks", to.options.min_blocks,
                  "minimum number of blocks of every row, each in its own process (default: 5)")
      .range(5, 1000);
  command
      .add_option("--target-error", to.target_error,
                  "relative half-width of the 95 % interval at which a row is precise: 5%, 0.05 "
                  "(default: 3 %, or 5 % for kernels up to 20 us)")
      .type_name("E");
}

void add_retry(const Command& command, app::CampaignOptions& to) {
  command.add_flag("--retry-refused", to.retry_refused,
                   "measure failed, unsupported and skipped rows again");
  command.add_flag(
      "--retry-loaded", to.retry_loaded,
      "re-measure rows taken on a busy machine until quiet blocks outnumber busy ones two to one");
}

Result<app::CampaignOptions> campaign_options(const app::CampaignTexts& texts) {
  OPLAT_TRY(options, app::parse_campaign(texts));
  options.record = command_line();
  return options;
}

std::string command_line() {
  std::string text = base::read_file("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

void add_gate(const Command& command, GateFlags& to, std::span<const app::GateOn> statistics) {
  command
      .add_option("--max-latency", to.max_latency,
                  "exit with 7 if the latency is above this time: 10ms, 250us")
      .type_name("TIME");
  std::vector<std::string> known;
  for (const app::GateOn on : statistics) known.emplace_back(app::name(on));
  command
      .add_option("--gate-on", to.gate_on,
                  fmt::format("number that --max-latency limits: {} (default {})",
                              base::join(known, ", "), known.front()))
      .one_of(known)
      .type_name("NUMBER");
}

Result<std::optional<app::Gate>> parse_gate(const GateFlags& flags, app::GateOn otherwise) {
  return app::parse_gate(flags.max_latency, flags.gate_on, otherwise);
}

void add_form(const Command& command, FormOptions& to, report::Forms forms) {
  const auto has = [&](std::string_view form) {
    return std::find(forms.begin(), forms.end(), form) != forms.end();
  };
  const Option format =
      command
          .add_option("--format", to.format,
                      fmt::format("format of the result (default: {})", forms.front()))
          .one_of(std::vector<std::string>(forms.begin(), forms.end()));
  const Option json =
      command.add_flag("--json", to.json, "short for --format json").excludes(format);
  if (has("csv"))
    command.add_flag("--csv", to.csv, "short for --format csv").excludes(json).excludes(format);
  command.add_option("--out", to.out, "file to write the result to (default: standard output)")
      .type_name("FILE");
}

void add_keys(const Command& command, bool& to) {
  command.add_flag(
      "--keys", to,
      "on a terminal, show keys instead of labels of kernels; text in a file or a pipe "
      "always has keys");
}

Status check_out(const FormOptions& form, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) OPLAT_CHECK(refuse_to_replace(form.out, input));
  return {};
}

Result<std::vector<std::string>> models_to_read(const app::ModelList& models,
                                                const FormOptions& form, const std::string& table) {
  OPLAT_TRY(listed, app::listed_models(models));
  OPLAT_CHECK(check_out(form, listed));
  OPLAT_CHECK(check_out(form, {table, models.list.value_or("")}));
  return listed;
}

Status refuse_to_replace(const std::string& file, const std::string& input) {
  if (file.empty() || input.empty() || !base::is_same_file(file, input)) return {};
  return fail(Code::Usage, "--out {}: is also the input file; choose another name",
              base::printable(file, 400));
}

}  // namespace oplat::cli
