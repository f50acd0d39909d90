// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that know no ranks.
#include "ir/operators/forms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/matmul.hpp"
#include "ir/operators/permuted.hpp"
#include "ir/value_costs.hpp"

namespace oplat::ir::ops {
namespace {

/// The axes that a reduction says; empty: all. std::nullopt if they are not known.
std::optional<std::vector<std::int64_t>> axes_of(const Key& key) {
  if (const auto axes = integers(key, "axes")) return axes;
  if (const auto axis = integer(key, "axis")) return std::vector<std::int64_t>{*axis};
  const TensorEntry* operand = key.operand(1);
  return operand == nullptr ? std::vector<std::int64_t>{} : numbers_of(operand);
}

/// ir::Work::steps of an element: added to others that are far apart; computed by a function that
/// has no vectors. Nanoseconds of a Zen 5, PRelu's of random signs; from Acos on of a Zen 4
/// (160,000 numbers between -1 and 1, Mod with fmod; ONNX Runtime 1.31.1, 2026-11-30).
constexpr double kStepsAcross = 0.26;
/// More for each line beyond those that a first-level cache keeps of a set, which are read again
/// and again: up to so many times.
constexpr double kWays = 12;
constexpr double kStepsOfLine = 0.09;
constexpr double kMostStepsOfLines = 5;
constexpr std::pair<std::string_view, double> kStepsOfFunctions[] = {
    {"Elu", 1.4},      {"Celu", 1.7}, {"Selu", 1.4}, {"Log", 1.4},   {"Sin", 1.2},  {"Cos", 1.2},
    {"Softplus", 9.4}, {"PRelu", 4},  {"Acos", 0.6}, {"Acosh", 4.1}, {"Asin", 1.1}, {"Asinh", 21},
    {"Atan", 0.95},    {"Atanh", 21}, {"Cosh", 8.1}, {"Mod", 5.8},   {"Sinh", 15},  {"Tan", 11}};
/// Of Pow, but of squares and cubes, which are products.
constexpr double kStepsOfPower = 4.4;
/// Of softmax: a row, and an element of it. Rows of 16, 64, 128, 256 and 384 took 9.6, 17, 26, 47
/// and 71 ns.
constexpr double kStepsOfRow = 7;
constexpr double kStepsOfExponential = 0.165;
/// Of a row that fills no whole number of registers and is written where it is read: the next row
/// waits for it. Rows of 7, 15, 17, 49 and 65 took 22, 26, 25, 28 and 29 ns, such of 10, 21, 38 and
/// 49 whose results have a place of their own 12, 14, 19 and 20.
constexpr double kStepsOfRest = 14;
/// Of a normalised layer: rows of 32, 80, 128 and 384 took 25, 34, 47 and 133 ns, such of 6, 7 and
/// 172 26, 29 and 80.
constexpr double kStepsOfNormalisedRow = 14;
constexpr double kStepsOfNormalised = 0.28;
constexpr double kRegister = 16;  ///< floats of AVX-512
/// Of a run of elements that meet others of a broadcast operand than the run before.
constexpr double kStepsOfRun = 6;
/// And of one that is a single element: 10.6 to 11.4 ns of a Zen 4.
constexpr double kStepsOfOne = 11;
/// Of an element whose place is looked for, where what is reduced lies in several loops.
constexpr double kStepsOfFound = 0.75;
/// And of a sum of integers of 64 bits: 2.7 to 3.3 ns there.
constexpr double kStepsOfLongSum = 3;
/// Of an element of a reduction that never has a fast loop, but where all axes are reduced; of
/// exponentials always: 3.4 to 4.5 ns, of float64 6.3. And of a result: 6,272 of one element each
/// took 19 to 20 us.
constexpr double kStepsByItself = 0.8;
constexpr double kStepsOfItsResult = 2.4;
constexpr double kStepsOfExponentials = 3.9;
constexpr double kStepsOfDoubleExponentials = 6.3;

/// Of a recurrent layer, which reads the weights of its hidden state anew for each element of a
/// sequence, however many sequences there are: 110 to 120 bytes a ns.
constexpr double kBytesOfRecurrenceStep = 110;
/// Of plain RNN with several sequences, which packs those weights anew for each: 17 to 22.
constexpr double kBytesOfPackedStep = 20;
/// Of an element of plain RNN's state, and of its function, which is called for each: rows of Tanh
/// took 7 to 9 ns; without the function, behind a sequence's end, 1.
constexpr double kStepsOfState = 1;
constexpr double kStepsOfCalledFunction = 7;

/// Longest and mean of the lengths in a value: one for all, each, or steps of [length,count].
std::optional<SequenceLengths> lengths_in(const Value& value, double most) {
  const auto inside = [&](std::int64_t length) {
    return std::clamp(static_cast<double>(length), 0.0, most);
  };
  if (const std::int64_t* one = value.integer()) return SequenceLengths{inside(*one), inside(*one)};
  const List* list = value.list();
  if (list == nullptr || list->empty()) return std::nullopt;
  SequenceLengths lengths;
  double sum = 0;
  double all = 0;
  for (const Value& each : *list) {
    const std::int64_t* length = each.integer();
    double count = 1;
    if (const List* pair = each.list()) {
      if (pair->size() != 2 || pair->back().integer() == nullptr) return std::nullopt;
      length = pair->front().integer();
      count = static_cast<double>(*pair->back().integer());
    }
    if (length == nullptr || count < 1) return std::nullopt;
    lengths.longest = std::max(lengths.longest, inside(*length));
    sum += inside(*length) * count;
    all += count;
  }
  lengths.mean = sum / all;
  return lengths;
}

double steps_of_function(const Key& key) {
  if (!key.domain.empty()) return 0;
  if (key.op == "Pow") return is_power_by_products(key) ? 0 : kStepsOfPower;
  // Remainders of integers are divisions (slow_types.cpp).
  if (key.op == "Mod" && integer(key, "fmod").value_or(0) == 0) return 0;
  const auto* const found = std::find_if(std::begin(kStepsOfFunctions), std::end(kStepsOfFunctions),
                                         [&](const auto& each) { return each.first == key.op; });
  return found == std::end(kStepsOfFunctions) ? 0 : found->second;
}

/// ONNX Runtime's fast loops of reductions (core/providers/cpu/reduction/reduction_ops.h) go by the
/// order of kept and reduced axes, those of one element among them: the sum over the first axis of
/// [64,1024] adds rows, that over the second of [1,64,1024] adds numbers 1,024 apart, eight times
/// as long.
bool has_loops_by_rank(const Key& key) {
  constexpr std::string_view kFast[] = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"};
  return key.domain.empty() &&
         std::find(std::begin(kFast), std::end(kFast), key.op) != std::end(kFast);
}

/// Elements of the last loop: those at the end that the same operands have.
double last_run(const std::vector<std::uint32_t>& present, const DimSizes& sizes) {
  std::optional<std::uint32_t> kind;
  double run = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (kind && present[d] != *kind) break;
    kind = present[d];
    run *= sizes[d];
  }
  return run;
}

/// ir::Work::steps of a reduction of so many elements without fast loops.
double steps_by_itself(const Key& key, const std::vector<bool>& reduced, double all) {
  constexpr std::string_view kByItself[] = {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceProd",
                                            "ReduceSumSquare"};
  if (!key.domain.empty()) return 0;
  const auto count = std::count(reduced.begin(), reduced.end(), true);
  if (count == 0) return 0;
  if (key.op == "ReduceLogSumExp") {
    const bool doubles = key.operand(0)->dtype == Dtype::F64;
    return (doubles ? kStepsOfDoubleExponentials : kStepsOfExponentials) * all;
  }
  const bool is_one = std::binary_search(std::begin(kByItself), std::end(kByItself), key.op);
  if (!is_one || count == std::ssize(reduced)) return 0;
  return kStepsByItself * all + kStepsOfItsResult * elements(key.result(0)).value_or(0);
}

/// Of axes one after another that are all kept or all reduced.
struct AxisRun {
  bool reduced = false;
  double length = 1;
};
using AxisRuns = std::vector<AxisRun>;

std::string pattern_of(const AxisRuns& runs) {
  std::string pattern;
  for (const AxisRun& run : runs) pattern += run.reduced ? 'R' : 'K';
  return pattern;
}

/// Whether ONNX Runtime has a fast loop for these runs (CommonFastReduceSwitch; measured for one
/// and two threads in docs/adr/0104).
bool has_fast_loop(std::string_view pattern, const AxisRuns& runs, std::int64_t threads) {
  constexpr double kRowsOfThread = 16;
  constexpr double kLengthOfThread = 256;
  const auto among = static_cast<double>(threads);
  const double fewest = std::max(2.0, among);
  if (pattern == "RK")
    return runs[0].length > kRowsOfThread * among &&
           std::max(runs[0].length, runs[1].length) > kLengthOfThread * among;
  if (pattern == "KRK") return runs[0].length >= fewest;
  if (pattern == "RKR") return runs[1].length >= fewest;
  return true;
}

/// Operators whose operands ONNX Runtime's Broadcaster walks. Sorted.
constexpr std::string_view kBroadcast[] = {
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "PRelu",      "Pow",
    "Sub",        "Sum",         "Where",    "Xor"};
static_assert(std::is_sorted(std::begin(kBroadcast), std::end(kBroadcast)));

/// Whether ONNX Runtime's Broadcaster (core/providers/cpu/math/element_wise_ops.h) takes each
/// element by itself: a run is along the last axis of more than one element among those that all
/// operands have, of which the one with the fewest has so many, or along the last one where that is
/// a scalar. [4096,1] and [1] have none, but [4096,1] and [1,1] have.
bool are_single(const DimSizes& result, std::size_t fewest_axes) {
  const std::size_t shared = std::max<std::size_t>(fewest_axes, 1);
  return fewest_axes < result.size() &&
         ops::product_of(result, result.size() - shared, result.size()) == 1;
}

/// ir::Work::steps of an element of a sum over `rows` rows of so many elements.
double steps_across(const Key& key, double elements, double rows) {
  const auto bits_of = bits(key.operand(0)->dtype);
  const double lines = bits_of ? lines_in_a_set(elements * *bits_of / 8, rows) : 0;
  return kStepsAcross * (1 + std::clamp(kStepsOfLine * (lines - kWays), 0.0, kMostStepsOfLines));
}

/// The rest of a row that fills no register.
double rest_of(double length) { return std::fmod(length, kRegister); }

/// A result that is requantised by a scale for each of its columns, not by one for all, takes twice
/// as long where it has few rows.
bool has_scale_of_each_column(const Key& key) {
  const bool scales_between = second_factor(key) == 3;
  const TensorEntry* scale = key.operand(scales_between ? 4 : 2);
  const auto count = scales_between ? elements(scale) : std::nullopt;
  return count && *count > 1;
}

}  // namespace

