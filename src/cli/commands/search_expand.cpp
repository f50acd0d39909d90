// SPDX-License-Identifier: Apache-2.0
/// oplat search expand SPACE
#include "cli/commands/commands.hpp"
#include "cli/commands/search.hpp"

namespace oplat::cli {
namespace {

struct SearchExpandFlags {
  app::SpaceSource space;
  bool queries = false;
  std::string out;
  Verbosity verbosity;
};

Result<int> run_search_expand(const SearchExpandFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.out, flags.space.file));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(found, app::search_text(flags.space, flags.queries, events));
  OPLAT_CHECK(put_text(flags.out, found.text));
  if (!flags.verbosity.quiet)
    for (const std::string& note : found.notes) print_message(note);
  return kDone;
}

}  // namespace

void add_search_expand(const Command& group) {
  const auto [command, flags] = add_command(
      group, "expand", "list the distinct kernels of a search space", run_search_expand);
  add_space_options(command, flags->space);
  command.add_flag("--queries", flags->queries,
                   "print queries of runtime_lut as JSON Lines, for a table measured elsewhere");
  command.add_option("--out", flags->out, "file to write (default: standard output)")
      .type_name("FILE");
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
Prints one key a line, for 'oplat profile --keys'. 'oplat lut build --space' measures them into a
look-up table of runtime_lut. Of an operator space of MMT (ops.yaml) it prints the modules and the
shapes of their inputs.
Exit codes: 0 done; 2 usage; 3 the space is missing or malformed; 8 could not write.
Example: oplat search expand data/spaces/fbnet.yaml --out keys.txt &&
         oplat profile --keys keys.txt --runtime qnnpack --table t.oplat)"});
}

}  // namespace oplat::cli
