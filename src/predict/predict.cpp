// SPDX-License-Identifier: Apache-2.0
/// Plan -> estimates -> composition.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "base/counted.hpp"
#include "base/hash.hpp"
#include "base/interval.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/text_numbers.hpp"
#include "base/truncated_list.hpp"
#include "base/units.hpp"
#include "estimate/chain.hpp"
#include "estimate/load_spread.hpp"
#include "ir/label.hpp"
#include "ir/moved_work.hpp"
#include "ir/operand_values.hpp"
#include "ir/reading.hpp"
#include "ir/value_costs.hpp"
#include "ir/view.hpp"
#include "ir/work.hpp"
#include "predict/compose.hpp"
#include "predict/load.hpp"
#include "predict/node_overhead.hpp"

namespace oplat::predict {

using estimate::Source;

namespace {

/// A message names this many keys; all of them stand in Prediction::missing.
constexpr std::size_t kMaxNamedKeys = 5;
/// Of estimate::row_without_time(), by which KernelPrediction::why tells a kernel that was tried.
constexpr std::string_view kNoTime = " holds no time: ";

struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const {
    return static_cast<std::size_t>(base::hash64(key));
  }
};

/// One answer per distinct key.
struct Distinct {
  std::vector<std::string_view> keys;
  std::vector<std::size_t> of;  ///< parallel to the kernels
};

/// A view moves nothing, but the runtime dispatches its node all the same. Only a measured dispatch
/// counts: learned from kernels that compute, it would say little.
Result<estimate::Estimate> view_estimate(const estimate::RowSource& rows) {
  estimate::Estimate view{
      0, 0, "free", Source::Free, "exact", "a view: the runtime moves nothing", false};
  const estimate::Query query{plan::kDispatchKey, std::nullopt};
  std::optional<estimate::Estimate> dispatch;
  OPLAT_CHECK(estimate::make_exact(rows)->estimate({&query, 1}, {&dispatch, 1}));
  if (!dispatch) return view;
  view.median_ns = dispatch->median_ns;
  view.sd_log = dispatch->sd_log;
  view.under_load = dispatch->under_load;
  view.why += ", its dispatch costs as much as the cheapest kernel: " + dispatch->why;
  return view;
}

Distinct distinct_keys(const std::vector<table::PlanKernel>& kernels) {
  Distinct distinct;
  distinct.of.reserve(kernels.size());
  base::TextNumbers keys(kernels.size());
  for (const table::PlanKernel& kernel : kernels) distinct.of.push_back(keys.of(kernel.key).value);
  distinct.keys = keys.texts();
  return distinct;
}

/// What is as sure of one batch as of another is said once, too.
void say_open_batch(Prediction& prediction) {
  std::set<std::string_view> open;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.open_batch) open.insert(kernel.key);
  if (open.empty()) return;
  prediction.warnings.push_back(
      fmt::format("{} of its distinct kernels {} of unknown batch (-1)", open.size(),
                  base::one_or_many(open.size(), "uses a row", "use rows")));
}

/// Guesses that no measurement will ever replace.
void say_node_overhead(Prediction& prediction) {
  std::set<std::string_view> guessed;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.group == "node-overhead") guessed.insert(estimate::operator_of(kernel.key));
  if (guessed.empty()) return;
  prediction.warnings.push_back(
      fmt::format("{}: works on sequences, maps or optional values, which cannot be measured as "
                  "kernels; its cost is a guess within a factor of {:.0f}",
                  fmt::join(guessed, ", "), std::exp(1.645 * kNodeOverheadSd)));
}

/// Times that depend on values which no key says are one warning an operator.
void say_value_caveats(Prediction& prediction) {
  std::vector<std::string_view> keys;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.has_caveat) keys.push_back(kernel.key);
  for (const std::string& text : value_caveat_texts(keys))
    prediction.warnings.push_back(text + "; its interval is wider");
}

/// Of all its executions; 0 without a time.
double all_ns_of(const KernelPrediction& kernel) {
  return static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
}

/// Operators that some values take longer than others are named where they matter.
void say_value_costs(Prediction& prediction) {
  constexpr double kWorthAWord = 0.02;  // of the time, as a standard deviation
  double all_ns = 0;
  std::map<std::string_view, double> sd_ns;
  for (const KernelPrediction& kernel : prediction.kernels) {
    const double ns = all_ns_of(kernel);
    all_ns += ns;
    if (kernel.values_sd_log > 0)
      sd_ns[estimate::operator_of(kernel.key)] += kernel.values_sd_log * ns;
  }
  std::vector<std::string> named;
  for (const auto& [op, ns] : sd_ns)
    if (ns > kWorthAWord * all_ns) named.push_back(base::printable(op, 80));
  if (named.empty()) return;
  prediction.warnings.push_back(
      fmt::format("{}: some values take longer than the random numbers that kernels are measured "
                  "on; the interval is wider",
                  fmt::join(named, ", ")));
}

