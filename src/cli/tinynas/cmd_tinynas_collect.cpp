// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas collect LOG
#include <memory>

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

struct TinynasCollectFlags {
  std::string log;
  std::string out;
  bool skip_bad_lines = false;
  bool quiet = false;
};

Result<int> run_tinynas_collect(const TinynasCollectFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.out, flags.log));
  OPLAT_TRY(source, base::Source::open(flags.log));
  const tinynas::CollectedLog log = tinynas::collect_log(source);
  if (!log.bad.empty() && !flags.skip_bad_lines) {
    return fail(Code::Input,
                "{}: holds malformed lines; use --skip-bad-lines to skip them\n"
                "  {}",
                flags.log, base::join(log.bad, "\n  "));
  }
  if (log.samples == 0) {
    return fail(Code::Input,
                "{}: holds no samples; expected lines 'iter-N: SAMPLE', each followed by 'run "
                "time_ms: X ms'",
                flags.log);
  }
  OPLAT_CHECK(put_text(flags.out, log.library));
  if (!flags.quiet) {
    for (const std::string& bad : log.bad)
      print_message(fmt::format("warning: {}: left out: {}", flags.log, bad));
    for (const std::string& note : log.notes) print_message(fmt::format("{}: {}", flags.log, note));
    print_message(
        fmt::format("{} samples, {} of them failed (-1){}", log.samples, log.failed,
                    log.repeated > 0 ? fmt::format(", {} measured again", log.repeated) : ""));
  }
  return kDone;
}

}  // namespace

void add_tinynas_collect(const Command& group) {
  const Command command =
      group.add_subcommand("collect", "convert the log of a device to a library");
  const auto flags = std::make_shared<TinynasCollectFlags>();
  command.add_option("LOG", flags->log, "log with lines 'iter-N: SAMPLE' and 'run time_ms: X ms'")
      .required();
  command.add_option("--out", flags->out, "library file to write (default: standard output)")
      .type_name("FILE");
  command.add_flag("--skip-bad-lines", flags->skip_bad_lines,
                   "skip iter- lines that hold no sample, and report them");
  command.add_flag("--quiet", flags->quiet, "print no counts and notes on stderr");
  command.footer({R"(
A sample without a time, or with an impossible one (below 1e-9 or above 3.2e10 ms), becomes a failed
row (-1). The original stops at the first such sample and writes nothing. If a sample without a time
appears again under its number, the later one replaces it.
Exit codes: 0 done; 2 usage; 3 the log is missing, malformed or holds no samples; 8 could not write.
Example: oplat tinynas collect log.int8.txt --out conv_data.out.int8)"});
  command.runs([flags] { return run_tinynas_collect(*flags); });
}

}  // namespace oplat::cli