std::optional<Description> describe_elementwise(const Key& key) {
  const auto result = sizes_of(key.result(0));
  if (!result || key.operands.size() > kMaxOperands) return std::nullopt;
  std::vector<std::uint32_t> present(result->size(), 0);
  std::size_t fewest_axes = result->size();
  double passes = 0;  // of operands that have fewer axes than the result
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    if (std::holds_alternative<AbsentEntry>(key.operands[i])) continue;
    const auto sizes = sizes_of(key.operand(i));
    if (!sizes || sizes->size() > result->size()) return std::nullopt;
    fewest_axes = std::min(fewest_axes, sizes->size());
    if (sizes->size() < result->size()) ++passes;
    const std::size_t lead = result->size() - sizes->size();
    for (std::size_t d = 0; d < sizes->size(); ++d) {
      if ((*sizes)[d] == 1) continue;
      if ((*sizes)[d] != (*result)[lead + d]) return std::nullopt;
      present[lead + d] |= 1U << i;
    }
  }
  Form form(key);
  form.types();
  add_loops(form, *result, [&](std::size_t i) { return std::to_string(present[i]); });
  const double all = product_of(*result, 0, result->size());
  const double runs = all / last_run(present, *result);
  double between = runs > 1 ? kStepsOfRun * runs : 0;
  const bool broadcasts = key.domain.empty() &&
                          std::binary_search(std::begin(kBroadcast), std::end(kBroadcast), key.op);
  if (broadcasts && all > 1 && are_single(*result, fewest_axes)) {
    form.word("each");
    between = kStepsOfOne * all * passes;
  }
  form.steps(steps_of_function(key) * all + (key.domain.empty() ? between : 0));
  return form.done();
}

