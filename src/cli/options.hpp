// SPDX-License-Identifier: Apache-2.0
/// Flags that several subcommands share, declared once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "formats/format_reader.hpp"
#include "report/forms.hpp"

namespace oplat::cli {

/// --quiet, --verbose.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity(const Command& command, Verbosity& to);

/// --shape NAME=1x3x224x224, --batch N, --input NAME=...
struct ModelOptions {
  std::vector<std::string> shapes;
  std::optional<std::int64_t> batch;  ///< the first of `batches`, where these may be several
  std::vector<std::int64_t> batches;
  std::vector<std::string> inputs;
};
/// Whether --threads and --batch may name several numbers, of which a command makes a table.
enum class Sweeps { No, Yes };
void add_model_options(const Command& command, ModelOptions& to, Sweeps sweeps = Sweeps::No);
/// The flags as values. Code::Usage quotes the flag and shows its form.
Result<formats::ShapeOptions> shape_options(const ModelOptions& options);
Result<std::map<std::string, std::string>> input_options(const ModelOptions& options);

/// --table T, or $OPLAT_TABLE.
void add_table(const Command& command, std::string& to, bool required = true);
/// Empties what $OPLAT_TABLE alone said, where another flag names the latencies: a default gives
/// way.
void drop_default_table(std::string& table);

/// --runtime, --threads, --precision, --option NAME=VALUE, --worker, ...: what to run with.
struct RunOptions {
  std::string runtime;
  std::int64_t threads = 1;  ///< the first of `thread_list`, where these may be several
  std::vector<std::int64_t> thread_list;
  std::string precision;
  std::vector<std::string> options;
  std::string device;  ///< name to file rows under; empty: the machine's own
  std::optional<int> cpu;
  std::vector<std::string> worker_arguments;
  std::optional<std::string> worker;  ///< command of a worker elsewhere, as written
};
/// --worker 'ssh HOST oplat worker NAME'; given, `runtime` need not be.
void add_worker_option(const Command& command, std::optional<std::string>& to,
                       const Option& runtime);
/// Whether --runtime must be given: of `Defaults`, runtime_request() looks for the one that fits.
enum class RuntimeFlag { Required, Defaults };
void add_run_options(const Command& command, RunOptions& to,
                     RuntimeFlag flag = RuntimeFlag::Required, Sweeps sweeps = Sweeps::No);

/// --format FORM, its short forms --json and --csv, and --out FILE.
struct FormOptions {
  bool json = false;
  bool csv = false;
  std::string format;  ///< empty: the first of the document's forms
  std::string out;     ///< file to write; empty: standard output
  /// The form that was asked for; `otherwise` if none was.
  [[nodiscard]] std::string_view form(std::string_view otherwise = "text") const {
    return json ? "json" : csv ? "csv" : format.empty() ? otherwise : std::string_view(format);
  }
};
/// `forms`: those of the document, the default first; another one is a usage error that names them.
void add_form(const Command& command, FormOptions& to, report::Forms forms);
/// The same for a document of report, by its type.
template <class Document>
void add_form(const Command& command, FormOptions& to) {
  add_form(command, to, report::forms<Document>());
}
/// Code::Usage if --out names one of the files that the command reads. Commands ask before they do
/// anything else, so that no work is lost.
Status check_out(const FormOptions& form, const std::vector<std::string>& inputs);

}  // namespace oplat::cli
