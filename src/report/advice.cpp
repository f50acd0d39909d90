// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat advise` in each form.
#include "report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/counted.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"
#include "report/model_lists.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

using Choice = AdviceReport::Choice;

/// Whether all choices have the same.
template <class Field>
bool differ(const AdviceReport& advice, const Field& field) {
  return std::any_of(advice.choices.begin(), advice.choices.end(), [&](const Choice& one) {
    return field(one) != field(advice.choices.front());
  });
}

std::string options_text(const table::Setting& setting) {
  std::string text;
  for (const auto& [name, value] : setting.options)
    text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::optional<double> images_per_s(const Choice& choice) {
  const auto ns = choice.per_image_ns();
  return ns && *ns > 0 ? std::optional(1e9 / *ns) : std::nullopt;
}

/// Three digits, no exponent: "24300", "476", "0.25".
std::string rate_text_of(double rate) {
  if (!(rate >= 1000)) return fmt::format("{:.3g}", rate);
  const double unit = std::pow(10.0, std::floor(std::log10(rate)) - 2);
  return fmt::format("{:.0f}", std::round(rate / unit) * unit);
}

std::string batch_text(const Choice& choice) {
  return choice.batch ? std::to_string(*choice.batch) : "-";
}

/// Columns of what the choices differ in.
struct AdviceColumns {
  bool model, runtime, precision, options;
};

AdviceColumns columns_of(const AdviceReport& advice) {
  return {differ(advice, [](const Choice& c) { return c.model; }),
          differ(advice, [](const Choice& c) { return c.setting.runtime + c.setting.version; }),
          differ(advice, [](const Choice& c) { return c.setting.precision; }),
          differ(advice, [](const Choice& c) { return options_text(c.setting); })};
}

/// "threads 4, batch 2".
std::string choice_text(const Choice& choice, const AdviceColumns& columns) {
  std::vector<std::string> parts;
  if (columns.model) parts.push_back(base::printable(choice.model, 400));
  if (columns.runtime)
    parts.push_back(base::printable(choice.setting.runtime + " " + choice.setting.version));
  parts.push_back(base::counted(choice.setting.threads, "thread"));
  if (columns.precision) parts.push_back(base::printable(choice.setting.precision));
  if (columns.options) parts.push_back(base::printable(options_text(choice.setting), 200));
  if (choice.batch) parts.push_back(fmt::format("batch {}", *choice.batch));
  return base::join(parts, ", ");
}

void print_choices(const AdviceReport& advice, const AdviceColumns& columns, std::ostream& out) {
  std::vector<TextTable::Column> titles = {{"meets"}};
  if (columns.model) titles.push_back({"model"});
  if (columns.runtime) titles.push_back({"runtime"});
  titles.push_back({"threads", Align::Right});
  if (columns.precision) titles.push_back({"precision"});
  if (columns.options) titles.push_back({"options"});
  titles.push_back({"batch", Align::Right});
  titles.push_back({"latency", Align::Right});
  titles.push_back({"interval " + level_text(advice.level), Align::Right});
  titles.push_back({"per image", Align::Right});
  titles.push_back({"images/s", Align::Right});
  TextTable table(std::move(titles));
  for (const Choice& choice : advice.choices) {
    if (!choice.latency_ns) continue;
    std::vector<std::string> cells = {std::string(name(choice.meets))};
    if (columns.model) cells.push_back(base::printable(choice.model, 400));
    if (columns.runtime)
      cells.push_back(base::printable(choice.setting.runtime + " " + choice.setting.version));
    cells.push_back(std::to_string(choice.setting.threads));
    if (columns.precision) cells.push_back(base::printable(choice.setting.precision));
    if (columns.options) cells.push_back(base::printable(options_text(choice.setting), 200));
    cells.push_back(batch_text(choice));
    cells.push_back(time_text(choice.latency_ns));
    cells.push_back(choice.interval ? range_text(choice.interval->low, choice.interval->high)
                                    : "-");
    cells.push_back(time_text(choice.per_image_ns()));
    const auto rate = images_per_s(choice);
    cells.push_back(rate ? rate_text_of(*rate) : "-");
    table.add(std::move(cells));
  }
  if (!table.empty()) table.print(out);
}

}  // namespace

