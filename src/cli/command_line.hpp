// SPDX-License-Identifier: Apache-2.0
/// Commands and their options, declared on CLI11 without its headers: these take seconds in every
/// file that includes them. Both classes are handles, copied freely; what they stand for lives as
/// long as the application.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/exit_code.hpp"

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace oplat::cli {

/// Set by the subcommand that the command line names; runs it. The value is the exit status.
using Action = std::function<Result<int>()>;

/// One option, after which its settings are chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required(bool yes = true) const;
  Option envname(const std::string& variable) const;
  /// What help shows in place of the value: "FILE".
  Option type_name(const std::string& form) const;
  Option capture_default_str() const;
  /// May be given several times, each with one value.
  Option repeatable() const;
  /// One value may hold several, with commas between.
  Option comma_separated() const;
  Option excludes(const Option& other) const;
  /// Both ends belong to it. Of int, std::int64_t and double.
  template <class Number>
  Option range(Number least, Number most) const;
  /// Where it is given, `other`, a required option, may be left out.
  Option stands_for(const Option& other) const;
  Option not_negative() const;
  Option one_of(const std::vector<std::string>& words) const;
  /// Hides it from the help text. It is an earlier spelling, and still accepted.
  Option hidden() const;

 private:
  CLI::Option* option_;
};

/// What is wrong with a command line that CLI11 refused, as a message: words and flags that nothing
/// knows first, in the order in which they were typed, with what may have been meant.
std::string usage_message(const CLI::App& app, const CLI::Error& error, int argc,
                          const char* const* argv);

/// usage_message() for a word that stands where a command should and is none; std::nullopt if there
/// is no such word. Help is asked of a command that may not exist.
std::optional<std::string> unknown_command(const CLI::App& app, int argc, const char* const* argv);

/// What is wrong with a list of an option that takes commas, "1,,2" for one: CLI11 passes over what
/// is empty. Of the command line that `app` has parsed; std::nullopt if all is well.
std::optional<std::string> empty_item(const CLI::App& app, int argc, const char* const* argv);

/// Takes hidden options out of the help texts of `app` and its commands. To be called after
/// parsing, before help is printed: until then, CLI11's messages name them.
void hide_earlier_spellings(CLI::App& app);

class Command {
 public:
  Command(CLI::App* app, Action* action) : app_(app), action_(action) {}

  Command add_subcommand(const std::string& name, const std::string& help) const;
  /// `names`: "--threads", "FILE", "T,--table". Of the types that command_line.cpp names at its
  /// end; `to` outlives the parse.
  template <class Value>
  Option add_option(const std::string& names, Value& to, const std::string& help) const;
  Option add_flag(const std::string& names, bool& to, const std::string& help) const;
  /// An option of texts that `take` makes something of, one by one; what it refuses is a usage
  /// error.
  Option add_texts(const std::string& names, std::function<Status(const std::string&)> take,
                   const std::string& help) const;
  /// Text below the options, of parts. A line end at the start of each is left out: raw strings
  /// begin with one.
  void footer(std::initializer_list<std::string_view> parts) const;
  /// Hides it from the help text. It is an earlier spelling, and still accepted.
  void hide() const;
  /// Its subcommands: at least `least` on a command line, and at most one.
  void require_subcommand(int least = 1) const;
  /// What the command does where the command line names it and none of its subcommands.
  void runs(Action action) const;

 private:
  CLI::App* app_;
  Action* action_;
};

/// A command with its flags, which are default made and live as long as it.
template <class Flags>
struct CommandWithFlags {
  Command command;
  std::shared_ptr<Flags> flags;
};
/// `run` gets the flags once they are parsed.
template <class Flags>
CommandWithFlags<Flags> add_command(const Command& parent, const std::string& name,
                                    const std::string& help, Result<int> (*run)(const Flags&)) {
  const auto flags = std::make_shared<Flags>();
  const Command command = parent.add_subcommand(name, help);
  command.runs([flags, run] { return run(*flags); });
  return {command, flags};
}

}  // namespace oplat::cli
