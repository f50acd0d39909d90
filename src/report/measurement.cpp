// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat measure` in each form.
#include "report/measurement.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/counted.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"
#include "report/model_lists.hpp"
#include "report/text_prediction.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

using MeasuredLine = Measurement::Line;
using FailedLine = Measurement::Failure;

/// Calls one of both for every model that was asked for, in that order.
void for_every_model(const Measurement& measurement, const auto& measured, const auto& failed) {
  std::size_t position = 0;
  auto line = measurement.models.begin();
  auto failure = measurement.failed.begin();
  for (; line != measurement.models.end() || failure != measurement.failed.end(); ++position) {
    if (failure != measurement.failed.end() &&
        (failure->position == position || line == measurement.models.end()))
      failed(*failure++);
    else
      measured(*line++);
  }
}

/// Times of single inferences of which all were kept.
void print_inferences(const Measurement& measurement, std::ostream& out) {
  const bool batched = std::any_of(measurement.models.begin(), measurement.models.end(),
                                   [](const MeasuredLine& line) { return line.batch > 1; });
  std::vector<TextTable::Column> columns{{"model"},
                                         {"mean", Align::Right},
                                         {"p50", Align::Right},
                                         {"p90", Align::Right},
                                         {"p99", Align::Right},
                                         {"max", Align::Right}};
  if (batched) {
    columns.push_back({"batch", Align::Right});
    columns.push_back({"per image", Align::Right});
    columns.push_back({"images/s", Align::Right});
  } else {
    columns.push_back({"inferences/s", Align::Right});
  }
  const std::size_t width = columns.size();
  TextTable table(std::move(columns));
  const auto add_measured = [&](const MeasuredLine& line) {
    const auto& times = line.inferences;
    const auto time = [&](auto member) {
      return times ? time_text(std::optional<double>((*times).*member)) : "-";
    };
    std::vector<std::string> cells{base::printable(line.name),
                                   time(&table::InferenceTimes::mean_ns),
                                   time(&table::InferenceTimes::p50_ns),
                                   time(&table::InferenceTimes::p90_ns),
                                   times ? time_text(times->p99_ns) : "-",
                                   time(&table::InferenceTimes::max_ns)};
    if (batched) {
      cells.push_back(std::to_string(line.batch));
      cells.push_back(base::duration_text(line.image_ns()));
      cells.push_back(rate_text(line.images_per_s()));
    } else {
      cells.push_back(rate_text(line.inferences_per_s()));
    }
    table.add(std::move(cells));
  };
  const auto add_failed = [&](const FailedLine& failure) {
    std::vector<std::string> cells(width, "-");
    cells.front() = base::printable(std::filesystem::path(failure.path).filename().string());
    table.add(std::move(cells));
  };
  for_every_model(measurement, add_measured, add_failed);
  if (!table.empty()) table.print(out);
}

std::string blocks_text(const table::Timing& t) {
  return fmt::format("{} in {}", base::counted(t.blocks, "block"),
                     base::counted(t.processes, "process", "processes"));
}

/// Where the time of a model goes, by the runtime's own profile.
void print_in_model(const MeasuredLine& line, std::ostream& out) {
  const predict::Prediction& prediction = line.in_model->prediction;
  out << fmt::format("\n{}, inside the model by the runtime's own profile: {} of {} calls\n",
                     base::printable(line.name), time_text(prediction.latency_ns),
                     prediction.composition.n_kernels);
  print_operators_and_costliest(*line.in_model, {}, out);
}

/// What the numbers above are of, and the statistic with the interval.
std::string footnote(const MeasuredLine& line) {
  const table::Timing& t = line.timing;
  const std::string block =
      fmt::format("undisturbed [1] {} ({}, {})", base::duration_text(t.median_ns),
                  range_text(t.ci_low_ns, t.ci_high_ns), level_text(t.ci_level));
  if (!line.inferences)
    return fmt::format("{}, {}; times of single inferences were not kept", block, blocks_text(t));
  const table::InferenceTimes& times = *line.inferences;
  const std::string of = times.blocks == t.blocks
                             ? blocks_text(t)
                             : fmt::format("{} of {}", times.blocks, blocks_text(t));
  return fmt::format("{} inferences of {}{}; {}", times.count, of,
                     times.p99_ns ? "" : fmt::format(" (p99 needs {})", table::kMinForP99), block);
}

}  // namespace

void print_document(const Measurement& measurement, std::ostream& out) {
  print_inferences(measurement, out);
  for_every_model(
      measurement,
      [&](const MeasuredLine& line) {
        out << fmt::format("{}: {}\n", base::printable(line.name), footnote(line));
      },
      [&](const FailedLine& failure) {
        out << base::printable_message(failure.error.message) << "\n";
      });
  if (!measurement.models.empty())
    out << fmt::format("[1] {}, with its confidence interval; predictions are of this time\n",
                       kBlockStatistic);
  for (const MeasuredLine& line : measurement.models)
    if (line.in_model) print_in_model(line, out);
}