std::optional<Description> describe_reduction(const Key& key, std::int64_t threads) {
  const auto sizes = sizes_of(key.operand(0));
  const auto axes = axes_of(key);
  if (!sizes || !axes) return std::nullopt;
  const bool none = axes->empty() && integer(key, "noop_with_empty_axes").value_or(0) != 0;
  std::vector<bool> reduced(sizes->size(), axes->empty() && !none);
  for (const std::int64_t axis : *axes) {
    const auto place = axis_index(axis, sizes->size());
    if (!place) return std::nullopt;
    reduced[*place] = true;
  }
  const bool has_loops = has_loops_by_rank(key);
  AxisRuns runs;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == 1 && !has_loops) continue;
    if (runs.empty() || runs.back().reduced != reduced[i]) runs.push_back({reduced[i], 1});
    runs.back().length *= (*sizes)[i];
  }
  const double all = product_of(*sizes, 0, sizes->size());
  const bool fast = has_loops && has_fast_loop(pattern_of(runs), runs, threads);
  // Each result by itself then, as behind a single image.
  if (has_loops && !fast && pattern_of(runs) == "RK") runs.insert(runs.begin(), AxisRun());
  const std::string pattern = pattern_of(runs);
  // Two reduced loops around one that is kept have a way of their own where others have.
  const bool around_one = pattern == "RKR" && fast;
  Form form(key, {"axes", "axis", "keepdims", "noop_with_empty_axes"});
  form.steps(steps_by_itself(key, reduced, all));
  // Where none are named, all elements are one call.
  if (axes->empty() && !none) form.word("of all");
  // One reduced loop, as nearly all have: what is kept before and behind it may be left out.
  if (pattern == "R" || pattern == "KR" || pattern == "RK" || pattern == "KRK") {
    const bool is_kept_before = pattern.front() == 'K';
    const double behind = pattern.back() == 'K' ? runs.back().length : 1;
    if (pattern == "KRK" && has_loops && !fast)
      form.word("one").steps(steps_across(key, behind, runs[1].length) * all /
                             std::min(static_cast<double>(threads), runs[0].length * behind));
    const double along = runs[is_kept_before ? 1 : 0].length;
    return form.word(pattern)
        .types(1)
        .number(is_kept_before ? runs.front().length : 1)
        .number(along)
        .number(behind)
        .stride(behind, along)
        .aligned()
        .done();
  }
  form.types(1);
  for (const AxisRun& run : runs) form.loop(run.reduced ? "R" : "K", run.length);
  if (runs.empty()) form.loop("one", 1);
  if (runs.size() > 2 && !around_one) {
    const Dtype type = key.operand(0)->dtype;
    const bool sums = key.op == "ReduceSum" || key.op == "ReduceMean";
    const bool longs = type == Dtype::I64 || type == Dtype::U64;
    form.steps((sums && longs ? kStepsOfLongSum : kStepsOfFound) * all);
    if (pattern == "RKR" && has_loops) form.word("one");
  }
  return form.done();
}

