// SPDX-License-Identifier: Apache-2.0
/// The document of a sweep in each form.
#include "report/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"
#include "report/measurement.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

std::string sweep_file_name(const std::string& path) {
  return base::printable(std::filesystem::path(path).filename().string());
}

bool has_several_models(const Sweep& sweep) {
  return std::any_of(sweep.points.begin(), sweep.points.end(), [&](const Sweep::Point& point) {
    return point.path != sweep.points.front().path;
  });
}

std::string best_text(bool latency, bool throughput) {
  if (latency && throughput) return "lowest latency, most images/s";
  return latency ? "lowest latency" : throughput ? "most images/s" : "";
}

std::vector<TextTable::Column> columns_of(const Sweep& sweep, bool several) {
  std::vector<TextTable::Column> columns;
  if (several) columns.push_back({"model"});
  columns.push_back({"threads", Align::Right});
  columns.push_back({"batch", Align::Right});
  if (sweep.measured) {
    for (const char* title : {sweep.means ? "mean" : "latency", "p50", "p99"})
      columns.push_back({title, Align::Right});
  } else {
    columns.push_back({"latency", Align::Right});
    columns.push_back({level_text(sweep.level), Align::Right});
  }
  columns.push_back({"per image", Align::Right});
  columns.push_back({"images/s", Align::Right});
  columns.push_back({"best"});
  return columns;
}

/// What Point::latency_ns is.
std::string_view sweep_statistic(const Sweep& sweep) {
  if (!sweep.measured) return "predicted";
  return sweep.means ? "mean of single inferences" : kBlockStatistic;
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string sweep_interval_text(const std::optional<base::Interval>& interval) {
  return interval ? range_text(interval->low, interval->high) : "-";
}

/// Each error once, in order, with the points that have it: often all of one number of threads.
std::vector<std::pair<std::string, std::vector<std::string>>> points_by_error(const Sweep& sweep,
                                                                              bool several) {
  std::vector<std::pair<std::string, std::vector<std::string>>> errors;
  for (const Sweep::Point& point : sweep.points) {
    if (point.error.empty()) continue;
    auto at = std::find_if(errors.begin(), errors.end(),
                           [&](const auto& one) { return one.first == point.error; });
    if (at == errors.end()) at = errors.insert(at, {point.error, {}});
    const std::string place = point.place();
    const std::string name = several || place.empty() ? sweep_file_name(point.path) : std::string();
    at->second.push_back(name + (name.empty() || place.empty() ? "" : ", ") + place);
  }
  return errors;
}

}  // namespace

std::optional<double> Sweep::Point::image_ns() const {
  if (!latency_ns) return std::nullopt;
  return *latency_ns / static_cast<double>(std::max<std::int64_t>(1, batch.value_or(1)));
}

std::optional<double> Sweep::Point::images_per_s() const {
  const auto ns = image_ns();
  return ns && *ns > 0 ? std::optional(1e9 / *ns) : std::nullopt;
}

std::string Sweep::Point::place(std::string_view between) const {
  std::vector<std::string> parts;
  if (threads) parts.push_back(fmt::format("threads {}", *threads));
  if (batch) parts.push_back(fmt::format("batch {}", *batch));
  return base::join(parts, between);
}

BestPoints best_points(const Sweep& sweep) {
  BestPoints best{std::vector<bool>(sweep.points.size()), std::vector<bool>(sweep.points.size())};
  std::map<std::string, std::vector<std::size_t>> points_of;
  for (std::size_t i = 0; i < sweep.points.size(); ++i)
    if (sweep.points[i].latency_ns) points_of[sweep.points[i].path].push_back(i);
  for (const auto& [path, points] : points_of) {
    if (points.size() < 2) continue;
    best.latency[*std::min_element(points.begin(), points.end(), [&](auto a, auto b) {
      return *sweep.points[a].latency_ns < *sweep.points[b].latency_ns;
    })] = true;
    best.throughput[*std::min_element(points.begin(), points.end(), [&](auto a, auto b) {
      return *sweep.points[a].image_ns() < *sweep.points[b].image_ns();
    })] = true;
  }
  return best;
}

