// SPDX-License-Identifier: Apache-2.0
/// oplat search expand SPACE
#include <memory>

#include "app/mmt.hpp"
#include "cli/commands/search.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_output.hpp"
#include "compat/mobile_vision/families.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "search/expansion.hpp"

namespace oplat::cli {
namespace {

struct SearchExpandFlags {
  app::SpaceSource space;
  bool queries = false;
  std::string out;
  Verbosity verbosity;
};

/// An operator space of MMT: its operators, one a line.
Result<int> expand_mmt_space(const SearchExpandFlags& flags) {
  if (flags.queries || !flags.space.resolutions.empty()) {
    return fail(Code::Usage, "{}: a space of MMT has neither resolutions nor queries",
                flags.space.file);
  }
  OPLAT_TRY(expanded, app::expand_mmt_space(flags.space.file));
  std::string text;
  for (const std::string& one : expanded.operators) text += one + "\n";
  OPLAT_CHECK(put_text(flags.out, text));
  if (flags.verbosity.quiet) return kDone;
  for (const std::string& reason : expanded.left_out) print_message(reason);
  print_message(fmt::format("{} operators", expanded.operators.size()));
  return kDone;
}

Result<int> run_search_expand(const SearchExpandFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.out, flags.space.file));
  if (app::is_mmt_space(flags.space.file)) return expand_mmt_space(flags);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(expanded, app::search_expand(flags.space, events));
  std::string text;
  for (const std::string& key : expanded.keys) {
    if (!flags.queries) {
      text += key + "\n";
      continue;
    }
    OPLAT_TRY(query, compat::mobile_vision::query_of(key));
    text += compat::mobile_vision::lut_question_line(query, "");
  }
  OPLAT_CHECK(put_text(flags.out, text));
  if (!flags.verbosity.quiet) {
    print_message(fmt::format("{} keys: {} layers at {} resolution{}", expanded.keys.size(),
                              expanded.layers, expanded.resolutions,
                              expanded.resolutions == 1 ? "" : "s"));
  }
  return kDone;
}

}  // namespace

void add_search_expand(const Command& group) {
  const Command command =
      group.add_subcommand("expand", "list the distinct kernels of a search space");
  const auto flags = std::make_shared<SearchExpandFlags>();
  add_space_options(command, flags->space);
  command.add_flag("--queries", flags->queries,
                   "print queries of runtime_lut as JSON Lines, for a table measured elsewhere");
  command.add_option("--out", flags->out, "file to write (default: standard output)")
      .type_name("FILE");
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Prints one key a line, for 'oplat profile --keys'. 'oplat lut build --space' measures them into a
look-up table of runtime_lut. Of an operator space of MMT (ops.yaml) it prints the modules and the
shapes of their inputs.
Exit codes: 0 done; 2 usage; 3 the space is missing or malformed; 8 could not write.
Example: oplat search expand data/spaces/fbnet.yaml --out keys.txt &&
         oplat profile --keys keys.txt --runtime qnnpack --table t.oplat)");
  command.runs([flags] { return run_search_expand(*flags); });
}

}  // namespace oplat::cli
