// SPDX-License-Identifier: Apache-2.0
/// oplat lut build: measure the operators of Caffe2 nets and write them as a look-up table.
#include <memory>
#include <optional>
#include <unordered_set>

#include "app/search.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "cli/campaign_flags.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "cli/requests.hpp"
#include "cli/text_output.hpp"
#include "compat/mobile_vision/families.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "compat/mobile_vision/nets.hpp"
#include "search/expansion.hpp"
#include "table/exchange.hpp"

namespace oplat::cli {
namespace {

constexpr std::size_t kMaxNamedKeys = 10;

struct LutBuildFlags {
  std::vector<std::string> models;
  std::vector<std::string> spaces;
  std::string queries;
  std::string input_dims = R"({"data": [1, 3, 160, 160]})";
  std::string out;
  std::string table;
  RunOptions run;
  CampaignFlags campaign;
  Verbosity verbosity;
};

/// An operator to be measured, and its key; empty where nobody knows one.
struct Wanted {
  formats::caffe2::LutQuery query;
  std::string key;
  std::string why;  ///< there is no key
};

Result<std::vector<formats::caffe2::LutQuery>> listed_queries(const std::string& path) {
  OPLAT_TRY(text, base::read_file(path, std::uint64_t{512} << 20));
  std::vector<formats::caffe2::LutQuery> queries;
  std::size_t number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto question = compat::mobile_vision::read_lut_question(line);
    if (!question) return fail_in(fmt::format("{}:{}", path, number), question.error());
    queries.push_back(std::move(question->query));
  }
  if (queries.empty()) return fail(Code::Input, "{}: holds no queries", path);
  return queries;
}

/// The distinct kernels of a search space, in the usual spelling.
Result<std::vector<formats::caffe2::LutQuery>> space_queries(const std::string& file) {
  OPLAT_TRY(space, app::read_space({file, {}}));
  OPLAT_TRY(keys, search::keys_of(space, space.resolutions));
  std::vector<formats::caffe2::LutQuery> queries;
  for (const std::string& text : keys) {
    OPLAT_TRY(query, compat::mobile_vision::query_of(text));
    queries.push_back(std::move(query));
  }
  return queries;
}

/// Every operator once, in order of first appearance.
std::vector<Wanted> distinct(const std::vector<formats::caffe2::LutQuery>& queries) {
  std::vector<Wanted> wanted;
  std::unordered_set<base::Hash128> seen;
  for (const formats::caffe2::LutQuery& query : queries) {
    if (!seen.insert(compat::mobile_vision::lut_identity(query, {})).second) continue;
    Wanted& one = wanted.emplace_back();
    one.query = query;
    std::erase_if(one.query.op_args, [](const std::string& argument) {
      return compat::mobile_vision::is_inert_lut_argument(argument);
    });
    if (const auto key = formats::caffe2::key_of(query)) {
      one.key = ir::print(*key);
    } else {
      one.why = key.error().message;
    }
  }
  return wanted;
}

Result<std::vector<Wanted>> wanted_of(const LutBuildFlags& flags) {
  OPLAT_TRY(paths, compat::mobile_vision::parse_model_paths(flags.models));
  OPLAT_TRY(shapes, compat::mobile_vision::parse_input_dims(flags.input_dims));
  std::vector<formats::caffe2::LutQuery> all;
  for (const std::string& path : paths) {
    OPLAT_TRY(net, compat::mobile_vision::open_net(path, shapes));
    print_warnings(net.warnings, flags.verbosity);
    all.insert(all.end(), net.queries.begin(), net.queries.end());
  }
  for (const std::string& file : flags.spaces) {
    OPLAT_TRY(of_space, space_queries(file));
    all.insert(all.end(), of_space.begin(), of_space.end());
  }
  if (!flags.queries.empty()) {
    OPLAT_TRY(listed, listed_queries(flags.queries));
    all.insert(all.end(), listed.begin(), listed.end());
  }
  return distinct(all);
}

std::vector<std::string> keys_of(const std::vector<Wanted>& wanted) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  for (const Wanted& one : wanted) {
    if (!one.key.empty() && seen.insert(one.key).second) keys.push_back(one.key);
  }
  return keys;
}

