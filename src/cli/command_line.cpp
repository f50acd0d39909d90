// SPDX-License-Identifier: Apache-2.0
/// The one file besides main that sees CLI11.
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "app/suggestions.hpp"
#include "base/command_words.hpp"
#include "base/text.hpp"

namespace oplat::cli {
namespace {

/// CLI11 hides options of the group "" from help, but leaves their names out of its messages too
/// ("--estimator excludes "). So they are in this group until help is printed.
constexpr const char* kEarlierSpellings = "earlier spellings";

}  // namespace

Option Option::required(bool yes) const { return Option(option_->required(yes)); }
Option Option::envname(const std::string& variable) const {
  return Option(option_->envname(variable));
}
Option Option::type_name(const std::string& form) const { return Option(option_->type_name(form)); }
Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }
Option Option::repeatable() const { return Option(option_->take_all()->allow_extra_args(false)); }
Option Option::comma_separated() const { return Option(option_->delimiter(',')); }
Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}
Option Option::stands_for(const Option& other) const {
  // CLI11 takes values before it looks for what is lacking.
  option_->each([required = other.option_](const std::string&) { required->required(false); });
  return *this;
}
Option Option::not_negative() const {
  return Option(option_->check(base::not_finite_text)->check(CLI::NonNegativeNumber));
}
Option Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}
Option Option::hidden() const { return Option(option_->group(kEarlierSpellings)); }

void hide_earlier_spellings(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == kEarlierSpellings) option->group("");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    hide_earlier_spellings(*command);
}

namespace {

/// The innermost command that the command line names.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

/// "oplat table rows".
std::string full_name(const CLI::App& command) {
  const std::string own = command.get_name();
  return command.get_parent() == nullptr ? own : full_name(*command.get_parent()) + " " + own;
}

std::span<const char* const> typed_words(int argc, const char* const* argv) {
  return {argv, static_cast<std::size_t>(argc)};
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kEarlierSpellings || option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!one->get_group().empty()) names.push_back(one->get_name());
  return names;
}

/// Words that nothing took; std::nullopt if there are none.
std::optional<base::UnknownWords> unknown_words(const CLI::App& app, int argc,
                                                const char* const* argv) {
  std::vector<std::string> words =
      base::in_typed_order(app.remaining(true), typed_words(argc, argv));
  if (words.empty()) return std::nullopt;
  const CLI::App& command = innermost(app);
  return base::UnknownWords{full_name(command), std::move(words), commands_of(command),
                            flags_of(command)};
}

/// The model that the command line names, for a command that is suggested.
std::string named_model(const CLI::App& command) {
  for (const char* name : {"MODEL", "--model", "A"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option != nullptr && !option->results().empty()) return option->results().front();
  }
  return "net.onnx";
}

std::string required_message(const CLI::App& command, const std::string& what) {
  if (what == "A subcommand is required") {
    const std::vector<std::string> commands = commands_of(command);
    return commands.size() > 8 ? "expected a command"
                               : fmt::format("expected a command of {}: {}", full_name(command),
                                             base::join(commands, ", "));
  }
  if (what == "--table is required")
    return fmt::format("{}: {}", what, app::table_suggestion(named_model(command)));
  return what;
}

}  // namespace

std::optional<std::string> unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  const auto unknown = unknown_words(app, argc, argv);
  if (!unknown || base::is_flag(unknown->words.front()) || unknown->commands.empty())
    return std::nullopt;
  return fmt::format("{}; see '{} --help'", base::unknown_words_text(*unknown), unknown->command);
}

std::string usage_message(const CLI::App& app, const CLI::Error& error, int argc,
                          const char* const* argv) {
  const CLI::App& command = innermost(app);
  const auto unknown = unknown_words(app, argc, argv);
  // What nothing knows may be what is lacking, misspelt.
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                     dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string message = lacks && unknown ? base::unknown_words_text(*unknown)
                              : lacks          ? required_message(command, error.what())
                                               : error.what();
  return fmt::format("{}; see '{} --help'", message, full_name(command));
}

template <class Number>
Option Option::range(Number least, Number most) const {
  const CLI::Range range(least, most);
  return Option(option_->check(
      CLI::Validator(base::number_check(range, least, most), range.get_description())));
}
template Option Option::range(int, int) const;
template Option Option::range(std::int64_t, std::int64_t) const;
template Option Option::range(double, double) const;

std::optional<std::string> empty_item(const CLI::App& app, int argc, const char* const* argv) {
  for (const CLI::App* command : app.get_subcommands()) {
    if (auto found = empty_item(*command, argc, argv)) return found;
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_delimiter() == '\0' || option->count() == 0) continue;
    for (const std::string& name : option->get_lnames())
      if (auto found = base::empty_item_text("--" + name, typed_words(argc, argv))) return found;
  }
  return std::nullopt;
}

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return {app_->add_subcommand(name, help), action_};
}

Option Command::add_flag(const std::string& names, bool& to, const std::string& help) const {
  return Option(app_->add_flag(names, to, help));
}

Option Command::add_texts(const std::string& names, std::function<Status(const std::string&)> take,
                          const std::string& help) const {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (const auto taken = take(text); !taken) throw CLI::ValidationError(taken.error().message);
    }
  };
  return Option(app_->add_option_function<std::vector<std::string>>(names, take_all, help));
}

void Command::hide() const { app_->group(""); }
void Command::footer(std::initializer_list<std::string_view> parts) const {
  std::string text;
  for (const std::string_view part : parts) text += part.substr(part.starts_with('\n') ? 1 : 0);
  app_->footer(text);
}
void Command::require_subcommand(int least) const { app_->require_subcommand(least, 1); }

void Command::runs(Action action) const {
  app_->callback([app = app_, to = action_, action = std::move(action)] {
    if (app->get_subcommands().empty()) *to = action;
  });
}

template <class Value>
Option Command::add_option(const std::string& names, Value& to, const std::string& help) const {
  return Option(app_->add_option(names, to, help));
}
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::int64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::uint64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::string>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&,
                                    const std::string&) const;

}  // namespace oplat::cli