/// Rows that a profiled model contradicts.
void say_unlike_in_model(Prediction& prediction) {
  const KernelPrediction* worst = nullptr;
  double max_ns = 0;
  std::set<std::string_view> unlike;
  for (const KernelPrediction& kernel : prediction.kernels) {
    if (!kernel.in_model_ns || !kernel.latency_ns) continue;
    unlike.insert(kernel.key);
    const double off_ns =
        static_cast<double>(kernel.count) * std::max(kernel.in_model_ns->high - *kernel.latency_ns,
                                                     *kernel.latency_ns - kernel.in_model_ns->low);
    if (worst != nullptr && off_ns <= max_ns) continue;
    worst = &kernel;
    max_ns = off_ns;
  }
  if (worst == nullptr) return;
  prediction.warnings.push_back(fmt::format(
      "unlike_in_model: {} of its distinct kernels took another time inside a profiled model than "
      "by {} ({}: {} by itself, {} to {} inside); the interval reaches as far",
      unlike.size(), base::one_or_many(unlike.size(), "itself", "themselves"),
      base::printable(estimate::operator_of(worst->key), 80),
      base::duration_text(*worst->latency_ns), base::duration_text(worst->in_model_ns->low),
      base::duration_text(worst->in_model_ns->high)));
}

/// Whether the data that a model is fed decide what the kernel's bodies run.
bool data_decides_bodies(std::string_view key) {
  if (key.starts_with("Loop")) return key.find("@ends=data") < key.find('{');
  return key.starts_with("If/") && key.find("(bool[") != std::string_view::npos;
}

/// Whether the node of this name is in a body that one of `owners` runs: kernels of bodies bear the
/// name of the node that runs them, with further numbers behind "_".
bool is_in_body_of(const std::set<std::string_view>& owners, std::string_view name) {
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1))
    if (owners.contains(name.substr(0, at))) return true;
  return false;
}

/// A kernel by itself writes into memory that was planned for it, one of a loop's body often into
/// memory that is new at each step. No row knows that: 80 ns an execution were seen (Tanh of 8
/// numbers and a condition in 2,000 steps; ONNX Runtime 1.31.1, AMD EPYC), taken as a spread.
void say_steps(Prediction& prediction) {
  constexpr double kNewMemorySdNs = 80;
  constexpr double kWorthAWord = 0.05;
  std::set<std::string_view> loops;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.key.starts_with("Loop/") || kernel.key.starts_with("Scan/"))
      loops.insert(kernel.name);
  if (loops.empty()) return;
  double total_ns = 0;
  double executions = 0;
  for (const KernelPrediction& kernel : prediction.kernels) {
    total_ns += all_ns_of(kernel);
    if (is_in_body_of(loops, kernel.name)) executions += static_cast<double>(kernel.count);
  }
  if (!(total_ns > 0) || !std::isfinite(total_ns)) return;
  const double sd = std::min(0.7, executions * kNewMemorySdNs / total_ns);
  prediction.control_sd_log = std::hypot(prediction.control_sd_log, sd);
  if (sd > kWorthAWord)
    prediction.warnings.push_back(fmt::format(
        "its loops execute {:.0f} small kernels; what memory for their results costs at each step "
        "is known to {:.0f} ns each; the interval is wider",
        executions, kNewMemorySdNs));
}

/// Steps and branches are those of the planned run; other data may take others. The share of the
/// time that is theirs is taken as sure within a factor of two.
void say_control_flow(Prediction& prediction) {
  constexpr double kBodySd = 0.7;
  std::set<std::string_view> decided;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (data_decides_bodies(kernel.key)) decided.insert(kernel.name);
  if (decided.empty()) return;
  double total = 0;
  double theirs = 0;
  for (const KernelPrediction& kernel : prediction.kernels) {
    const double ns = all_ns_of(kernel);
    total += ns;
    if (decided.contains(kernel.name) || is_in_body_of(decided, kernel.name)) theirs += ns;
  }
  if (!(total > 0) || !std::isfinite(total)) return;
  prediction.control_sd_log = std::hypot(prediction.control_sd_log, kBodySd * theirs / total);
  prediction.warnings.push_back(fmt::format(
      "data decide how often loops run or which branches are taken ({:.0f} % of the kernels' "
      "time); the plan holds those of one run, and the interval is wider; give data with --input",
      100 * theirs / total));
}

bool any_open(const std::vector<std::optional<estimate::Estimate>>& answers) {
  for (const auto& answer : answers)
    if (!answer) return true;
  return false;
}

}  // namespace

std::vector<std::string> value_caveat_texts(std::span<const std::string_view> keys) {
  std::map<std::string, std::size_t> said;  // with the number of distinct kernels
  std::unordered_set<std::string_view> seen;
  for (const std::string_view key : keys) {
    if (!seen.insert(key).second) continue;
    if (const auto caveat = ir::value_caveat(key))
      ++said[fmt::format("{}: {}", estimate::operator_of(key), caveat->reason)];
  }
  std::vector<std::string> texts;
  for (const auto& [text, kernels] : said)
    texts.push_back(text + (kernels > 1 ? fmt::format(" ({} distinct kernels)", kernels) : ""));
  return texts;
}

Result<MissingPolicy> parse_missing_policy(std::string_view text) {
  if (text == "error") return MissingPolicy::Error;
  if (text == "roofline" || text == "physics") return MissingPolicy::Roofline;
  if (text == "zero") return MissingPolicy::Zero;
  return fail(Code::Usage, "--missing {}: expected error, roofline or zero", base::printable(text));
}

