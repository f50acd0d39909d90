// SPDX-License-Identifier: Apache-2.0
/// How records are called in messages.
#include "table/records.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace oplat::table {

std::string describe(const Setting& setting) {
  std::string text = base::printable(setting.runtime);
  if (!setting.version.empty()) text += fmt::format(" {}", base::printable(setting.version));
  text += fmt::format(", {}, precision {}", base::counted(setting.threads, "thread"),
                      base::printable(setting.precision));
  std::string_view before = ", ";
  for (const auto& [name, value] : setting.options) {
    text += fmt::format("{}{}={}", before, base::printable(name), base::printable(value));
    before = " ";
  }
  return text;
}

std::optional<InferenceTimes> inference_times(const base::TimeSketch& sketch, std::int64_t blocks) {
  if (sketch.count() == 0) return std::nullopt;
  InferenceTimes times;
  times.count = sketch.count();
  times.blocks = blocks;
  times.mean_ns = *sketch.mean();
  times.p50_ns = *sketch.quantile(0.5);
  times.p90_ns = *sketch.quantile(0.9);
  if (times.count >= kMinForP99) times.p99_ns = sketch.quantile(0.99);
  times.max_ns = *sketch.max();
  return times;
}

bool is_loaded(const Block& block) { return block.other_load.value_or(0) >= kLoadOfOthers; }

bool is_not_apart(const Block& block) { return block.steal_ticks >= kTicksNotApart; }

void Method::add(std::string_view flag) {
  flags.emplace_back(flag);
  // A table may hold them in any order.
  std::sort(flags.begin(), flags.end());
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
}

bool is_heavily_disturbed(std::int64_t steal_ticks, const std::optional<double>& other_load) {
  constexpr std::int64_t kHeavyTicks = 10;
  constexpr double kHeavyLoad = 0.5;
  return steal_ticks >= kTicksNotApart ||
         (steal_ticks >= kHeavyTicks && other_load.value_or(0) >= kHeavyLoad);
}

std::string_view outcome_name(const Outcome& outcome) {
  struct Name {
    std::string_view operator()(const Timing&) const { return "timing"; }
    std::string_view operator()(const Unsupported&) const { return "unsupported"; }
    std::string_view operator()(const Skipped&) const { return "skipped"; }
    std::string_view operator()(const Failed&) const { return "failed"; }
  };
  return std::visit(Name{}, outcome);
}

}  // namespace oplat::table
