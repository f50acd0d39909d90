// SPDX-License-Identifier: Apache-2.0
#include "app/advise.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "app/suggestions.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"

namespace oplat::app {
namespace {

using Choice = report::AdviceReport::Choice;

/// The device whose settings are tried.
Result<std::pair<table::DeviceId, table::Device>> device_of(const table::Table& table,
                                                            const predict::RowFilter& rows) {
  OPLAT_TRY(devices, table.devices());
  std::vector<std::string> names;
  for (const auto& [id, device] : devices) {
    if (rows.device ? *rows.device == device.name : devices.size() == 1)
      return std::pair(id, device);
    names.push_back(base::printable(device.name));
  }
  if (names.empty())
    return fail(Code::Refused, "{}: holds no rows; measure some with oplat profile",
                table.path().string());
  if (rows.device)
    return fail(Code::Refused, "--device {}: {} holds {}", base::printable(*rows.device),
                table.path().string(), base::join(names, ", "));
  return fail(Code::Usage, "{}: holds several devices; choose one with --device: {}",
              table.path().string(), base::join(names, ", "));
}

/// Settings of the device with timed rows that the filter leaves. Of those that differ in the build
/// alone the first is taken, as everywhere.
Result<std::vector<table::Setting>> settings_of(const table::Table& table, table::DeviceId device,
                                                const table::Device& facts,
                                                predict::RowFilter rows) {
  rows.device.reset();
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(outlines, table.context_outlines());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  std::vector<table::Setting> found;
  for (const table::ContextOutline& one : outlines) {
    const auto at = setting_of.find(one.setting);
    if (one.device != device || !one.timed || at == setting_of.end()) continue;
    if (!predict::matches(rows, facts, at->second)) continue;
    table::Setting setting = at->second;
    const auto same = [&](const table::Setting& other) {
      table::Setting rebuilt = other;
      rebuilt.build = setting.build;
      return rebuilt == setting;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(setting));
  }
  return found;
}

predict::RowFilter filter_of(const table::Device& device, const table::Setting& setting) {
  predict::RowFilter rows;
  rows.device = device.name;
  rows.runtime = setting.runtime;
  rows.version = setting.version;
  rows.precision = setting.precision;
  rows.threads = setting.threads;
  rows.options = setting.options;
  rows.exact_options = true;
  return rows;
}

/// Kernels that count as zero leave a lower bound, which can miss a target and not meet it.
report::Meets meets_of(const Choice& choice, double max_ns) {
  if (!choice.latency_ns) return report::Meets::Unknown;
  if (*choice.latency_ns > max_ns) return report::Meets::No;
  if (choice.code) return report::Meets::Unknown;
  return choice.interval && choice.interval->high <= max_ns ? report::Meets::Yes
                                                            : report::Meets::Likely;
}

void set_error(Choice& choice, const Error& error) {
  choice.code = error.code;
  choice.why = error.message;
}

/// What the user wrote of options, which a command repeats; the others are the setting's defaults.
std::string command_for(const AdviseRequest& request, const ModelInputs& inputs,
                        const std::string& model, const table::Setting& setting) {
  predict::RowFilter asked;
  asked.device = request.rows.device;
  asked.options = request.rows.options;
  return profile_command(model, inputs, request.table, setting, asked);
}

/// "net.onnx, 2 threads, batch 4".
std::string name_of(const Choice& choice) {
  return fmt::format("{}, {}{}", base::printable(choice.model, 400),
                     base::counted(choice.setting.threads, "thread"),
                     choice.batch ? fmt::format(", batch {}", *choice.batch) : std::string());
}

/// Each text once, with the choices that it is about.
class ChoiceWarnings {
 public:
  void add(const Choice& choice, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto [at, added] = index_.emplace(text, said_.size());
      if (added) said_.push_back({text, {}});
      said_[at->second].second.push_back(name_of(choice));
    }
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> lines;
    for (const auto& [text, choices] : said_)
      lines.push_back(choices.size() == 1 ? fmt::format("{}: {}", choices.front(), text)
                                          : fmt::format("{} and {} more choices: {}",
                                                        choices.front(), choices.size() - 1, text));
    return lines;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> said_;
  std::map<std::string, std::size_t> index_;
};

Choice choice_of(const AdviseRequest& request, const std::string& model,
                 const table::Device& device, const table::Setting& setting,
                 const std::optional<std::int64_t>& batch, OpenedTable& table,
                 ChoiceWarnings& warnings, Events& events) {
  Choice choice;
  choice.model = model;
  choice.setting = setting;
  choice.batch = batch;
  PredictRequest one;
  one.model = model;
  one.inputs = request.inputs;
  one.inputs.shapes.batch = batch;
  one.table = request.table;
  one.rows = filter_of(device, setting);
  one.plan = request.plan;
  one.options = request.options;
  auto result = predict(one, table, events);
  if (!result) {
    set_error(choice, result.error());
    if (choice.code == Code::Missing || choice.code == Code::Runtime)
      choice.command = command_for(request, one.inputs, model, setting);
    return choice;
  }
  const predict::Prediction& p = result->prediction;
  choice.batch = p.batch;
  choice.latency_ns = p.latency_ns;
  choice.interval = p.interval;
  warnings.add(choice, p.warnings);
  if (!p.missing.empty()) {
    choice.code = Code::Missing;
    choice.why = predict::missing_text(p);
    const bool fit_is_enough = p.help.by_fit == static_cast<std::int64_t>(p.missing.size());
    choice.command =
        fit_is_enough ? p.help.fit_command : command_for(request, one.inputs, model, setting);
  }
  return choice;
}

/// The fastest per image that meets the target first; what is not known last.
bool is_better(const Choice& a, const Choice& b) {
  const auto rank = [](const Choice& one) {
    return std::tuple(one.meets, one.per_image_ns().value_or(0));
  };
  return rank(a) < rank(b);
}

}  // namespace

namespace {

/// What is wrong with the request before any table is opened.
Status check_advise_request(const AdviseRequest& request) {
  if (request.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.rows.runtime));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  return {};
}

}  // namespace