std::string reason_of(const std::vector<table::StoredRow>& rows) {
  if (rows.empty()) return "not measured within the budget";
  const table::Outcome& outcome = rows.front().row.outcome;
  if (const auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return "unsupported: " + unsupported->reason;
  if (const auto* skipped = std::get_if<table::Skipped>(&outcome))
    return "skipped: " + skipped->reason;
  if (const auto* failed = std::get_if<table::Failed>(&outcome)) return "failed: " + failed->reason;
  return "it has no time";
}

struct Lines {
  std::string text;
  std::size_t records = 0;
  base::TruncatedList missing{kMaxNamedKeys};  ///< with the reason
};

/// A line for every operator with a time, at its hottest cache state, as the original's loop over
/// one operator has it.
Result<Lines> lines_of(const std::vector<Wanted>& wanted, const table::Table& table,
                       table::DeviceId device, table::SettingId setting,
                       const std::string& device_name) {
  Lines lines;
  for (const Wanted& one : wanted) {
    std::vector<table::StoredRow> rows;
    if (!one.key.empty()) {
      OPLAT_TRY(found, table.rows_of(one.key, device, setting));
      rows = std::move(found);
    }
    const auto* timing =
        rows.empty() ? nullptr : std::get_if<table::Timing>(&rows.front().row.outcome);
    if (timing == nullptr) {
      std::string line = compat::mobile_vision::lut_question_line(one.query, device_name);
      line.pop_back();
      lines.missing.add(fmt::format("{}: {}", line, one.why.empty() ? reason_of(rows) : one.why));
      continue;
    }
    OPLAT_TRY(slowest, table::slowest_block(table, rows.front().id));
    lines.text += compat::mobile_vision::lut_line(
        compat::mobile_vision::lut_record_of(one.query, device_name, *timing, slowest));
    ++lines.records;
  }
  return lines;
}

Result<int> run_lut_build(const LutBuildFlags& flags) {
  if (flags.models.empty() && flags.queries.empty() && flags.spaces.empty()) {
    return fail(Code::Usage,
                "nothing to measure; give --models DIR, --queries FILE or --space FILE");
  }
  if (flags.run.device.empty())
    return fail(Code::Usage, "--device is missing; set the device name for the lines of the table");
  for (const std::string& input : {flags.queries, flags.table})
    OPLAT_CHECK(refuse_to_replace(flags.out, input));
  for (const std::string& input : flags.spaces) OPLAT_CHECK(refuse_to_replace(flags.out, input));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  OPLAT_TRY(runtime, runtime_request(flags.run));
  OPLAT_CHECK(app::check_runtime(runtime));
  OPLAT_TRY(wanted, wanted_of(flags));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(session, app::start_session(runtime, events));
  OPLAT_TRY(table, table::Table::open(flags.table.empty() ? flags.out + ".oplat" : flags.table,
                                      table::Mode::Create));
  OPLAT_CHECK(app::check_device(table, session.device));
  OPLAT_TRY(summary, app::run_campaign(session, keys_of(wanted), {}, campaign, table, events));
  events.finish();
  if (summary.interrupted)
    return fail(Code::Interrupted,
                "stopped; {} keeps what was measured; run the same command to resume",
                table.path().string());
  OPLAT_TRY(device, table.find_or_put_device(session.device.name));
  OPLAT_TRY(setting, table.put_setting(session.setting));
  OPLAT_TRY(lines, lines_of(wanted, table, device, setting, session.device.name));
  if (lines.records == 0) {
    return fail(Code::Runtime, "no operator was measured:{}", lines.missing.text());
  }
  OPLAT_CHECK(base::write_file(flags.out, lines.text));
  fmt::print("{}: {} records, p0 to p100 over the blocks of each; table {}\n", flags.out,
             lines.records, table.path().string());
  if (lines.missing.count() == 0) return kDone;
  return fail(Code::Missing, "{} of {} operators have no record:{}", lines.missing.count(),
              wanted.size(), lines.missing.text());
}

}  // namespace

void add_lut_build(const Command& group) {
  const Command command =
      group.add_subcommand("build", "measure the operators of Caffe2 nets into a look-up table");
  const auto flags = std::make_shared<LutBuildFlags>();
  command
      .add_option("--models,--model_path", flags->models,
                  "folders of Caffe2 nets, separated by commas")
      .type_name("DIR[,DIR]")
      .repeatable();
  command
      .add_option("--space", flags->spaces,
                  "search space whose kernels are measured (docs/guide/searching.md; repeatable)")
      .type_name("FILE")
      .repeatable();
  command
      .add_option("--queries", flags->queries,
                  "further operators: lines as 'oplat lut --queries' prints them")
      .type_name("FILE");
  command.add_option("--input_dims", flags->input_dims, "sizes of the inputs of the nets, as JSON")
      .type_name("JSON")
      .capture_default_str();
  command.add_option("--out", flags->out, "look-up table to write; an existing file is replaced")
      .type_name("FILE")
      .required();
  command
      .add_option("--table", flags->table,
                  "table of oplat that holds every block, to resume from (default: FILE.oplat)")
      .type_name("FILE");
  add_run_options(command, flags->run);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Measures every distinct operator as 'oplat profile' does. Run again, it resumes where it stopped. A
line holds the median as runtime_us_p50 and further percentiles over blocks. Each block is a
measurement in its own process, with weights in the caches as near as they fit.
Exit codes: 0 done; 2 usage; 3 a net is missing or malformed; 4 operators that could not be measured
(the rest is written); 5 the runtime is unknown or not installed, or nothing could be measured; 6
refused; 8 could not write; 130/143 interrupted.
Example: oplat lut build --models net --input_dims '{"data": [1, 3, 224, 224]}' --device desk \
             --runtime qnnpack --out desk-op_lut_database.json)");
  command.runs([flags] { return run_lut_build(*flags); });
}

}  // namespace oplat::cli
