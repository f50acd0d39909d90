// SPDX-License-Identifier: Apache-2.0
/// Shared flags.
#include "cli/options.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/name_value.hpp"
#include "base/text.hpp"
#include "cli/text_output.hpp"

namespace oplat::cli {

void add_verbosity(const Command& command, Verbosity& to) {
  command.add_flag("--quiet", to.quiet, "print no progress, only results and errors");
  command.add_flag("--verbose", to.verbose,
                   "print more on stderr, including the output of workers");
}

void add_model_options(const Command& command, ModelOptions& to, Sweeps sweeps) {
  command
      .add_option(
          "--shape", to.shapes,
          "set the dimensions of an input: NAME=1x3x224x224; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DIMS")
      .repeatable();
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
  command
      .add_option("--input", to.inputs,
                  "set the data of an input: NAME=FILE.npy, NAME=zeros, NAME=ones or "
                  "NAME=uniform:LO:HI; a NAME with = is quoted (repeatable)")
      .type_name("NAME=DATA")
      .repeatable();
}

Result<formats::ShapeOptions> shape_options(const ModelOptions& options) {
  formats::ShapeOptions shapes;
  shapes.batch = options.batch;
  if (!options.batches.empty()) shapes.batch = options.batches.front();
  for (const std::string& text : options.shapes) {
    OPLAT_TRY(pair, base::name_value("--shape", text));
    std::vector<std::int64_t> dims;
    for (const std::string& part : base::split(pair.second, 'x')) {
      const auto dim = base::parse_int(part);
      if (!dim || *dim < 0 || *dim > (std::int64_t{1} << 40)) {
        return fail(Code::Usage,
                    "--shape {}: '{}' is not a dimension; expected numbers separated by x: "
                    "NAME=1x3x224x224{}",
                    base::printable(text), base::printable(part),
                    part.find('=') == std::string::npos
                        ? ""
                        : "; a name that holds = is quoted: '\"a=b\"=1x3'");
      }
      dims.push_back(*dim);
    }
    if (!shapes.shapes.emplace(pair.first, std::move(dims)).second)
      return fail(Code::Usage, "--shape {} is given twice", base::printable(pair.first));
  }
  return shapes;
}

Result<std::map<std::string, std::string>> input_options(const ModelOptions& options) {
  std::map<std::string, std::string> inputs;
  for (const std::string& text : options.inputs) {
    OPLAT_TRY(pair, base::name_value("--input", text));
    if (!inputs.emplace(pair.first, pair.second).second)
      return fail(Code::Usage, "--input {} is given twice", base::printable(pair.first));
  }
  return inputs;
}

void add_table(const Command& command, std::string& to, bool required) {
  command.add_option("--table", to, "latency table")
      .envname("OPLAT_TABLE")
      .type_name("FILE")
      .required(required);
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

void add_run_options(const Command& command, RunOptions& to, RuntimeFlag flag, Sweeps sweeps) {
  std::string help = "runtime that executes ('oplat runtimes' lists them";
  if (flag == RuntimeFlag::Defaults)
    help += "; default: the only installed one that reads the models";
  const Option runtime = command.add_option("--runtime", to.runtime, help + ")")
                             .required(flag == RuntimeFlag::Required);
  add_worker_option(command, to.worker, runtime);
  if (sweeps == Sweeps::Yes) {
    command
        .add_option("--threads", to.thread_list,
                    "number of threads of the runtime (default: 1); 1,2 compares several")
        .range(1, 4096)
        .type_name("N,...")
        .repeatable()
        .comma_separated();
  } else {
    command.add_option("--threads", to.threads, "number of threads of the runtime")
        .range(1, 4096)
        .capture_default_str();
  }
  command.add_option("--precision", to.precision,
                     "precision in which the runtime computes (default: the model's own)");
  command
      .add_option(
          "--option", to.options,
          "set an option of the runtime: NAME=VALUE (repeatable; 'oplat runtimes' lists them)")
      .type_name("NAME=VALUE")
      .repeatable();
  command.add_option("--device", to.device,
                     "name of this machine in the table (default: made from its processor)");
  command.add_option("--cpu", to.cpu, "pin the worker to this CPU; needs --threads 1")
      .range(0, 4095);
  command
      .add_option("--worker-argument", to.worker_arguments,
                  "argument for the worker, such as the table of 'replay' (repeatable)")
      .repeatable();
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

Status check_out(const FormOptions& form, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) OPLAT_CHECK(refuse_to_replace(form.out, input));
  return {};
}

}  // namespace oplat::cli