void print_document(const Sweep& sweep, std::ostream& out) {
  if (sweep.points.empty()) return;
  const bool several = has_several_models(sweep);
  out << fmt::format(
      "{}{}{}{} on {}\n", several ? "" : sweep_file_name(sweep.points.front().path) + ", ",
      sweep.measured ? "measured, " : "predicted, ", base::printable(sweep.setting.runtime),
      sweep.setting.version.empty() ? "" : " " + base::printable(sweep.setting.version),
      base::printable(sweep.device.name));
  const BestPoints best = best_points(sweep);
  TextTable table(columns_of(sweep, several));
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const Sweep::Point& point = sweep.points[i];
    std::vector<std::string> cells;
    if (several) cells.push_back(sweep_file_name(point.path));
    cells.push_back(number_text(point.threads));
    cells.push_back(number_text(point.batch));
    cells.push_back(time_text(point.latency_ns));
    if (sweep.measured) {
      const auto& times = point.inferences;
      cells.push_back(times ? base::duration_text(times->p50_ns) : "-");
      cells.push_back(times ? time_text(times->p99_ns) : "-");
    } else {
      cells.push_back(sweep_interval_text(point.interval));
    }
    cells.push_back(time_text(point.image_ns()));
    cells.push_back(point.images_per_s() ? rate_text(*point.images_per_s()) : "-");
    cells.push_back(point.error.empty() ? best_text(best.latency[i], best.throughput[i])
                                        : "see below");
    table.add(std::move(cells));
  }
  table.print(out);
  for (const auto& [error, places] : points_by_error(sweep, several))
    out << fmt::format("{}: {}\n", base::join(places, "; "), base::printable(error, 2000));
}

Json json_document(const Sweep& sweep) {
  const BestPoints best = best_points(sweep);
  Json points = Json::array();
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const Sweep::Point& point = sweep.points[i];
    points.push_back({{"model", point.path},
                      {"threads", whole_number(point.threads)},
                      {"batch", whole_number(point.batch)},
                      {"latency_ns", number(point.latency_ns)},
                      {"interval_ns", json_of(point.interval)},
                      {"inferences", json_of(point.inferences)},
                      {"image_ns", number(point.image_ns())},
                      {"images_per_s", number(point.images_per_s())},
                      {"lowest_latency", static_cast<bool>(best.latency[i])},
                      {"most_images_per_s", static_cast<bool>(best.throughput[i])},
                      {"error", point.error.empty() ? Json(nullptr) : Json(point.error)}});
  }
  return {{"schema", "oplat.sweep/1"},
          {"source", sweep.measured ? "measured" : "predicted"},
          {"statistic", std::string(sweep_statistic(sweep))},
          {"level", sweep.measured ? Json(nullptr) : Json(sweep.level)},
          {"device", sweep.device.name},
          {"runtime", sweep.setting.runtime},
          {"version", sweep.setting.version},
          {"points", std::move(points)}};
}

void write_csv(const Sweep& sweep, std::ostream& out) {
  const BestPoints best = best_points(sweep);
  out << csv_line({"model", "threads", "batch", "latency_ns", "interval_lo_ns", "interval_hi_ns",
                   "inferences", "p50_ns", "p90_ns", "p99_ns", "max_ns", "image_ns", "images_per_s",
                   "lowest_latency", "most_images_per_s", "error"});
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const Sweep::Point& point = sweep.points[i];
    const auto& times = point.inferences;
    const auto time = [&](auto member) {
      return times ? csv_number((*times).*member) : std::string();
    };
    std::optional<double> low, high;
    if (point.interval) low = point.interval->low, high = point.interval->high;
    out << csv_line({csv_field(point.path), csv_number(point.threads), csv_number(point.batch),
                     csv_number(point.latency_ns), csv_number(low), csv_number(high),
                     time(&table::InferenceTimes::count), time(&table::InferenceTimes::p50_ns),
                     time(&table::InferenceTimes::p90_ns), time(&table::InferenceTimes::p99_ns),
                     time(&table::InferenceTimes::max_ns), csv_number(point.image_ns()),
                     csv_number(point.images_per_s()), best.latency[i] ? "true" : "false",
                     best.throughput[i] ? "true" : "false", csv_field(point.error)});
  }
}

}  // namespace oplat::report
