// SPDX-License-Identifier: Apache-2.0
/// The documents of `oplat runtimes` and `oplat rules` in each form.
#include "report/lists.hpp"

#include <ostream>

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"

namespace oplat::report {
namespace {

std::string joined(const std::set<std::string>& names) {
  return base::join(std::vector<std::string>(names.begin(), names.end()), ";");
}

}  // namespace

void print_document(const RuntimeList& list, std::ostream& out) {
  for (const RuntimeList::Runtime& runtime : list.runtimes) {
    const auto line = [&](const std::string& text) {
      out << fmt::format("{:<12}   {}\n", "", text);
    };
    out << fmt::format("{:<12} {}\n", runtime.name, runtime.description);
    if (!runtime.available) {
      line(fmt::format("not available: {}", base::printable(runtime.why, 1000)));
      continue;
    }
    if (!runtime.version.empty())
      line(fmt::format("version {}, build {}", base::printable(runtime.version),
                       base::printable(runtime.build, 200)));
    for (const auto& [name, option] : runtime.options)
      line(fmt::format("--option {}={} (default {})", base::printable(name),
                       base::printable(base::join(option.values, "|"), 400),
                       base::printable(option.default_value)));
    if (!runtime.why.empty()) line(base::printable(runtime.why, 1000));
  }
}

Json json_document(const RuntimeList& list) {
  Json runtimes = Json::array();
  for (const RuntimeList::Runtime& runtime : list.runtimes) {
    Json options = Json::object();
    for (const auto& [name, option] : runtime.options)
      options[name] = {{"values", option.values}, {"default", option.default_value}};
    runtimes.push_back({{"name", runtime.name},
                        {"description", runtime.description},
                        {"available", runtime.available},
                        {"version", runtime.version},
                        {"build", runtime.build},
                        {"options", std::move(options)},
                        {"install", runtime.install},
                        {"why", runtime.why}});
  }
  return {{"schema", "oplat.runtimes/1"}, {"runtimes", std::move(runtimes)}};
}

void write_csv(const RuntimeList& list, std::ostream& out) {
  out << csv_line({"name", "description", "available", "version", "build", "install", "why"});
  for (const RuntimeList::Runtime& runtime : list.runtimes) {
    out << csv_line({csv_field(runtime.name), csv_field(runtime.description),
                     runtime.available ? "true" : "false", csv_field(runtime.version),
                     csv_field(runtime.build), csv_field(runtime.install), csv_field(runtime.why)});
  }
}

void print_document(const RuleList& list, std::ostream& out) {
  for (const RuleList::RuleSet& set : list.rules)
    out << fmt::format("{:<24} models: {}; rows: {}; {} passes\n", base::printable(set.name),
                       base::printable(set.reads), base::printable(set.runtime), set.passes);
}

Json json_document(const RuleList& list) {
  Json rules = Json::array();
  for (const RuleList::RuleSet& set : list.rules)
    rules.push_back({{"name", set.name},
                     {"runtime", set.runtime},
                     {"version", set.version},
                     {"reads", set.reads},
                     {"passes", set.passes},
                     {"options", set.options},
                     {"hash", set.hash}});
  return {{"schema", "oplat.rules/1"}, {"rules", std::move(rules)}};
}

void write_csv(const RuleList& list, std::ostream& out) {
  out << csv_line({"name", "runtime", "version", "reads", "passes", "options", "hash"});
  for (const RuleList::RuleSet& set : list.rules) {
    out << csv_line({csv_field(set.name), csv_field(set.runtime), csv_field(set.version),
                     csv_field(set.reads), csv_number(static_cast<std::int64_t>(set.passes)),
                     csv_field(joined(set.options)), csv_field(set.hash)});
  }
}

}  // namespace oplat::report