/// Of a kernel's results, what stays in the caches of its core until the next kernel reads it
/// (docs/adr/0088).
constexpr double kKeptResultBytes = 128.0 * 1024;
/// Bytes that an element of 8 bits counts besides its own: kernels in 8 bits work on 32
/// (docs/adr/0092).
constexpr double kWiderBy = 3;
/// What a byte counts that a kernel takes for itself, or that the model is given, as bytes of
/// results: its memory is not that of the activations, which is used again and again, and the
/// kernel waits for it (docs/adr/0093, 0094).
constexpr double kUntouchedCounts = 4;
/// What a byte counts that a kernel waits for, where one that a product reads counts once
/// (docs/adr/0101).
constexpr double kWaitingCounts = 3;
/// Factor on the share 1 - 1 / T of T threads' bytes that other cores wrote: with two threads all
/// bytes that stay near a core count (docs/adr/0097).
constexpr double kSharedOverOthers = 2;
/// Of these with more than two threads, which nobody has compared: a standard deviation.
constexpr double kSharedSd = 0.5;
/// Of what one kernel touches: an exabyte, which no machine has. An untrusted key may say more.
constexpr double kMaxKernelBytes = 1e18;

/// Of what a key or a plan says, which may be anything; 0 times infinity has no value.
double finite_bytes(double bytes) { return bytes > 0 ? std::min(bytes, kMaxKernelBytes) : 0; }

/// Shares of bytes that caches lose, and its standard deviation.
struct LeftBehind {
  double share = 0, sd = 0;
};
/// Where nobody knows the caches.
constexpr LeftBehind kUnknownLeftBehind{0.5, 0.3};

/// What a key says that every prediction of it asks for.
struct KeyFacts {
  base::Hash128 hash;
  bool view = false;
  std::optional<ir::ValueCaveat> caveat;
  double value_cost_sd = 0;
  // 0 of a view, which moves nothing.
  double result_bytes = 0;
  double counted_bytes = 0;  ///< of results, elements of 8 bits as if they had 32
  /// Whether the kernel is only measured hot. Of others, cold rows lose what it takes for itself
  /// and what it is given.
  bool always_hot = false;
  bool hands_on = false;     ///< see ir::OperatorInfo
  double scratch_bytes = 0;  ///< what it takes for itself; 0 of one that is not always hot
  double operand_bytes = 0;  ///< that are not constant
  double near_bytes = 0;     ///< of these, as far as the kernel waits if other cores wrote them
  double touched_bytes = 0;  ///< constant operands and results
  double row_bytes = 0;      ///< these and the other operands: what a row touches between two calls
};

/// What a fit would add.
struct FitHint {
  std::string text = {};  ///< ends KernelPrediction::why; empty: nothing
  bool helps = false;     ///< whether there are rows that no fit has learned from
};

/// What kernels ask, whatever the footprint.
struct Asked {
  Distinct distinct;
  std::vector<KeyFacts> facts;  ///< of each distinct key
};
using Answers = std::vector<std::optional<estimate::Estimate>>;

struct Predictor::Impl {
  const table::Table* table = nullptr;
  Selection selection;
  estimate::RowSource rows;
  TrafficOfOthers others;
  std::optional<estimate::Profile> profile;
  estimate::Chain chain;
  mutable std::optional<estimate::Chain> with_roofline;  ///< once asked for
  /// fit_hint(), which reads the whole fit, once asked for
  mutable std::optional<FitHint> hint;
  std::unique_ptr<estimate::Estimator> exact;  ///< for views
  estimate::Estimate view;
  Composition composition;
  std::vector<std::string> warnings;  ///< of the selection and of the composition
  /// Keys are parsed once: a search asks for the same kernels again and again.
  mutable std::unordered_map<std::string, KeyFacts, KeyHash, std::equal_to<>> facts;
  /// whether the rows that teach estimates are substantially of a busy machine
  mutable std::optional<bool> loaded;
  /// what load adds to the spread of rows, once asked for: all blocks are read for it
  mutable std::optional<double> load_sd;
  /// that rows time; all rows are read for it once
  mutable std::optional<std::set<std::string, std::less<>>> operators;

  [[nodiscard]] Asked asked_by(const std::vector<table::PlanKernel>& kernels) const;
  /// Of each distinct key; empty where nothing answers.
  Result<Answers> answer(const Asked& asked, std::optional<double> reuse_bytes,
                         MissingPolicy missing, bool explain,
                         const estimate::ForeignBytes& foreign) const;
  /// How long the kernels take where others bring in so many bytes.
  Result<double> ns_among(const Asked& asked, const std::vector<table::PlanKernel>& kernels,
                          double reuse_bytes, MissingPolicy missing, double foreign_bytes) const;
  /// Of each kernel, from the answers to what they ask.
  Result<std::vector<KernelPrediction>> predictions(const Asked& asked, const Answers& answers,
                                                    const std::vector<table::PlanKernel>& kernels,
                                                    std::optional<double> reuse_bytes,
                                                    MissingPolicy missing, bool explain) const;