Result<Gate> read_into(const AdviseTexts& texts, AdviseRequest& request) {
  OPLAT_TRY(gate, parse_gate(texts.max_latency, texts.gate_on, kPredictGates.front()));
  if (!gate)
    return fail(Code::Usage, "a target is missing; set it with --max-latency, such as 5ms");
  OPLAT_TRY(threads, parse_numbers("--threads", texts.threads, 4096));
  request.threads = std::move(threads);
  OPLAT_TRY(batches, parse_numbers("--batch", texts.batches, std::int64_t{1} << 31));
  request.batches = std::move(batches);
  request.max_latency_ns = gate->max_ns;
  return *std::move(gate);
}

Result<report::AdviceReport> advise(const AdviseRequest& request, Events& events) {
  OPLAT_CHECK(check_advise_request(request));
  OPLAT_TRY(table, open_table(request.table, {}, events));
  return advise(request, table, events);
}

Result<report::AdviceReport> advise(const AdviseRequest& request, OpenedTable& table,
                                    Events& events) {
  OPLAT_CHECK(check_advise_request(request));
  OPLAT_TRY(device, device_of(table.table(), request.rows));
  OPLAT_TRY(settings, settings_of(table.table(), device.first, device.second, request.rows));
  if (settings.empty())
    return fail(Code::Refused,
                "{}: holds no times of {} in such a setting; 'oplat table info' lists what it has",
                request.table, base::printable(device.second.name));
  report::AdviceReport advice;
  advice.models = request.models;
  advice.device = device.second;
  advice.table = request.table;
  advice.max_latency_ns = request.max_latency_ns;
  advice.level = request.options.level;

  // Threads that were asked for and have no rows: the other fields of the first setting hold.
  std::vector<table::Setting> tried;
  std::vector<table::Setting> lacking;
  for (const table::Setting& setting : settings)
    if (request.threads.empty() || std::find(request.threads.begin(), request.threads.end(),
                                             setting.threads) != request.threads.end())
      tried.push_back(setting);
  for (const std::int64_t threads : request.threads) {
    if (std::any_of(tried.begin(), tried.end(),
                    [&](const auto& one) { return one.threads == threads; }))
      continue;
    lacking.push_back(settings.front());
    lacking.back().threads = threads;
  }
  std::vector<std::optional<std::int64_t>> batches(request.batches.begin(), request.batches.end());
  if (batches.empty()) batches.emplace_back();

  const std::size_t all = request.models.size() * (tried.size() + lacking.size()) * batches.size();
  const LateProgress progress(events);
  ChoiceWarnings warnings;
  for (const std::string& model : request.models) {
    for (const auto& batch : batches) {
      for (const table::Setting& setting : tried) {
        if (events.cancelled())
          return fail(Code::Interrupted, "stopped after {} of {} choices", advice.choices.size(),
                      all);
        progress.report({.done = static_cast<std::int64_t>(advice.choices.size()),
                         .total = static_cast<std::int64_t>(all),
                         .eta_s = std::nullopt,
                         .what = "predicting",
                         .item = model});
        advice.choices.push_back(
            choice_of(request, model, device.second, setting, batch, table, warnings, events));
        advice.choices.back().meets = meets_of(advice.choices.back(), request.max_latency_ns);
      }
      for (const table::Setting& setting : lacking) {
        ModelInputs inputs = request.inputs;
        inputs.shapes.batch = batch;
        Choice& choice = advice.choices.emplace_back();
        choice.model = model;
        choice.setting = setting;
        choice.batch = batch;
        choice.code = Code::Refused;
        choice.why =
            fmt::format("the table has no rows of {}", base::counted(setting.threads, "thread"));
        choice.command = command_for(request, inputs, model, setting);
      }
    }
  }
  advice.warnings = warnings.texts();
  std::stable_sort(advice.choices.begin(), advice.choices.end(), is_better);
  return advice;
}

Result<std::vector<std::int64_t>> parse_numbers(std::string_view flag, const std::string& text,
                                                std::int64_t max) {
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const std::string& part : base::split(text, ',')) {
    const auto number = base::parse_int(part);
    if (!number || *number < 1 || *number > max)
      return fail(Code::Usage, "{} {}: '{}' is not a number from 1 to {}; write 1,2,4", flag,
                  base::printable(text), base::printable(part), max);
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end())
      numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace oplat::app
