// SPDX-License-Identifier: Apache-2.0
/// The executable: subcommands, errors to stderr, exit codes.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"

namespace {

using namespace oplat;

int run(int argc, char** argv) {
  CLI::App app(
      "oplat predicts how long a neural network takes on a device: it measures the device's "
      "operators once, keeps them in\n"
      "a latency table, and answers from the table, with an error bar and the source of every "
      "number.",
      "oplat");
  app.require_subcommand(1);
  app.set_version_flag("--version", cli::version_line());
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit codes: 0 done; 1 internal; 2 usage, or several settings fit; 3 input file; 4 missing "
      "kernels; 5 runtime;\n"
      "6 refused (newer schema, locked, read-only, setting mismatch); 7 gate not met; 8 could not "
      "write; 130/143 interrupted.\n"
      "Environment: OPLAT_TABLE (default of --table), OPLAT_ONNXRUNTIME (library file), "
      "OPLAT_PADDLE_PYTHON (interpreter\n"
      "of the runtime paddle), OPLAT_TABLES (folders of PaddleSlim's tables), XDG_CACHE_HOME (its "
      "folder oplat keeps fits\n"
      "of foreign tables; default ~/.cache), NO_COLOR.");
  cli::Action action;
  const cli::Command root(&app, &action);
  for (const auto add : {cli::add_predict,
                         cli::add_profile,
                         cli::add_measure,
                         cli::add_validate,
                         cli::add_fit,
                         cli::add_accuracy,
                         cli::add_check,
                         cli::add_verify,
                         cli::add_plan,
                         cli::add_rules,
                         cli::add_estimate,
                         cli::add_compare,
                         cli::add_table_commands,
                         cli::add_import,
                         cli::add_export,
                         cli::add_tinynas_commands,
                         cli::add_lut_commands,
                         cli::add_paddleslim_commands,
                         cli::add_search_commands,
                         cli::add_runtimes,
                         cli::add_worker,
                         cli::add_version}) {
    add(root);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // A word that nothing knows is told first: it may be the one that is lacking, misspelt.
    const auto unknown = app.remaining(true);
    (void)(unknown.empty() ? app.exit(error) : app.exit(CLI::ExtrasError(unknown)));
    return cli::kUsage;
  } catch (const CLI::ParseError& error) {
    // Help goes to stdout and is success; everything else is a usage error, whatever CLI11 numbers
    // it.
    cli::hide_earlier_spellings(app);
    return app.exit(error) == 0 ? cli::kDone : cli::kUsage;
  }
  if (const auto wrong = cli::empty_item(app, argc, argv)) {
    fmt::print(stderr, "oplat: {}\n", *wrong);
    return cli::kUsage;
  }
  const Result<int> result = action();
  if (result) {
    if (std::fflush(stdout) != 0) {
      fmt::print(stderr, "oplat: cannot write to standard output\n");
      return cli::kWrite;
    }
    return *result;
  }
  if (!result.error().message.empty()) fmt::print(stderr, "oplat: {}\n", result.error().message);
  return cli::exit_code(result.error().code);
}

}  // namespace

int main(int argc, char** argv) {
  // A file that reaches the limit of its size is a write that failed, as on a full disk: it is told
  // and ends with its own exit code.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("oplat: out of memory\n", stderr);
  } catch (const std::system_error& error) {
    // {fmt} throws this where standard output takes no more.
    std::fprintf(stderr, "oplat: cannot write: %s\n", error.what());
    return cli::kWrite;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oplat: internal error: %s\n", error.what());
  }
  return cli::kInternal;
}
