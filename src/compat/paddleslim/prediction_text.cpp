// SPDX-License-Identifier: Apache-2.0
/// Text of predictions from PaddleSlim's tables.
#include "compat/paddleslim/prediction_text.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr double kShownNsPerMs = 1e6;
constexpr std::size_t kMaxListed = 1000;
constexpr std::size_t kMaxShown = 400;

/// Calls of one run of a text, in order of first appearance.
struct Calls {
  std::string text;
  std::int64_t count = 0;
  double ns = 0;
};

template <class Text>
std::vector<Calls> calls_of(const std::vector<const predict::KernelPrediction*>& kernels,
                            const Text& text_of) {
  std::vector<Calls> list;
  std::map<std::string, std::size_t> place;
  for (const auto* kernel : kernels) {
    const std::string text = text_of(*kernel);
    const auto [at, added] = place.emplace(text, list.size());
    if (added) list.push_back({text});
    list[at->second].count += kernel->count;
    list[at->second].ns += static_cast<double>(kernel->count) * kernel->latency_ns.value_or(0);
  }
  return list;
}

std::string type_of(const predict::KernelPrediction& kernel) {
  const auto key = ir::parse(kernel.key);
  return key ? key->op : std::string("?");
}

bool from_table(const predict::KernelPrediction& kernel) {
  return kernel.source == estimate::Source::Measured;
}
bool is_guess(const predict::KernelPrediction& kernel) {
  return kernel.latency_ns && !from_table(kernel) && kernel.source != estimate::Source::Free;
}

template <class Is>
std::vector<const predict::KernelPrediction*> those(const predict::Prediction& prediction,
                                                    const Is& is) {
  std::vector<const predict::KernelPrediction*> found;
  for (const auto& kernel : prediction.kernels)
    if (is(kernel)) found.push_back(&kernel);
  return found;
}

std::int64_t count_of(const std::vector<const predict::KernelPrediction*>& kernels) {
  std::int64_t count = 0;
  for (const auto* kernel : kernels) count += kernel->count;
  return count;
}

std::string coverage_text(const predict::Prediction& prediction) {
  const auto all = those(prediction, [](const auto&) { return true; });
  const auto views =
      those(prediction, [](const auto& kernel) { return kernel.source == estimate::Source::Free; });
  std::string text = fmt::format("{} of {} operators are in the table",
                                 count_of(those(prediction, from_table)), count_of(all));
  if (!views.empty()) {
    std::vector<std::string> types;
    for (const Calls& calls : calls_of(views, type_of)) types.push_back(calls.text);
    text += fmt::format(", {} views without rows count as free ({})", count_of(views),
                        base::printable(base::join(types, ", "), kMaxShown));
  }
  return text + "\n";
}

std::string estimates_text(const predict::Prediction& prediction) {
  const auto guesses = those(prediction, is_guess);
  if (guesses.empty()) return {};
  std::string text;
  double ns = 0;
  for (const Calls& calls : calls_of(guesses, type_of)) {
    text += fmt::format("  {} {}x {}\n", base::printable(calls.text), calls.count,
                        base::duration_text(calls.ns));
    ns += calls.ns;
  }
  return fmt::format("{} are estimated, {:.1f} % of the time:\n{}", count_of(guesses),
                     100 * ns / known_ns(prediction), text);
}

std::string operators_text(const predict::Prediction& prediction) {
  std::string text = "\n";
  for (const auto& kernel : prediction.kernels) {
    const std::string ms =
        kernel.latency_ns ? base::float_text(*kernel.latency_ns / kShownNsPerMs) : "-";
    text += fmt::format("{}\t{}x\t{} ms\t{}\t{}\n",
                        base::printable(paddle_text(kernel.key), kMaxShown), kernel.count, ms,
                        estimate::name(kernel.source), base::printable(kernel.why, kMaxShown));
  }
  return text;
}

}  // namespace

std::string paddle_text(const std::string& key) {
  const auto parsed = ir::parse(key);
  return parsed ? paddle_text_of(*parsed).value_or(key) : key;
}

std::string prediction_text(const predict::Prediction& prediction, bool per_op) {
  std::string text;
  if (prediction.latency_ns) {
    text += fmt::format("predicted latency = {}ms\n",
                        base::float_text(*prediction.latency_ns / kShownNsPerMs));
  } else {
    text += fmt::format("no latency: the table lacks {} keys\n", prediction.missing.size());
  }
  if (prediction.interval) {
    text += fmt::format("{:.0f} % between {} and {}\n", 100 * prediction.level,
                        base::duration_text(prediction.interval->low),
                        base::duration_text(prediction.interval->high));
  }
  text += fmt::format("{}, batch {}, on {}, {}, {}\n", base::printable(prediction.model, kMaxShown),
                      prediction.batch, base::printable(prediction.device.name),
                      base::printable(table::describe(prediction.setting), kMaxShown),
                      base::printable(prediction.plan_source));
  for (const predict::Mismatch& one : prediction.mismatch) {
    text += fmt::format("mismatch: {}: asked for {}, the table has {}\n", one.field,
                        base::printable(one.asked), base::printable(one.used));
  }
  text += coverage_text(prediction) + estimates_text(prediction);
  if (per_op) text += operators_text(prediction);
  return text;
}

Status require_keys(const predict::Prediction& prediction, bool estimated) {
  if (prediction.latency_ns) return {};
  const auto missing = those(prediction, [](const auto& kernel) { return !kernel.latency_ns; });
  const std::vector<Calls> calls =
      calls_of(missing, [](const auto& kernel) { return paddle_text(kernel.key); });
  std::string lines;
  for (std::size_t i = 0; i < std::min(calls.size(), kMaxListed); ++i) {
    lines += fmt::format("\n  {}x {}", calls[i].count, base::printable(calls[i].text, kMaxShown));
  }
  if (calls.size() > kMaxListed) lines += fmt::format("\n  and {} more", calls.size() - kMaxListed);
  return fail(
      Code::Missing, "{}: {} not in {}{}:{}", prediction.model,
      base::counted(calls.size(), "key is", "keys are"), prediction.table_path.string(),
      estimated ? ", and no row allows an estimate" : "; use --op-predictor on to estimate them",
      lines);
}

}  // namespace oplat::compat::paddleslim
