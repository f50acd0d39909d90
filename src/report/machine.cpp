// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat machine` in each form but the page.
#include <algorithm>
#include <ostream>

#include "base/text.hpp"
#include "base/units.hpp"
#include "estimate/foreign.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"
#include "report/text_table.hpp"

namespace oplat::report {
namespace {

std::string size_text(const std::optional<double>& bytes) {
  return bytes ? base::bytes_text(*bytes) : "-";
}

std::string ramp_text(const table::MemoryRamp& ramp) {
  return fmt::format("{} to {}", base::bytes_text(ramp.lo_bytes), base::bytes_text(ramp.hi_bytes));
}

/// 1e9 bytes a second.
double gb_per_s(double ns_of_line) { return measure::kLineBytes / ns_of_line; }

Json ramp_json(const table::MemoryRamp& ramp) {
  return {{"lo_bytes", ramp.lo_bytes}, {"hi_bytes", ramp.hi_bytes}};
}
Json ramp_json(const std::optional<table::MemoryRamp>& ramp) {
  return ramp ? ramp_json(*ramp) : Json(nullptr);
}

Json level_json(const NamedLevel& level) {
  Json json = {{"name", level.name},
               {"reported_bytes", whole_number(level.reported_bytes)},
               {"usable_bytes", nullptr},
               {"load_ns", nullptr},
               {"read_gb_per_s", nullptr}};
  if (level.measured) {
    json["usable_bytes"] = number(level.measured->capacity_bytes);
    json["load_ns"] = level.measured->chase_ns;
    json["read_gb_per_s"] = gb_per_s(level.measured->stream_ns);
  }
  return json;
}

/// What others bring into the last level, 1e9 bytes a second; std::nullopt if nobody looked, or it
/// cannot be seen.
std::optional<double> others_gb_per_s(const table::MemoryHierarchy& found) {
  const auto last = estimate::measured_last_level(found);
  if (!last) return std::nullopt;
  return estimate::foreign_rate_by_looks(found, *last);
}

Json memory_json(const measure::MeasuredMemory& memory) {
  const table::MemoryHierarchy& found = memory.hierarchy;
  Json points = Json::array();
  for (const table::MemoryPoint& point : found.points) {
    points.push_back({{"pool_bytes", point.pool_bytes},
                      {"load_ns", point.chase_ns},
                      {"load_high_ns", point.chase_high_ns},
                      {"read_gb_per_s", gb_per_s(point.stream_ns)},
                      {"read_low_gb_per_s", gb_per_s(point.stream_high_ns)}});
  }
  Json last = nullptr;
  if (found.last)
    last = {{"loads", ramp_json(found.last->chase)},
            {"reads", ramp_json(found.last->stream)},
            {"middle", ramp_json(found.last->middle)},
            {"disturbed", ramp_json(found.last->disturbed)}};
  Json waits = Json::array();
  for (const table::MemoryWait& wait : found.waits)
    waits.push_back(
        {{"pool_bytes", wait.pool_bytes}, {"wait_ns", wait.wait_ns}, {"load_ns", wait.chase_ns}});
  return {{"has_last_level", found.has_last_level()},
          {"own", ramp_json(found.own)},
          {"last", std::move(last)},
          {"scrub_bytes", whole_number(found.scrub_bytes)},
          {"points", std::move(points)},
          {"waits", std::move(waits)},
          {"others_gb_per_s", number(others_gb_per_s(found))},
          {"passes", memory.passes},
          {"seconds", memory.seconds},
          {"wanted_pool_bytes", memory.wanted_pool_bytes},
          {"max_pool_bytes", memory.max_pool_bytes}};
}

/// Quartiles of looks at one pool that are further apart were not made by one machine alone.
constexpr double kAlikeLooks = 1.25;

/// The pool at which looks differed most; nullptr: they were alike.
const table::MemoryPoint* shared_pool(const table::MemoryHierarchy& found) {
  const auto apart = [](const table::MemoryPoint& point) {
    return point.chase_high_ns / point.chase_ns;
  };
  const auto most =
      std::max_element(found.points.begin(), found.points.end(),
                       [&](const auto& a, const auto& b) { return apart(a) < apart(b); });
  return most != found.points.end() && apart(*most) > kAlikeLooks ? &*most : nullptr;
}

}  // namespace

std::string others_text(const table::MemoryHierarchy& found) {
  const auto rate = others_gb_per_s(found);
  if (!rate) return "";
  const table::MemoryWait& at_once = found.waits.front();
  const table::MemoryWait& longest = found.waits.back();
  return fmt::format(
      "others bring {} into the last level: a load from {} takes {:.3g} ns at once and {:.3g} ns "
      "after {}",
      *rate > 0 ? fmt::format("{:.2g} GB/s", *rate) : "next to nothing",
      base::bytes_text(static_cast<double>(at_once.pool_bytes)), at_once.chase_ns, longest.chase_ns,
      base::duration_text(longest.wait_ns));
}

std::vector<NamedLevel> named_levels(const MachineReport& machine) {
  const auto reported = [](std::int64_t bytes) {
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
  };
  const std::vector<table::MemoryLevel> none;
  const auto& found = machine.memory ? machine.memory->hierarchy.levels : none;
  const table::Device& device = machine.device;
  NamedLevel own{"own cache", reported(device.l2_bytes), std::nullopt};
  NamedLevel last{"last level", std::nullopt, std::nullopt};
  NamedLevel memory{"memory", reported(device.memory_bytes), std::nullopt};
  if (device.llc_bytes != device.l2_bytes) last.reported_bytes = reported(device.llc_bytes);
  if (!found.empty()) memory.measured = found.back();
  if (found.size() > 1) own.measured = found.front();
  if (found.size() > 2) last.measured = found[1];
  std::vector<NamedLevel> levels;
  for (NamedLevel& level : std::vector{own, last, memory}) {
    if (level.reported_bytes || level.measured) levels.push_back(std::move(level));
  }
  return levels;
}

std::vector<std::string> assumptions(const MachineReport& machine) {
  if (!machine.memory)
    return {
        fmt::format("nothing was measured: {}; sizes are assumed to be as reported", machine.why)};
  std::vector<std::string> texts;
  const measure::MeasuredMemory& memory = *machine.memory;
  if (memory.hierarchy.levels.size() < 2)
    texts.emplace_back("the curve is flat; sizes are assumed to be as reported");
  if (!memory.hierarchy.scrub_bytes && memory.hierarchy.levels.size() > 1)
    texts.emplace_back(
        "the curve rises to its end; a last level may be larger than what was found");
  if (const auto* pool = shared_pool(memory.hierarchy))
    texts.push_back(
        fmt::format("a load took {:.3g} to {:.3g} ns at {}: other processes or virtual machines "
                    "use the caches too; "
                    "another run may find another curve, and predictions have wider intervals",
                    pool->chase_ns, pool->chase_high_ns,
                    base::bytes_text(static_cast<double>(pool->pool_bytes))));
  if (memory.max_pool_bytes < memory.wanted_pool_bytes)
    texts.push_back(fmt::format(
        "memory allowed pools of up to {} instead of {}; a larger last level would not be seen",
        base::bytes_text(static_cast<double>(memory.max_pool_bytes)),
        base::bytes_text(static_cast<double>(memory.wanted_pool_bytes))));
  return texts;
}

void print_document(const MachineReport& machine, std::ostream& out) {
  out << fmt::format("{}, {} cores\n", base::printable(machine.device.name, 400),
                     machine.device.cores);
  TextTable table({{""},
                   {"reported", Align::Right},
                   {"usable", Align::Right},
                   {"a load", Align::Right},
                   {"in order", Align::Right}});
  for (const NamedLevel& level : named_levels(machine)) {
    const auto& measured = level.measured;
    table.add(
        {level.name,
         level.reported_bytes ? base::bytes_text(static_cast<double>(*level.reported_bytes)) : "-",
         measured ? size_text(measured->capacity_bytes) : "-",
         measured ? fmt::format("{:.3g} ns", measured->chase_ns) : "-",
         measured ? fmt::format("{:.3g} GB/s", gb_per_s(measured->stream_ns)) : "-"});
  }
  table.print(out);
  if (machine.memory) {
    const table::MemoryHierarchy& found = machine.memory->hierarchy;
    if (found.last) {
      out << fmt::format("{} loses data from {} (loads that wait: {}; reads in order: {})\n",
                         found.has_last_level() ? "the last level" : "the cache",
                         ramp_text(found.last->middle), ramp_text(found.last->chase),
                         found.last->stream ? ramp_text(*found.last->stream) : "no difference");
      if (found.last->disturbed)
        out << fmt::format("in disturbed moments: {}\n", ramp_text(*found.last->disturbed));
    }
    if (const std::string others = others_text(found); !others.empty()) out << others << "\n";
    if (found.scrub_bytes)
      out << fmt::format("reading {} empties every cache\n",
                         base::bytes_text(static_cast<double>(*found.scrub_bytes)));
    out << fmt::format("{} pools of up to {}, {} passes, {:.3g} s\n", found.points.size(),
                       base::bytes_text(static_cast<double>(machine.memory->max_pool_bytes)),
                       machine.memory->passes, machine.memory->seconds);
  }
  for (const std::string& assumption : assumptions(machine))
    out << base::printable(assumption, 1000) << "\n";
}

Json json_document(const MachineReport& machine) {
  Json levels = Json::array();
  for (const NamedLevel& level : named_levels(machine)) levels.push_back(level_json(level));
  return {{"schema", "oplat.machine/1"},
          {"device", json_of(machine.device)},
          {"worker", machine.worker},
          {"measured", machine.memory.has_value()},
          {"levels", std::move(levels)},
          {"memory", machine.memory ? memory_json(*machine.memory) : Json(nullptr)},
          {"assumptions", assumptions(machine)}};
}

void write_csv(const MachineReport& machine, std::ostream& out) {
  out << csv_line({"pool_bytes", "load_ns", "load_high_ns", "read_gb_per_s", "read_low_gb_per_s"});
  if (!machine.memory) return;
  for (const table::MemoryPoint& point : machine.memory->hierarchy.points) {
    out << csv_line({csv_number(point.pool_bytes), csv_number(point.chase_ns),
                     csv_number(point.chase_high_ns), csv_number(gb_per_s(point.stream_ns)),
                     csv_number(gb_per_s(point.stream_high_ns))});
  }
}

}  // namespace oplat::report