std::string_view name(Meets meets) {
  switch (meets) {
    case Meets::Yes:
      return "yes";
    case Meets::Likely:
      return "likely";
    case Meets::No:
      return "no";
    case Meets::Unknown:
      break;
  }
  return "unknown";
}

std::optional<double> AdviceReport::Choice::per_image_ns() const {
  if (!latency_ns) return std::nullopt;
  return *latency_ns / static_cast<double>(std::max<std::int64_t>(1, batch.value_or(1)));
}

void print_document(const AdviceReport& advice, std::ostream& out) {
  std::vector<std::string> models;
  for (const std::string& model : advice.models) models.push_back(base::printable(model, 400));
  out << fmt::format("{} on {}, target {} a run\n", base::join(models, ", "),
                     base::printable(advice.device.name),
                     base::duration_text(advice.max_latency_ns));
  for (const std::string& warning : advice.warnings)
    out << "warning: " << base::printable_message(warning) << "\n";
  if (advice.choices.empty()) return;
  const AdviceColumns columns = columns_of(advice);
  const auto met = std::count_if(advice.choices.begin(), advice.choices.end(), [](const auto& one) {
    return one.meets == Meets::Yes || one.meets == Meets::Likely;
  });
  const Choice& best = advice.choices.front();
  if (met > 0)
    out << fmt::format(
        "best: {}: {} an image{}\n", choice_text(best, columns), time_text(best.per_image_ns()),
        best.meets == Meets::Likely ? "; the upper end of its interval is above" : "");
  else
    out << "no choice with a latency meets it\n";
  out << "\n";
  print_choices(advice, columns, out);
  bool first = true;
  for (const Choice& choice : advice.choices) {
    if (choice.why.empty()) continue;
    if (first) out << "\nnot known yet\n";
    first = false;
    out << fmt::format("  {}: {}\n", choice_text(choice, columns),
                       base::printable_message(choice.why));
    if (!choice.command.empty()) out << "    " << base::printable(choice.command, 1 << 16) << "\n";
  }
}

Json json_document(const AdviceReport& advice) {
  Json choices = Json::array();
  for (const Choice& choice : advice.choices) {
    Json error = nullptr;
    if (choice.code) error = {{"code", code_name(*choice.code)}, {"message", choice.why}};
    choices.push_back({{"model", choice.model},
                       {"setting", json_of(choice.setting)},
                       {"batch", whole_number(choice.batch)},
                       {"meets", name(choice.meets)},
                       {"latency_ns", number(choice.latency_ns)},
                       {"interval_ns", json_of(choice.interval)},
                       {"per_image_ns", number(choice.per_image_ns())},
                       {"error", std::move(error)},
                       {"command", choice.command.empty() ? Json(nullptr) : Json(choice.command)}});
  }
  return {{"schema", "oplat.advice/1"},
          {"models", advice.models},
          {"max_latency_ns", advice.max_latency_ns},
          {"level", advice.level},
          {"choices", std::move(choices)},
          {"device", json_of(advice.device)},
          {"table", advice.table},
          {"warnings", advice.warnings}};
}

void write_csv(const AdviceReport& advice, std::ostream& out) {
  out << csv_line({"meets", "model", "runtime", "version", "precision", "threads", "options",
                   "batch", "latency_ns", "interval_lo_ns", "interval_hi_ns", "per_image_ns",
                   "error", "command"});
  for (const Choice& choice : advice.choices) {
    std::optional<double> low, high;
    if (choice.interval) low = choice.interval->low, high = choice.interval->high;
    out << csv_line({std::string(name(choice.meets)), csv_field(choice.model),
                     csv_field(choice.setting.runtime), csv_field(choice.setting.version),
                     csv_field(choice.setting.precision), csv_number(choice.setting.threads),
                     csv_field(options_text(choice.setting)),
                     choice.batch ? csv_number(*choice.batch) : "", csv_number(choice.latency_ns),
                     csv_number(low), csv_number(high), csv_number(choice.per_image_ns()),
                     csv_field(choice.why), csv_field(choice.command)});
  }
}

}  // namespace oplat::report