  /// Why the rows teach no estimate of what they lack: nobody asked them to, or they are too few.
  Result<FitHint> fit_hint() const {
    if (!profile) return FitHint();
    std::int64_t timings = 0;
    for (const table::SettingId setting : rows.settings) {
      OPLAT_TRY(context, table->context_of(rows.device, setting));
      timings += context.timings;
    }
    if (timings < static_cast<std::int64_t>(estimate::kMinRowsLearned)) {
      return FitHint{fmt::format("; learning needs at least {} rows, and the table has {}",
                                 estimate::kMinRowsLearned, timings)};
    }
    OPLAT_TRY(kernels,
              table->count_kernels({rows.device, rows.settings, true}, estimate::kMinRowsLearned));
    if (kernels < estimate::kMinRowsLearned) {
      return FitHint{fmt::format(
          "; learning needs rows of at least {} different kernels, and the table has {} rows of {}",
          estimate::kMinRowsLearned, timings, kernels)};
    }
    OPLAT_TRY(found, table->find_fit(estimate::kLearnedFormat, rows.device, rows.settings.front()));
    const std::string path = base::printable(table->path().string(), 400);
    if (found && found->current) {
      OPLAT_TRY(age, estimate::age_of_fit(found->fit.blob));
      if (age != estimate::FitAge::Newer) return FitHint();
      return FitHint{
          fmt::format("; the table's fit was made by a newer oplat, which this one cannot read; "
                      "run oplat fit {}",
                      path),
          true};
    }
    return FitHint{fmt::format("; the table has {} of its {} rows; run oplat fit {}",
                               found ? "a fit, but not" : "no fit", timings, path),
                   true};
  }

