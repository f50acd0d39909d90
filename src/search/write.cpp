// SPDX-License-Identifier: Apache-2.0
#include "search/write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::search {
namespace {

/// `LEAST to MOST` of a network's choices, and how many blocks there are.
struct Extremes {
  double min_ns = 0;
  double max_ns = 0;
  std::size_t blocks = 0;
  std::size_t without = 0;  ///< blocks without a time
};

Extremes extremes_of(const ResolutionLatencies& timed) {
  Extremes all{.min_ns = timed.overhead_ns, .max_ns = timed.overhead_ns};
  for (const std::vector<CellLatency>& cells : timed.cells) {
    std::optional<double> low;
    std::optional<double> high;
    for (const CellLatency& cell : cells) {
      all.without += cell.ns ? 0U : 1U;
      if (!cell.ns) continue;
      low = low ? std::min(*low, *cell.ns) : *cell.ns;
      high = high ? std::max(*high, *cell.ns) : *cell.ns;
    }
    all.blocks += cells.size();
    all.min_ns += low.value_or(0);
    all.max_ns += high.value_or(0);
  }
  return all;
}

}  // namespace

Result<std::string_view> form_of_file(std::string_view file, std::string_view asked) {
  if (file.empty()) return asked.empty() ? kForms[0] : asked;
  for (const std::string_view form : kForms) {
    if (!file.ends_with(fmt::format(".{}", form))) continue;
    if (!asked.empty() && form != asked) {
      return fail(Code::Usage,
                  "--out {}: the file's name means {}, but a flag asks for another format",
                  base::printable(file), form);
    }
    return form;
  }
  if (!asked.empty()) return asked;
  return fail(Code::Usage, "--out {}: end the name in .csv, .json or .npz", base::printable(file));
}

Result<std::string> written(const SpaceLatencies& latencies, std::string_view form) {
  if (form == "json") return to_json(latencies);
  if (form == "csv") return to_csv(latencies);
  return to_npz(latencies);
}

std::vector<std::string> summary(const SpaceLatencies& latencies) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} on {}", base::printable(latencies.space.file, 400),
                              table::describe(latencies.setting),
                              base::printable(latencies.device.name)));
  for (const ResolutionLatencies& timed : latencies.resolutions) {
    const Extremes all = extremes_of(timed);
    lines.push_back(fmt::format(
        "{} at {}: {} layers, {} blocks of {} distinct kernels; fastest choices {}, slowest {}{}",
        latencies.space.name, timed.expansion.resolution, timed.cells.size(), all.blocks,
        timed.kernels.size(), base::duration_text(all.min_ns), base::duration_text(all.max_ns),
        all.without > 0 ? fmt::format(" ({} blocks have no time)", all.without) : ""));
  }
  return lines;
}

}  // namespace oplat::search