std::vector<Json> entries_of(const Measurement& measurement) {
  std::vector<Json> models;
  const auto add_measured = [&](const MeasuredLine& line) {
    const table::Timing& t = line.timing;
    models.push_back(
        {{"model", line.path},
         {"batch", line.batch},
         {"inferences", json_of(line.inferences)},
         {"inferences_per_s", line.inferences_per_s()},
         {"image_ns", line.image_ns()},
         {"images_per_s", line.images_per_s()},
         {"latency_ns", t.median_ns},
         {"ci_ns", {t.ci_low_ns, t.ci_high_ns}},
         {"ci_level", t.ci_level},
         {"min_ns", t.min_ns},
         {"p10_ns", t.p10_ns},
         {"p90_ns", t.p90_ns},
         {"sd_log", t.sd_log},
         {"blocks", t.blocks},
         {"processes", t.processes},
         {"flags", line.flags},
         {"by_operator", line.in_model ? operators_of(line.in_model->diagnosis) : Json(nullptr)},
         {"kernels", line.in_model ? kernels_of(*line.in_model) : Json(nullptr)},
         {"error", nullptr}});
  };
  const auto add_failed = [&](const FailedLine& failure) {
    Json entry = {{"model", failure.path}};
    for (const char* unknown :
         {"batch", "inferences", "inferences_per_s", "image_ns", "images_per_s", "latency_ns",
          "ci_ns", "ci_level", "min_ns", "p10_ns", "p90_ns", "sd_log", "blocks", "processes"})
      entry[unknown] = nullptr;
    entry["flags"] = Json::array();
    entry["by_operator"] = nullptr;
    entry["kernels"] = nullptr;
    entry["error"] = {{"code", code_name(failure.error.code)}, {"message", failure.error.message}};
    models.push_back(std::move(entry));
  };
  for_every_model(measurement, add_measured, add_failed);
  return models;
}

Json json_document(const Measurement& measurement) {
  return {{"schema", "oplat.measurement/1"},
          {"statistic", fmt::format("inferences: {}; latency_ns, min_ns, p10_ns and p90_ns: {}",
                                    kInferenceStatistic, kBlockStatistic)},
          {"device", measurement.device.name},
          {"runtime", measurement.setting.runtime},
          {"version", measurement.setting.version},
          {"threads", measurement.setting.threads},
          {"models", entries_of(measurement)}};
}

void write_csv(const Measurement& measurement, std::ostream& out) {
  out << csv_line({"path",         "batch",        "median_ns",    "ci_low_ns",        "ci_high_ns",
                   "min_block_ns", "p10_block_ns", "p90_block_ns", "sd_log",           "blocks",
                   "processes",    "flags",        "inferences",   "mean_ns",          "p50_ns",
                   "p90_ns",       "p99_ns",       "max_ns",       "inferences_per_s", "image_ns",
                   "images_per_s", "code",         "error"});
  const auto add_measured = [&](const MeasuredLine& line) {
    const table::Timing& t = line.timing;
    const auto& times = line.inferences;
    const auto time = [&](auto member) {
      return times ? csv_number((*times).*member) : std::string();
    };
    out << csv_line({csv_field(line.path),
                     csv_number(line.batch),
                     csv_number(t.median_ns),
                     csv_number(t.ci_low_ns),
                     csv_number(t.ci_high_ns),
                     csv_number(t.min_ns),
                     csv_number(t.p10_ns),
                     csv_number(t.p90_ns),
                     csv_number(t.sd_log),
                     csv_number(t.blocks),
                     csv_number(t.processes),
                     csv_field(base::join(line.flags, ";")),
                     time(&table::InferenceTimes::count),
                     time(&table::InferenceTimes::mean_ns),
                     time(&table::InferenceTimes::p50_ns),
                     time(&table::InferenceTimes::p90_ns),
                     time(&table::InferenceTimes::p99_ns),
                     time(&table::InferenceTimes::max_ns),
                     csv_number(line.inferences_per_s()),
                     csv_number(line.image_ns()),
                     csv_number(line.images_per_s()),
                     "",
                     ""});
  };
  const auto add_failed = [&](const FailedLine& failure) {
    constexpr std::size_t kColumns = 23;
    std::vector<std::string> cells(kColumns);
    cells.front() = csv_field(failure.path);
    cells[kColumns - 2] = code_name(failure.error.code);
    cells[kColumns - 1] = csv_field(failure.error.message);
    out << csv_line(cells);
  };
  for_every_model(measurement, add_measured, add_failed);
}

}  // namespace oplat::report
