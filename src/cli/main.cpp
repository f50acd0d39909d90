// SPDX-License-Identifier: Apache-2.0
/// The executable: subcommands, errors to stderr, exit codes.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/layout.hpp"
#include "base/message.hpp"
#include "base/version.hpp"
#include "cli/commands/commands.hpp"

namespace {

using namespace oplat;

constexpr std::size_t kHelpColumns = 100;

std::size_t help_columns() {
  const std::size_t columns = cli::terminal_columns(STDOUT_FILENO);
  return columns == 0 ? kHelpColumns : std::min(columns, kHelpColumns);
}

/// Help of at most 100 columns: long descriptions continue in their own column.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    // CLI11 keeps the options that one excludes by their addresses. What follows the colon of a
    // hidden one is its name, which is empty.
    const std::string name = make_option_name(option, is_positional) + make_option_opts(option);
    return entry(base::sort_words_behind(" Excludes: ", name), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(), command->get_description());
  }

 private:
  std::size_t columns_ = help_columns();

  [[nodiscard]] std::string entry(const std::string& name, const std::string& description) const {
    constexpr std::size_t kTextColumn = 34;
    return base::entry_lines("  " + name, description, kTextColumn, columns_) + "\n";
  }
};

/// What --help and --version ask for.
void print_help(const CLI::App& app, const CLI::Success& request) {
  std::ostringstream text;
  (void)app.exit(request, text, text);
  const std::size_t columns = help_columns();
  std::cout << (columns < kHelpColumns ? base::reflow(text.str(), columns) : text.str());
}

struct CommandEntry {
  std::string_view name;
  void (*add)(const cli::Command& app);
  std::string_view earlier_name = {};  ///< that is still understood
};

/// Version, commit and build, as a line without its end.
std::string version_line() {
  return fmt::format("oplat {} (commit {}, {}, {})", base::version(), base::commit(),
                     base::build_type(), base::compiler());
}

void add_version(const cli::Command& app) {
  app.add_subcommand("version", "print version, commit and build").runs([]() -> Result<int> {
    fmt::print("{}\n", version_line());
    return cli::kDone;
  });
}

/// Listed in help; with_help() answers it before anything is parsed.
void add_help(const cli::Command& app) {
  app.add_subcommand("help", "show the help of a command: oplat help predict").runs([] {
    return Result<int>(cli::kDone);
  });
}

/// The command line "oplat help COMMAND..." as "oplat COMMAND... --help"; any other as it is.
std::vector<char*> with_help(std::span<char*> words) {
  std::vector<char*> asked(words.begin(), words.end());
  if (asked.size() < 2 || std::string_view(asked[1]) != "help") return asked;
  if (asked.size() > 2 && asked[2][0] == '-') return asked;
  asked.erase(asked.begin() + 1);
  static char flag[] = "--help";
  asked.push_back(flag);
  return asked;
}

constexpr CommandEntry kCommands[] = {
    {"predict", cli::add_predict},
    {"profile", cli::add_profile},
    {"measure", cli::add_measure},
    {"validate", cli::add_validate},
    {"fit", cli::add_fit},
    {"accuracy", cli::add_accuracy},
    {"check", cli::add_check},
    {"verify", cli::add_verify},
    {"plan", cli::add_plan},
    {"rules", cli::add_rules},
    {"estimate", cli::add_estimate},
    {"compare", cli::add_compare},
    {"advise", cli::add_advise},
    {"inspect", cli::add_inspect},
    {"table", cli::add_table_commands},
    {"import", cli::add_import},
    {"export", cli::add_export},
    {"tinynas", cli::add_tinynas_commands},
    {"lut", cli::add_lut_commands},
    {"paddleslim", cli::add_paddleslim_commands},
    {"search", cli::add_search_commands, "space"},
    {"machine", cli::add_machine},
    {"runtimes", cli::add_runtimes},
    {"worker", cli::add_worker},
    {"version", add_version},
    {"help", add_help},
};

/// Adds the commands that the command line names, or all where it does not begin with one: the
/// flags of all are most of what a start costs, and a campaign starts a worker for every few
/// blocks.
void add_commands(const cli::Command& root, std::span<char*> words) {
  const auto is_named_by = [](const CommandEntry& command, std::string_view word) {
    return !word.empty() && (word == command.name || word == command.earlier_name);
  };
  const bool begins_with_one =
      !words.empty() &&
      std::any_of(std::begin(kCommands), std::end(kCommands),
                  [&](const CommandEntry& command) { return is_named_by(command, words.front()); });
  for (const CommandEntry& command : kCommands) {
    const auto names_it = [&](const char* word) { return is_named_by(command, word); };
    if (!begins_with_one || std::any_of(words.begin(), words.end(), names_it)) command.add(root);
  }
}

int run(int given, char** words) {
  std::vector<char*> command_line = with_help(std::span(words, static_cast<std::size_t>(given)));
  const int argc = static_cast<int>(command_line.size());
  command_line.push_back(nullptr);
  char** const argv = command_line.data();
  CLI::App app(
      "oplat predicts how long a neural network takes on a device. It measures the device's "
      "kernels once,\n"
      "keeps them in a latency table, and predicts from the table. Every prediction has an "
      "interval, and\n"
      "every number has a source.",
      "oplat");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_line());
  app.formatter(std::make_shared<HelpFormatter>());
  cli::Action action;
  const cli::Command root(&app, &action);
  root.footer({R"(
Exit codes: 0 done; 1 internal; 2 usage, or several settings fit; 3 input file; 4 missing kernels; 5
runtime; 6 refused (newer schema, locked, read-only, setting mismatch); 7 check failed; 8 could not
write; 130/143 interrupted.
Environment:
  OPLAT_TABLE          default of --table, except in 'oplat measure'
  OPLAT_ONNXRUNTIME    library file of ONNX Runtime
  OPLAT_MNN_PYTHON     Python interpreter of the runtime mnn
  OPLAT_PADDLE_PYTHON  Python interpreter of the runtime paddle
  OPLAT_TABLES         folders of PaddleSlim's tables
  XDG_CACHE_HOME       oplat caches fits of foreign tables in its folder oplat (default: ~/.cache)
  NO_COLOR             disables colours)"});
  add_commands(root, std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    if (const auto unknown = cli::unknown_command(app, argc, argv)) {
      cli::print_message(*unknown);
      return cli::kUsage;
    }
    cli::hide_earlier_spellings(app);
    print_help(app, request);
    return cli::kDone;
  } catch (const CLI::ParseError& error) {
    cli::print_message(cli::usage_message(app, error, argc, argv));
    return cli::kUsage;
  }
  if (const auto wrong = cli::empty_item(app, argc, argv)) {
    cli::print_message(*wrong);
    return cli::kUsage;
  }
  const Result<int> result = action();
  if (result) {
    if (std::fflush(stdout) != 0) {
      cli::print_message("cannot write to standard output");
      return cli::kWrite;
    }
    return *result;
  }
  cli::print_message(result.error().message);
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
    std::fprintf(stderr, "oplat: internal error: %s\n",
                 base::printable_message(error.what()).c_str());
  }
  return cli::kInternal;
}