  /// Of a prediction with missing kernels.
  Status add_help(Prediction& prediction) const {
    if (prediction.missing.empty()) return {};
    std::unordered_set<std::string_view> distinct;
    for (const KernelPrediction& kernel : prediction.kernels) distinct.insert(kernel.key);
    MissingHelp& help = prediction.help;
    help.kernels = static_cast<std::int64_t>(distinct.size());
    std::map<std::string, std::int64_t> types;
    for (const std::string& key : prediction.missing) {
      ++types[ir::label_of(key, *rows.catalogue).type];
      if (!hint || !hint->helps) continue;
      OPLAT_TRY(timed, times(key));
      if (timed) ++help.by_fit;
    }
    help.types.assign(types.begin(), types.end());
    std::stable_sort(help.types.begin(), help.types.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return {};
  }

  /// What other rows teach says nothing of a single one of them. All rows are read the first time.
  Result<bool> is_under_load(const estimate::Estimate& answer) const {
    if (answer.source == Source::Measured || answer.source == Source::Free)
      return answer.under_load;
    if (!loaded) {
      OPLAT_TRY(load, load_of_rows(*table, selection));
      loaded = is_substantial(load);
    }
    return *loaded;
  }

  Result<double> sd_of_load() const {
    if (!load_sd) {
      OPLAT_TRY(sd, estimate::load_sd_of_rows(*table, rows.device, rows.settings));
      load_sd = sd;
    }
    return *load_sd;
  }

  Result<bool> times(std::string_view key) const {
    if (!operators) {
      OPLAT_TRY(timed, estimate::timed_operators(rows));
      operators = std::move(timed);
    }
    return operators->contains(estimate::operator_of(key));
  }

  /// The answer to a view at once; std::nullopt if it is a kernel as any other. Tables of other
  /// systems time views, too: where they have rows of the operator, one that they lack costs as
  /// much as those do.
  Status estimate_view(const estimate::Query& query,
                       std::optional<estimate::Estimate>& answer) const {
    const bool foreign = rows.catalogue->aliasing_domain_of(query.key) != nullptr;
    if (foreign) {
      OPLAT_CHECK(exact->estimate({&query, 1}, {&answer, 1}));
      if (answer) return {};
      OPLAT_TRY(timed, times(query.key));
      if (timed) return {};
    }
    answer = view;
    if (foreign) answer->why += ", and the table has no row of this operator";
    return {};
  }

  const KeyFacts& facts_of(std::string_view key) const {
    const auto at = facts.find(key);
    if (at != facts.end()) return at->second;
    constexpr std::size_t kMaxFacts = 1'000'000;
    if (facts.size() >= kMaxFacts) facts.clear();
    KeyFacts found{base::hash128(key), ir::names_view(key, *rows.catalogue), ir::value_caveat(key),
                   ir::value_cost_sd(key)};
    if (!found.view) set_bytes(key, found);
    return facts.emplace(std::string(key), std::move(found)).first->second;
  }

  void set_bytes(std::string_view key, KeyFacts& facts_of_key) const {
    const auto parsed = ir::parse(key);
    if (!parsed) return;
    const ir::OperatorInfo* info = rows.catalogue->find(parsed->domain, parsed->op);
    facts_of_key.hands_on = info != nullptr && info->hands_on;
    const ir::Work stored = ir::work(*parsed, info);
    const ir::Work moved = ir::moved_work(stored, *parsed, info);
    facts_of_key.result_bytes = finite_bytes(stored.bytes_out);
    double in_8_bits = 0;
    for (std::size_t i = 0; i < parsed->results.size(); ++i) {
      const ir::TensorEntry* result = parsed->result(i);
      if (result == nullptr || (result->dtype != ir::Dtype::I8 && result->dtype != ir::Dtype::U8))
        continue;
      in_8_bits += static_cast<double>(result->shape.elements().value_or(0));
    }
    // Fits of before docs/adr/0094 count what a branch hands on.
    const double written = facts_of_key.hands_on ? stored.bytes_out : moved.bytes_out;
    facts_of_key.counted_bytes = finite_bytes(written + kWiderBy * in_8_bits);
    facts_of_key.always_hot = stored.bytes_weights < table::kMinEvictedWeightBytes;
    if (facts_of_key.always_hot) facts_of_key.scratch_bytes = finite_bytes(stored.bytes_scratch);
    facts_of_key.operand_bytes = finite_bytes(moved.bytes_in);
    facts_of_key.near_bytes = waited_for(*parsed, facts_of_key.operand_bytes);
    facts_of_key.touched_bytes = finite_bytes(moved.bytes_weights + moved.bytes_out);
    facts_of_key.row_bytes = finite_bytes(stored.bytes());
  }

  /// Of what a kernel reads and other cores may have written; 0 with one thread.
  double waited_for(const ir::Key& key, double operand_bytes) const {
    if (selection.setting.threads < 2) return 0;
    const double near = std::min(operand_bytes, kKeptResultBytes);
    switch (ir::reading_of(key, *rows.catalogue)) {
      case ir::Reading::Waits:
        return kWaitingCounts * near;
      case ir::Reading::Computes:
        return near;
      case ir::Reading::Ahead:
        break;
    }
    return 0;
  }

  /// Sets what caches lose of one execution (docs/adr/0090), of whose operands `input_bytes` are
  /// the model's inputs.
  void set_evicted(const KeyFacts& facts_of_key, double input_bytes,
                   std::optional<double> reuse_bytes, KernelPrediction& kernel) const {
    const CountedResults counted = selection.fit ? selection.fit->counted : kCountedNow;
    if (counted == CountedResults::All) {
      kernel.evicted_bytes = facts_of_key.result_bytes;
      return;
    }
    const bool wide = counted >= CountedResults::WithWide8Bits;
    const double scratch = counted >= CountedResults::WithScratch ? facts_of_key.scratch_bytes : 0;
    const bool with_inputs = counted >= CountedResults::WithInputs;
    if (with_inputs && facts_of_key.hands_on) return;
    const double given = with_inputs && facts_of_key.always_hot
                             ? std::min(finite_bytes(input_bytes), facts_of_key.operand_bytes)
                             : 0;
    const double bytes = (wide ? facts_of_key.counted_bytes : facts_of_key.result_bytes) +
                         kUntouchedCounts * (scratch + given);
    if (!reuse_bytes) return;
    if (counted >= CountedResults::ByReaders) {
      set_shared(facts_of_key.near_bytes, kernel);
    } else if (counted == CountedResults::AmongThreads) {
      set_shared(std::min(bytes, kKeptResultBytes), kernel);
    }
    const double large = bytes - kKeptResultBytes;
    if (!(large > 0)) return;
    LeftBehind left = kUnknownLeftBehind;
    if (rows.curve) {
      const double row = counted == CountedResults::Left ? 0 : facts_of_key.row_bytes + scratch;
      left = {rows.curve->left_behind(*reuse_bytes, row),
              rows.curve->left_behind_sd(*reuse_bytes, row)};
    }
    kernel.evicted_bytes += left.share * large;
    kernel.evicted_sd_bytes = std::hypot(kernel.evicted_sd_bytes, left.sd * large);
  }

  /// What stays near the core that wrote it is far from the others, whose threads read most of it
  /// where there are many. In a row each thread finds what it wrote and read in the copy before.
  void set_shared(double near_bytes, KernelPrediction& kernel) const {
    const auto threads = static_cast<double>(std::max<std::int64_t>(selection.setting.threads, 1));
    kernel.evicted_bytes = kSharedOverOthers * (1 - 1 / threads) * near_bytes;
    // Seen with two threads alone.
    if (threads > 2) kernel.evicted_sd_bytes = kSharedSd * kernel.evicted_bytes;
  }
};

namespace {

/// That nobody measured which of the model's weights come from memory, where it makes a difference.
void say_assumed_memory(const Selection& selection, Prediction& prediction) {
  constexpr double kWorthAWord = 0.02;  // of the time, as a standard deviation
  if (selection.fit || (selection.memory && selection.memory->last)) return;
  double all_ns = 0;
  double sd_ns = 0;
  for (const KernelPrediction& kernel : prediction.kernels) {
    const double ns = all_ns_of(kernel);
    all_ns += ns;
    sd_ns += kernel.common_sd_log * ns;
  }
  if (!(std::abs(sd_ns) > kWorthAWord * all_ns)) return;
  const std::string_view name = selection.device.name;
  const std::string sizes =
      selection.device.llc_bytes > 0
          ? fmt::format("reports {} of last-level cache, which nobody measured",
                        base::bytes_text(static_cast<double>(selection.device.llc_bytes)))
          : "does not say how large its caches are";
  prediction.warnings.push_back(fmt::format(
      "{} {}; whether the weights of a model of {} come from memory is assumed, and the interval "
      "is wider; oplat profile measures it in a minute or more",
      base::printable(name, 80), sizes, base::bytes_text(prediction.reuse_bytes)));
}

}  // namespace

Predictor::Predictor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::create(const table::Table& table, Selection selection,
                                    std::optional<estimate::Profile> profile) {
  assert(selection.catalogue != nullptr);
  auto impl = std::make_unique<Impl>();
  impl->table = &table;
  impl->profile = profile;
  impl->selection = std::move(selection);
  const Selection& chosen = impl->selection;
  const auto curve =
      chosen.fit ? chosen.fit->curve : estimate::default_curve(chosen.device, chosen.memory);
  impl->rows =
      estimate::RowSource{&table, chosen.device_id, chosen.setting_ids, curve, chosen.catalogue};
  impl->others = chosen.fit ? chosen.fit->others() : traffic_before_fit(chosen.memory);
  if (impl->others.bytes_per_ns > 0) {
    if (const auto last = estimate::measured_last_level(chosen.memory))
      impl->rows.foreign = {impl->others.bytes_per_ns, *last};
  }
  OPLAT_TRY(chain, estimate::make_chain(impl->rows, {.profile = profile}));
  impl->chain = std::move(chain);
  impl->exact = estimate::make_exact(impl->rows);
  OPLAT_TRY(view, view_estimate(impl->rows));
  impl->view = std::move(view);
  impl->warnings = chosen.warnings;
  OPLAT_TRY(composition, composition_of(table, chosen, impl->warnings));
  impl->composition = std::move(composition);
  return Predictor(std::move(impl));
}

Asked Predictor::Impl::asked_by(const std::vector<table::PlanKernel>& kernels) const {
  Asked asked{distinct_keys(kernels), {}};
  asked.facts.reserve(asked.distinct.keys.size());
  for (const std::string_view key : asked.distinct.keys) asked.facts.push_back(facts_of(key));
  return asked;
}

Result<Answers> Predictor::Impl::answer(const Asked& asked, std::optional<double> reuse_bytes,
                                        MissingPolicy missing, bool explain,
                                        const estimate::ForeignBytes& foreign) const {
  const std::vector<std::string_view>& keys = asked.distinct.keys;
  std::vector<estimate::Query> queries;
  queries.reserve(keys.size());
  Answers answers(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    queries.push_back({keys[i], reuse_bytes, explain, foreign, asked.facts[i].hash});
    if (asked.facts[i].view) OPLAT_CHECK(estimate_view(queries[i], answers[i]));
  }
  OPLAT_CHECK(estimate::estimate_all(chain, queries, answers));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) answers[i] = node_overhead(keys[i], view);
  }
  // The roofline reads every row of the table: only where something is left to answer.
  if (missing == MissingPolicy::Roofline && any_open(answers)) {
    if (!with_roofline) {
      OPLAT_TRY(longer, estimate::make_chain(rows, {.roofline = true, .profile = std::nullopt}));
      with_roofline = std::move(longer);
    }
    OPLAT_CHECK(estimate::estimate_all(*with_roofline, queries, answers));
  }
  return answers;
}

