// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas collect LOG
#include <memory>

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/text_output.hpp"
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
    return fail(Code::Input, "{}: malformed; --skip-bad-lines collects the rest\n  {}", flags.log,
                base::join(log.bad, "\n  "));
  }
  if (log.samples == 0) {
    return fail(
        Code::Input,
        "{}: no sample; expected lines 'iter-N: SAMPLE', each followed by 'run time_ms: X ms'",
        flags.log);
  }
  OPLAT_CHECK(put_text(flags.out, log.library));
  if (!flags.quiet) {
    for (const std::string& bad : log.bad)
      fmt::print(stderr, "oplat: warning: {}: left out: {}\n", flags.log, bad);
    for (const std::string& note : log.notes)
      fmt::print(stderr, "oplat: {}: {}\n", flags.log, note);
    fmt::print(stderr, "oplat: {} samples, {} of them failed (-1){}\n", log.samples, log.failed,
               log.repeated > 0 ? fmt::format(", {} measured again", log.repeated) : "");
  }
  return kDone;
}

}  // namespace

void add_tinynas_collect(const Command& group) {
  const Command command = group.add_subcommand("collect", "read a device's log into a library");
  const auto flags = std::make_shared<TinynasCollectFlags>();
  command.add_option("LOG", flags->log, "log with lines 'iter-N: SAMPLE' and 'run time_ms: X ms'")
      .required();
  command.add_option("--out", flags->out, "library to write (default: standard output)")
      .type_name("FILE");
  command.add_flag("--skip-bad-lines", flags->skip_bad_lines,
                   "leave out iter- lines that hold no sample, and name them");
  command.add_flag("--quiet", flags->quiet, "no counts and notes on stderr");
  command.footer(
      "A sample without a time, or with one that no kernel takes (below 1e-9 or above 3.2e10 ms), "
      "becomes a failed row (-1);\n"
      "the original stops at the first such and writes nothing. A sample that stands again under "
      "its number after a try without a time takes its place.\n"
      "Exit codes: 0 done; 2 usage; 3 the log is absent, malformed or holds no sample; 8 could not "
      "write.\n"
      "Example: oplat tinynas collect log.int8.txt --out conv_data.out.int8");
  command.runs([flags] { return run_tinynas_collect(*flags); });
}

}  // namespace oplat::cli
