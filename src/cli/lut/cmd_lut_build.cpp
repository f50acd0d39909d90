// SPDX-License-Identifier: Apache-2.0
/// oplat lut build: measure the operators of Caffe2 nets and write them as a look-up table.
#include <memory>

#include "app/lut.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"

namespace oplat::cli {
namespace {

struct LutBuildFlags {
  app::LutBuildRequest request;
  app::RuntimeTexts run;
  app::CampaignTexts campaign;
  Verbosity verbosity;
};

Result<int> run_lut_build(const LutBuildFlags& flags) {
  app::LutBuildRequest request = flags.request;
  for (const std::string& input : {request.queries, request.table})
    OPLAT_CHECK(refuse_to_replace(request.out, input));
  for (const std::string& input : request.spaces)
    OPLAT_CHECK(refuse_to_replace(request.out, input));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  request.campaign = std::move(campaign);
  OPLAT_TRY(runtime, app::parse_runtime(flags.run));
  request.runtime = std::move(runtime);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::lut_build(request, events));
  events.finish();
  print_text(fmt::format("{}: {} records, p0 to p100 over the blocks of each; table {}\n",
                         request.out, result.records, result.table.string()));
  if (result.missing == 0) return kDone;
  return fail(Code::Missing, "{} of {} operators have no record:{}", result.missing,
              result.operators, result.reasons);
}

}  // namespace

void add_lut_build(const Command& group) {
  const Command command =
      group.add_subcommand("build", "measure the operators of Caffe2 nets into a look-up table");
  const auto flags = std::make_shared<LutBuildFlags>();
  flags->request.input_dims = R"({"data": [1, 3, 160, 160]})";
  command
      .add_option("--models,--model_path", flags->request.models,
                  "folders of Caffe2 nets, separated by commas")
      .type_name("DIR[,DIR]")
      .repeatable();
  command
      .add_option("--space", flags->request.spaces,
                  "search space whose kernels are measured (docs/guide/searching.md; repeatable)")
      .type_name("FILE")
      .repeatable();
  command
      .add_option("--queries", flags->request.queries,
                  "further operators: lines as 'oplat lut --queries' prints them")
      .type_name("FILE");
  command
      .add_option("--input_dims", flags->request.input_dims,
                  "sizes of the inputs of the nets, as JSON")
      .type_name("JSON")
      .capture_default_str();
  command
      .add_option("--out", flags->request.out,
                  "look-up table to write; an existing file is replaced")
      .type_name("FILE")
      .required();
  command
      .add_option("--table", flags->request.table,
                  "table of oplat that holds every block, to resume from (default: FILE.oplat)")
      .type_name("FILE");
  add_run_options(command, flags->run);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign.options);
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
Measures every distinct operator as 'oplat profile' does. Run again, it resumes where it stopped. A
line holds the median as runtime_us_p50 and further percentiles over blocks. Each block is a
measurement in its own process, with weights in the caches as near as they fit.
Exit codes: 0 done; 2 usage; 3 a net is missing or malformed; 4 operators that could not be measured
(the rest is written); 5 the runtime is unknown or not installed, or nothing could be measured; 6
refused; 8 could not write; 130/143 interrupted.
Example: oplat lut build --models net --input_dims '{"data": [1, 3, 224, 224]}' --device desk \
             --runtime qnnpack --out desk-op_lut_database.json)"});
  command.runs([flags] { return run_lut_build(*flags); });
}

}  // namespace oplat::cli
