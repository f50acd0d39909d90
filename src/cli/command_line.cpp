// SPDX-License-Identifier: Apache-2.0
/// The one file besides main that sees CLI11.
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

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
Option Option::not_negative() const { return Option(option_->check(CLI::NonNegativeNumber)); }
Option Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}
Option Option::hidden() const { return Option(option_->group(kEarlierSpellings)); }

void hide_earlier_spellings(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group() == kEarlierSpellings) option->group("");
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    hide_earlier_spellings(*command);
}

template <class Number>
Option Option::range(Number least, Number most) const {
  return Option(option_->check(CLI::Range(least, most)));
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
    for (const std::string& name : option->get_lnames()) {
      const std::string flag = "--" + name;
      for (int i = 1; i < argc; ++i) {
        std::string_view list = argv[i];
        if (list == flag && i + 1 < argc) {
          list = argv[i + 1];
        } else if (list.starts_with(flag + "=")) {
          list.remove_prefix(flag.size() + 1);
        } else {
          continue;
        }
        if (list.starts_with(',') || list.ends_with(',') ||
            list.find(",,") != std::string_view::npos)
          return fmt::format("{}: '{}' has an empty item", flag, list);
      }
    }
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
void Command::footer(const std::string& text) const {
  app_->footer(text.starts_with('\n') ? text.substr(1) : text);
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