std::optional<Description> describe_global_pool(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || sizes->size() < 3) return std::nullopt;
  Form form(key);
  return form.types(1)
      .loop("K", product_of(*sizes, 0, 2))
      .loop("R", product_of(*sizes, 2, sizes->size()))
      .done();
}

std::optional<SequenceLengths> sequence_lengths(const Key& key) {
  constexpr std::size_t kLengths = 4;
  const auto time = dim(key.operand(0), integer(key, "layout").value_or(0) != 0 ? 1 : 0);
  if (!time) return std::nullopt;
  const SequenceLengths all{static_cast<double>(*time), static_cast<double>(*time)};
  const Value* value = value_of(key, kLengths);
  SequenceLengths lengths = all;
  if (value != nullptr) lengths = lengths_in(*value, all.longest).value_or(all);
  // Its products take all of the time axis; what lies behind a sequence is passed over after them.
  if (key.op == "RNN") lengths.longest = all.longest;
  return lengths;
}

std::optional<Description> describe_recurrent(const Key& key) {
  const auto x = sizes_of(key.operand(0));
  const auto weights = sizes_of(key.operand(1));
  const auto hidden = integer(key, "hidden_size");
  if (!x || x->size() != 3 || !weights || weights->size() != 3 || !hidden || *hidden < 1)
    return std::nullopt;
  const bool batch_first = integer(key, "layout").value_or(0) != 0;
  const auto lengths = sequence_lengths(key);
  if (!lengths) return std::nullopt;
  Form form(key, {"activations", "direction", "hidden_size", "layout", "input_forget", "values4"});
  // Which of the last states are results costs nothing next to the steps.
  form.type_of(0).type_of(1);
  // Of one direction; those of two come twice.
  if (const Value* functions = key.attribute("activations");
      functions != nullptr && functions->list() != nullptr) {
    const List& all = *functions->list();
    const auto count = all.size() / static_cast<std::size_t>(std::max(1.0, weights->front()));
    for (std::size_t i = 0; i < std::min(count, all.size()); ++i) form.word(said(all[i]));
  }
  const double batch = (*x)[batch_first ? 0 : 1];
  // A call whose sequences are all empty still makes its results.
  const double steps = std::max(1.0, lengths->longest);
  const TensorEntry* recurrence = key.operand(2);
  const auto recurrent = sizes_of(recurrence);
  const auto bits_of = recurrent ? bits(recurrence->dtype) : std::nullopt;
  // RNN calls its function for each number, the others have vectors.
  const bool plain = key.op == "RNN";
  const double states = weights->front() * batch * static_cast<double>(*hidden);
  const double called =
      plain ? states * (kStepsOfState * steps + kStepsOfCalledFunction * lengths->mean) : 0;
  const double rate = plain && batch > 1 ? kBytesOfPackedStep : kBytesOfRecurrenceStep;
  if (bits_of)
    form.steps(steps * product_of(*recurrent, 0, recurrent->size()) * *bits_of / 8 / rate + called);
  return form.number(weights->front())
      .number(steps)
      .number(batch)
      .number((*x)[2])
      .number(static_cast<double>(*hidden))
      .aligned()
      .done();
}