Result<double> Predictor::Impl::ns_among(const Asked& asked,
                                         const std::vector<table::PlanKernel>& kernels,
                                         double reuse_bytes, MissingPolicy missing,
                                         double foreign_bytes) const {
  OPLAT_TRY(answers, answer(asked, reuse_bytes, missing, false, {foreign_bytes, 0}));
  double ns = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (const auto& known = answers[asked.distinct.of[i]])
      ns += static_cast<double>(kernels[i].count) * known->median_ns;
  }
  return ns;
}

Result<std::vector<KernelPrediction>> Predictor::Impl::predictions(
    const Asked& asked, const Answers& answers, const std::vector<table::PlanKernel>& kernels,
    std::optional<double> reuse_bytes, MissingPolicy missing, bool explain) const {
  // A kernel that could not be measured is estimated like any other, and says so.
  std::vector<std::string> failed(answers.size());
  for (std::size_t i = 0; explain && i < answers.size(); ++i) {
    if (!answers[i] || answers[i]->source == Source::Measured || answers[i]->source == Source::Free)
      continue;
    OPLAT_TRY(said, estimate::row_without_time(rows, asked.distinct.keys[i]));
    if (said) failed[i] = "; its own " + *said;
  }
  if (any_open(answers) && !hint) {
    OPLAT_TRY(found, fit_hint());
    hint = std::move(found);
  }
  std::vector<KernelPrediction> said;
  said.reserve(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const table::PlanKernel& kernel = kernels[i];
    const KeyFacts& said_by_key = asked.facts[asked.distinct.of[i]];
    KernelPrediction& one = said.emplace_back();
    one.name = kernel.name;
    one.key = kernel.key;
    one.count = kernel.count;
    one.inserted_by_runtime = kernel.inserted_by_runtime;
    one.touched_bytes = said_by_key.touched_bytes;
    const double input_bytes = kernel.input_bytes.value_or(0) /
                               static_cast<double>(std::max<std::int64_t>(kernel.count, 1));
    set_evicted(said_by_key, input_bytes, reuse_bytes, one);
    const auto& known = answers[asked.distinct.of[i]];
    if (known) {
      one.latency_ns = known->median_ns;
      one.sd_log = known->sd_log;
      one.common_sd_log = known->common_sd_log;
      one.source = known->source;
      one.group = known->group;
      one.why = known->why;
      one.open_batch = known->tier == estimate::kOpenBatchTier;
      OPLAT_TRY(under_load, is_under_load(*known));
      one.under_load = under_load;
      if (under_load && !known->under_load) {
        OPLAT_TRY(sd, sd_of_load());
        one.sd_log = std::hypot(known->sd_log, sd);
        if (explain) one.why += ", from rows of which many were measured on a busy machine";
      }
      one.why += failed[asked.distinct.of[i]];
      if (const auto& caveat = said_by_key.caveat) {
        one.has_caveat = true;
        one.sd_log = std::hypot(one.sd_log.value_or(0), caveat->sd_log);
        if (explain) one.why += "; " + caveat->reason;
      }
      if (const double sd = said_by_key.value_cost_sd; sd > 0) {
        one.values_sd_log = sd;
        one.sd_log = std::hypot(one.sd_log.value_or(0), sd);
        if (explain) one.why += "; some values take it longer than others";
      }
      // Another setting may need less.
      if (selection.mismatch.empty()) one.floor_ns = known->floor_ns;
      one.in_model_ns = known->in_model_ns;
    } else {
      OPLAT_TRY(why, estimate::why_missing(rows, kernel.key));
      one.why = why + hint->text;
      if (missing == MissingPolicy::Roofline) one.why += "; a roofline is not available either";
      if (missing == MissingPolicy::Zero) one.why += "; counted as zero";
    }
  }
  return said;
}

