// SPDX-License-Identifier: Apache-2.0
/// Flags that several subcommands share, declared once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/campaign.hpp"
#include "app/gate.hpp"
#include "app/model_inputs.hpp"
#include "app/model_list.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "report/forms.hpp"

namespace oplat::cli {

/// --quiet, --verbose.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity(const Command& command, Verbosity& to);

/// MODEL... and --list FILE. `help` of MODEL.
void add_models(const Command& command, app::ModelList& to, const std::string& help);
/// Whether --threads and --batch may name several numbers, of which a command makes a table.
enum class Sweeps { No, Yes };
/// --shape NAME=1x3x224x224, --batch N, --input NAME=...
void add_model_options(const Command& command, app::ModelInputTexts& to,
                       Sweeps sweeps = Sweeps::No);
/// --shape and --input alone.
void add_shape_option(const Command& command, app::ModelInputTexts& to);
void add_input_option(const Command& command, app::ModelInputTexts& to);

/// --table T, or $OPLAT_TABLE.
void add_table(const Command& command, std::string& to, bool required = true);
/// The same of a command about a table, as its argument TABLE too.
void add_table_argument(const Command& command, std::string& to);
/// Empties what $OPLAT_TABLE alone said, where another flag names the latencies: a default gives
/// way.
void drop_default_table(std::string& table);

/// --worker 'ssh HOST oplat worker NAME'; given, `runtime` need not be.
void add_worker_option(const Command& command, std::optional<std::string>& to,
                       const Option& runtime);
/// --worker-argument TEXT.
void add_worker_argument(const Command& command, std::vector<std::string>& to);
/// --threads N,... of a command that compares several numbers.
void add_thread_list(const Command& command, std::vector<std::int64_t>& to,
                     const std::string& help);
/// Whether --runtime must be given: of `Defaults`, app::parse_runtime_for() looks for the one that
/// fits.
enum class RuntimeFlag { Required, Defaults };
/// --runtime, --threads, --precision, --option NAME=VALUE, --worker, ...: what to run with.
void add_run_options(const Command& command, app::RuntimeTexts& to,
                     RuntimeFlag flag = RuntimeFlag::Required, Sweeps sweeps = Sweeps::No);

/// --budget, --seed, --blocks, --target-error.
void add_campaign_options(const Command& command, app::CampaignTexts& to);
/// --retry-refused, --retry-loaded.
void add_retry(const Command& command, app::CampaignOptions& to);
/// The flags as values; the record is command_line().
Result<app::CampaignOptions> campaign_options(const app::CampaignTexts& texts);
/// The command line of this process, for the record.
std::string command_line();

/// --max-latency TIME and --gate-on STATISTIC: a command that ends with exit code 7 where a latency
/// is above a limit, for CI.
struct GateFlags {
  std::string max_latency;
  std::string gate_on;
};
/// `statistics`: those that the command knows, the default first.
void add_gate(const Command& command, GateFlags& to, std::span<const app::GateOn> statistics);
/// std::nullopt if no limit was given; `otherwise`: the default of add_gate().
Result<std::optional<app::Gate>> parse_gate(const GateFlags& flags, app::GateOn otherwise);

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

/// What flags of most commands begin with: the form of the result, and how much is said.
struct OutputFlags {
  FormOptions form;
  Verbosity verbosity;
};
/// Both, for a document of report, by its type.
template <class Document>
void add_output(const Command& command, OutputFlags& to) {
  add_form<Document>(command, to.form);
  add_verbosity(command, to.verbosity);
}
/// --keys of a command whose text lists kernels: a terminal gets their labels otherwise.
void add_keys(const Command& command, bool& to);
/// Code::Usage if --out names one of the files that the command reads. Commands ask before they do
/// anything else, so that no work is lost.
Status check_out(const FormOptions& form, const std::vector<std::string>& inputs);
/// The models of MODEL... and --list; check_out() of them, the list and the table.
Result<std::vector<std::string>> models_to_read(const app::ModelList& models,
                                                const FormOptions& form, const std::string& table);
/// Code::Usage if `file`, which an option --out names, is the very file that the command reads:
/// what is there would be lost. Neither need be there yet.
Status refuse_to_replace(const std::string& file, const std::string& input);

}  // namespace oplat::cli