std::optional<Description> describe_pool(const Key& key, bool channels_last) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  const auto kernel = integers(key, "kernel_shape");
  constexpr std::size_t kImage = 4;
  if (!from || !to || !kernel || from->size() < 3 || to->size() != from->size() ||
      kernel->size() + 2 != from->size())
    return std::nullopt;
  // A signal is an image of one row, a volume one of all its rows.
  const std::size_t first = channels_last ? 1 : 2;
  const std::size_t width = first + kernel->size() - 1;
  const auto stride_list = integers(key, "strides");
  double rows_of_window = 1;
  double strides = 1;  // of the rows
  double strides_across = 1;
  for (std::size_t i = 0; i < kernel->size(); ++i) {
    const double size = static_cast<double>((*kernel)[i]);
    const double stride =
        stride_list && i < stride_list->size() ? static_cast<double>((*stride_list)[i]) : 1;
    if (size < 1 || stride < 1) return std::nullopt;
    if (i + 1 == kernel->size()) {
      strides_across = stride;
    } else {
      rows_of_window *= size;
      strides *= stride;
    }
  }
  const auto pads = integers(key, "pads");
  const bool padded =
      pads && std::any_of(pads->begin(), pads->end(), [](std::int64_t pad) { return pad != 0; });
  // What is counted in the padding changes a division.
  Form form(key, {"kernel_shape", "strides", "pads", "dilations", "ceil_mode", "storage_order",
                  "auto_pad", "count_include_pad"});
  form.types(1);
  if (key.results.size() > 1) form.word("indices");
  if (from->size() > kImage) form.word("volume");
  if (is_dilated(key)) form.word("dilated");
  constexpr std::int64_t kOneByOne = 19;
  if (key.op == "AveragePool" && key.domain.empty() && key.since.value_or(0) >= kOneByOne)
    form.word("one by one");
  // Bytes in the plain layout are compared one by one, and quantised means are summed so.
  const bool is_mean = key.op == "QLinearAveragePool";
  const bool is_plain = !channels_last && key.tag("block") == nullptr;
  if (is_mean || (is_plain && bits(key.operand(0)->dtype) == 8))
    form.steps(product_of(*to, 0, to->size()) * rows_of_window *
               static_cast<double>(kernel->back()));
  const double planes = from->front() * (channels_last ? from->back() : (*from)[1]);
  return form.number(planes)
      .number(product_of(*to, first, width))
      .number((*to)[width])
      .number(rows_of_window)
      .number(static_cast<double>(kernel->back()))
      .number(strides)
      .number(strides_across)
      .number(padded ? 2 : 1)
      .done();
}