Result<std::vector<KernelPrediction>> Predictor::estimate(
    const std::vector<table::PlanKernel>& kernels, std::optional<double> reuse_bytes,
    MissingPolicy missing, bool explain, const estimate::ForeignBytes& foreign) const {
  if (reuse_bytes && !(*reuse_bytes >= 0 && std::isfinite(*reuse_bytes)))
    return fail(Code::Usage, "reuse_bytes: {}; expected a finite number of at least 0",
                *reuse_bytes);
  const Asked asked = impl_->asked_by(kernels);
  OPLAT_TRY(answers, impl_->answer(asked, reuse_bytes, missing, explain, foreign));
  return impl_->predictions(asked, answers, kernels, reuse_bytes, missing, explain);
}

Result<bool> Predictor::times_operator(std::string_view key) const { return impl_->times(key); }

namespace {

/// How long something runs while others bring in so many bytes a ns; 0 if that is not finite.
Result<double> ns_among_others(double bytes_per_ns,
                               const std::function<Result<double>(double)>& ns_among) {
  OPLAT_TRY(ns, ns_among(0));
  // What they bring in makes it longer, which lets in more; a third step would add little.
  if (bytes_per_ns > 0 && std::isfinite(ns)) {
    OPLAT_TRY(longer, ns_among(bytes_per_ns * ns));
    ns = longer;
  }
  return std::isfinite(ns) ? ns : 0;
}

}  // namespace

Result<estimate::ForeignBytes> Predictor::foreign_bytes_while(
    const std::function<Result<double>(double)>& ns_among) const {
  const estimate::ForeignBytes in_a_ns = impl_->others.during(1);
  if (!(in_a_ns.mean > 0 || in_a_ns.sd > 0)) return estimate::ForeignBytes();
  OPLAT_TRY(ns, ns_among_others(in_a_ns.mean, ns_among));
  return impl_->others.during(ns);
}

Result<double> Predictor::ns_of(const std::vector<table::PlanKernel>& kernels, double reuse_bytes,
                                MissingPolicy missing, double foreign_bytes_per_ns) const {
  const Asked asked = impl_->asked_by(kernels);
  return ns_among_others(foreign_bytes_per_ns, [&](double foreign_bytes) {
    return impl_->ns_among(asked, kernels, reuse_bytes, missing, foreign_bytes);
  });
}

Result<Prediction> Predictor::predict(const table::Plan& plan, const Options& options) const {
  // Before any work, so that a wrong level is told even where kernels are missing.
  OPLAT_CHECK(interval(1, 0, options.level, {}).map([](const base::Interval&) {}));
  const Selection& selection = impl_->selection;
  Prediction prediction;
  prediction.model = plan.model;
  prediction.level = options.level;
  prediction.policy = options.missing;
  prediction.batch = plan.batch;
  prediction.reuse_bytes = plan.weight_bytes + plan.activation_bytes;
  if (!std::isfinite(prediction.reuse_bytes) || prediction.reuse_bytes < 0)
    return fail(Code::Input,
                "{}: its plan states {} bytes of weights and activations; expected a finite number "
                "of at least 0",
                plan.model, prediction.reuse_bytes);
  prediction.device = selection.device;
  prediction.setting = selection.setting;
  prediction.mismatch = selection.mismatch;
  prediction.warnings = impl_->warnings;
  prediction.table_path = impl_->table->path();
  prediction.schema_version = table::Table::schema_version();
  prediction.plan_source = plan.source;
  prediction.plan_hash = plan.identity;
  prediction.composition = impl_->composition;
  const Asked asked = impl_->asked_by(plan.kernels);
  OPLAT_TRY(foreign, foreign_bytes_while([&](double foreign_bytes) {
              return impl_->ns_among(asked, plan.kernels, prediction.reuse_bytes, options.missing,
                                     foreign_bytes);
            }));
  prediction.composition.foreign_bytes = foreign.mean;
  OPLAT_TRY(answers, impl_->answer(asked, prediction.reuse_bytes, options.missing, options.explain,
                                   foreign));
  OPLAT_TRY(kernels, impl_->predictions(asked, answers, plan.kernels, prediction.reuse_bytes,
                                        options.missing, options.explain));
  prediction.kernels = std::move(kernels);
  if (prediction.composition.counted == CountedResults::All)
    prediction.composition.evicted_bytes = plan.activation_bytes;
  if (is_any_under_load(prediction)) {
    OPLAT_TRY(load_sd, impl_->sd_of_load());
    warn_of_load(prediction, load_sd);
  }
  say_open_batch(prediction);
  say_node_overhead(prediction);
  say_value_caveats(prediction);
  say_value_costs(prediction);
  say_unlike_in_model(prediction);
  if (!options.given_data_decide) say_control_flow(prediction);
  say_steps(prediction);
  say_assumed_memory(selection, prediction);
  OPLAT_CHECK(compose(prediction));
  OPLAT_CHECK(impl_->add_help(prediction));
  return prediction;
}

Result<std::vector<KernelPrediction>> estimate_kernels(
    const table::Table& table, const Selection& selection,
    const std::vector<table::PlanKernel>& kernels, std::optional<double> reuse_bytes,
    MissingPolicy missing, estimate::Profile profile) {
  OPLAT_TRY(predictor, Predictor::create(table, selection, profile));
  return predictor.estimate(kernels, reuse_bytes, missing);
}

Result<Prediction> predict(const table::Table& table, const Selection& selection,
                           const table::Plan& plan, const Options& options) {
  OPLAT_TRY(predictor, Predictor::create(table, selection, options.profile));
  return predictor.predict(plan, options);
}

void set_measured(Prediction& prediction, const MeasuredModel& measured) {
  prediction.measured = measured;
  if (!prediction.interval || !prediction.latency_ns) return;
  if (measured.median_ns >= prediction.interval->low &&
      measured.median_ns <= prediction.interval->high)
    return;
  prediction.warnings.push_back(fmt::format(
      "the table holds a time of this very model, and it is outside the interval: {}{} measured, "
      "{} predicted from its kernels; {}",
      base::duration_text(measured.median_ns), measured.under_load ? " (on a busy machine)" : "",
      base::duration_text(*prediction.latency_ns),
      measured.under_load ? "measure it again: oplat profile --model with --retry-loaded"
                          : "trust the measured one"));
}

std::string missing_text(const Prediction& prediction, std::string_view table) {
  constexpr std::size_t kMaxNamedTypes = 6;
  const auto& types = prediction.help.types;
  std::vector<std::string> parts;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    // One more is named rather than called another.
    if (i < kMaxNamedTypes || types.size() == kMaxNamedTypes + 1)
      parts.push_back(fmt::format("{} {}", types[i].second, types[i].first));
    else
      others += types[i].second;
  }
  if (others > 0) parts.push_back(fmt::format("{} of other operators", others));
  const std::size_t missing = prediction.missing.size();
  return fmt::format("{} of {} kernels {} not in {}: {}", missing, prediction.help.kernels,
                     base::one_or_many(missing, "is", "are"), table, fmt::join(parts, ", "));
}

std::string profile_another(const std::string& table, const table::Setting& setting) {
  std::vector<std::string> words = {"oplat", "profile", "--model", "MODEL"};
  if (!table.empty()) words.insert(words.end(), {"--table", table});
  words.insert(words.end(), {"--runtime", setting.runtime});
  if (setting.threads > 1)
    words.insert(words.end(), {"--threads", std::to_string(setting.threads)});
  if (setting.precision != "model") words.insert(words.end(), {"--precision", setting.precision});
  constexpr std::size_t kWhole = 1 << 16;  // a command is worth nothing cut
  return base::printable(base::shell_command(words), kWhole);
}

std::vector<std::string> missing_remedies(const Prediction& prediction) {
  const MissingHelp& help = prediction.help;
  std::vector<std::string> lines;
  if (help.by_fit > 0 && !help.fit_command.empty())
    lines.push_back(help.by_fit == static_cast<std::int64_t>(prediction.missing.size())
                        ? fmt::format("estimate them: {}", help.fit_command)
                        : fmt::format("estimate {} of them: {}", help.by_fit, help.fit_command));
  if (!help.profile_command.empty())
    lines.push_back(fmt::format("measure them: {}", help.profile_command));
  return lines;
}

Status require_complete(const Prediction& prediction, bool is_reported) {
  if (prediction.latency_ns) return {};
  // A kernel that was tried already is not to be tried again: its row says why it has no time.
  std::unordered_map<std::string_view, std::string_view> refused;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.why.find(kNoTime) != std::string::npos) refused.emplace(kernel.key, kernel.why);
  base::TruncatedList tried(kMaxNamedKeys);
  for (const std::string& key : prediction.missing) {
    const auto at = refused.find(key);
    if (at != refused.end())
      tried.add(fmt::format("{}\n    its {}", base::printable(key, 400),
                            base::printable(at->second, 400)));
  }
  const bool open = tried.count() < prediction.missing.size();
  std::vector<std::string> advice;
  if (!open) {
    advice.emplace_back("they were tried and have no time");
  } else {
    if (tried.count() > 0) advice.push_back(fmt::format("{} were tried", tried.count()));
    const std::vector<std::string> remedies = missing_remedies(prediction);
    if (is_reported && !remedies.empty()) advice.emplace_back("measure or estimate them as above");
    if (!is_reported) advice.insert(advice.end(), remedies.begin(), remedies.end());
    if (prediction.help.profile_command.empty())
      advice.emplace_back(
          "measure them with oplat profile, or with the device's own profiler and oplat import");
  }
  return fail(Code::Missing, "{}: {}; {}; or use --missing roofline{}{}", prediction.model,
              is_reported ? "no latency without the missing kernels"
                          : missing_text(prediction, prediction.table_path.string()),
              fmt::join(advice, "; "), tried.count() > 0 ? ":" : "", tried.text());
}

}  // namespace oplat::predict