std::optional<Description> describe_softmax(const Key& key) {
  const bool along_one = key.since.value_or(kSoftmaxAlongOneAxis) >= kSoftmaxAlongOneAxis;
  const std::int64_t axis = integer(key, "axis").value_or(along_one ? -1 : 1);
  const auto sizes = sizes_of(key.operand(0));
  auto loops = around(key.operand(0), axis);
  if (!sizes || !loops) return std::nullopt;
  if (!along_one) {
    loops->along *= loops->behind;
    loops->behind = 1;
  }
  // Whether the result has memory of its own does not matter to whole registers.
  Form form(key, {"axis"});
  form.type_of(0);
  const double rows = loops->before * loops->behind;
  const bool in_place = loops->behind == 1 && !key.results.empty() &&
                        std::holds_alternative<AliasEntry>(key.results.front());
  const double rest = in_place ? rest_of(loops->along) : 0;
  double steps = (kStepsOfRow + (rest > 0 ? kStepsOfRest : 0)) * rows +
                 kStepsOfExponential * rows * loops->along;
  // Along the last axis nothing is strided, which is another loop. From another one ONNX Runtime
  // transposes: it changes places with the last.
  if (loops->behind > 1) {
    std::vector<std::int64_t> perm(sizes->size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[*axis_index(axis, sizes->size())], perm.back());
    const auto moved = permuted(*sizes, perm);
    const bool each = moved && moved->way == Permuted::Way::EachBlock;
    form.word(each ? "each" : "moved");
    if (each) steps += 2 * kStepsOfBlock * rows * loops->along;
  }
  // What fills no register is computed number by number.
  return form.steps(steps)
      .loop(loops->behind == 1 ? "rows" : "before", loops->before)
      .loop("along", loops->along)
      .loop("behind", loops->behind)
      .loop("rest", 1 + rest)
      .stride(loops->behind, loops->along)
      .done();
}

std::optional<Description> describe_layer_norm(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto place =
      sizes ? axis_index(integer(key, "axis").value_or(-1), sizes->size()) : std::nullopt;
  if (!place) return std::nullopt;
  Form form(key, {"axis", "stash_type"});
  const double rows = product_of(*sizes, 0, *place);
  const double along = product_of(*sizes, *place, sizes->size());
  return form.types()
      .steps((kStepsOfNormalisedRow + (rest_of(along) > 0 ? kStepsOfRest : 0)) * rows +
             kStepsOfNormalised * rows * along)
      .loop("rows", rows)
      .loop("along", along)
      .loop("rest", 1 + rest_of(along))
      .done();
}

std::optional<Description> describe_product(const Key& key) {
  const auto product = contraction_of_product(key);
  if (!product) return std::nullopt;
  // A factor costs nothing next to a product, and sizes of packed weights are among the loops.
  // Constant weights are packed while the session is made, whichever way they lie.
  const TensorEntry* weights = key.operand(second_factor(key));
  const bool packed = weights != nullptr && weights->constant;
  Form form(key, packed ? Names{"alpha", "K", "N", "transB"} : Names{"alpha", "K", "N"},
            Form::Constants::Said);
  form.types();
  if (has_scale_of_each_column(key)) form.word("each column");
  // One operand for all products of a batch is read once.
  return form.word(product->groups > 1 ? "products" : "one")
      .number(product->groups)
      .number(product->out_h)
      .number(product->in_c)
      .number(product->out_c)
      .aligned()
      .done();
}

}  // namespace oplat::ir::ops
