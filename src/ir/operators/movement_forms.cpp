// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that move data.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/permuted.hpp"

namespace oplat::ir::ops {
namespace {

/// ir::Work::steps of a byte that is looked up in a table: 0.17 to 0.2 ns there.
constexpr double kStepsOfLookup = 0.2;
/// Of a result that is made, however small: 140 to 155 ns there.
constexpr double kStepsOfResult = 140;
/// Of a run of elements that is joined or split off, however short, and of a single element, which
/// loops of their own copy: 2.5 to 2.9, and 0.28 to 0.94 ns there.
constexpr double kStepsOfJoinedRun = 2.7;
constexpr double kStepsOfJoinedOne = 0.3;
/// Channels that are brought together.
constexpr double kReordered = 16;
/// Of an element that is taken out with a step, forwards or backwards: 0.88 ns there.
constexpr double kStepsOfPick = 0.88;
/// Of a run of elements that is copied, however short: 3.6 to 4.3 ns there.
constexpr double kStepsOfSliced = 4;
/// Of a result of Resize there, of 32 and of 8 bits, as images behind each other. What memory
/// decides has none: nearest ones of the blocked layout, and those of twice as many places.
constexpr double kStepsOfLinear = 1.35;
constexpr double kStepsOfLinearByte = 3.4;
constexpr double kStepsOfLinearBlocked = 0.34;
/// With its channels last: a place, and each of its channels.
constexpr double kStepsOfLinearPlace = 8;
constexpr double kStepsOfLinearChannel = 0.15;
constexpr double kStepsOfLinearByteLast = 1.95;
/// Between eight neighbours, as signals are taken, too.
constexpr double kStepsOfTrilinear = 3.1;
constexpr double kStepsOfNearest = 0.43;
constexpr double kStepsOfNearestByte = 1;
/// Of more than four dimensions, whose places are counted up.
constexpr double kStepsOfCounted = 9.7;
/// Looks up its factors, and finds those of a shrunk image less often: 57 to 83, and 204 to 221.
constexpr double kStepsOfCubic = 65;
constexpr double kStepsOfCubicBehind = 2.5;  ///< of elements behind the axes that are resized
constexpr double kStepsOfShrunkCubic = 200;
/// Antialiased: each element that comes in, and each result.
constexpr double kStepsOfFilteredIn = 0.67;
constexpr double kStepsOfFiltered = 2.3;
/// Of a linear one whose neighbours lie in lines that no other result reads: 0.65 more where a
/// side is a fourth, 1.2 where it is an eighth.
constexpr double kStepsOfFarPlace = 0.6;
constexpr double kFarthest = 16;

std::optional<Description> describe_joined(const Key& key, const TensorEntry* joined,
                                           std::size_t parts) {
  const auto loops = around(joined, integer(key, "axis").value_or(0));
  const auto bits_of = loops ? bits(joined->dtype) : std::nullopt;
  if (!bits_of) return std::nullopt;
  const bool single = static_cast<double>(parts) == loops->along * loops->behind;
  const double copies = loops->before * static_cast<double>(parts);
  // The parts have one type, of which only its size matters, and how many there are is a number.
  return Form(key, {"axis", "num_outputs"})
      .steps((single ? kStepsOfJoinedOne : kStepsOfJoinedRun) * copies)
      .loop("before", loops->before)
      .loop("parts", static_cast<double>(parts))
      .loop("bytes from", loops->along * loops->behind * *bits_of / 8)
      .done();
}

/// The step of each axis; std::nullopt if the key does not make sense. Where it holds no steps they
/// are 1, as when such a kernel is measured (ir/operand_values.hpp).
std::optional<std::vector<double>> steps_of_slice(const Key& key, std::size_t rank) {
  constexpr std::size_t kAxes = 3;
  constexpr std::size_t kSteps = 4;
  std::vector<double> steps(rank, 1);
  const auto said = numbers_of(key, kSteps);
  if (!said) return steps;
  if (said->size() > rank) return std::nullopt;
  auto axes = numbers_of(key, kAxes);
  if (key.operand(kAxes) == nullptr) {
    axes.emplace(said->size());
    std::iota(axes->begin(), axes->end(), std::int64_t{0});
  }
  if (!axes) {
    // Another step than 1, along an axis that is not known.
    const bool ones = std::all_of(said->begin(), said->end(), [](auto one) { return one == 1; });
    return ones ? std::optional(steps) : std::nullopt;
  }
  if (axes->size() != said->size()) return std::nullopt;
  for (std::size_t i = 0; i < said->size(); ++i) {
    const auto axis = axis_index((*axes)[i], rank);
    if (!axis || (*said)[i] == 0) return std::nullopt;
    steps[*axis] = static_cast<double>((*said)[i]);
  }
  return steps;
}

/// What decides how long a result of Resize takes.
struct Resized {
  enum class Mode { Nearest, Linear, Cubic };
  Mode mode = Mode::Nearest;
  bool volume = false;  ///< takes the loops of more dimensions than an image has
  bool twice = false;
  bool blocked = false;
  bool filtered = false;     ///< antialiased
  bool behind = false;       ///< the last axis stays as it is
  double bytes = 4;          ///< of an element
  double in = 1;             ///< elements
  double out = 1;            ///< elements
  double channels_last = 0;  ///< how many; 0: images behind each other
};

bool is_word_or_missing(const Key& key, std::string_view name, std::string_view word) {
  return key.attribute(name) == nullptr || is_word(key, name, word);
}

/// From this factor on a result shares no neighbours with the next.
constexpr double kOwnNeighbours = 2;

/// ir::Work::steps. `shrunk`: how many times shorter a side became.
double steps_of_resize(const Resized& resized, double shrunk) {
  if (resized.filtered) return kStepsOfFilteredIn * resized.in + kStepsOfFiltered * resized.out;
  switch (resized.mode) {
    case Resized::Mode::Nearest:
      if (resized.volume) return kStepsOfCounted * resized.out;
      // Memory gives and takes them.
      if (resized.twice || resized.blocked) return 0;
      return (resized.bytes == 1 ? kStepsOfNearestByte : kStepsOfNearest) * resized.out;
    case Resized::Mode::Cubic:
      return (resized.behind ? kStepsOfCubicBehind
              : shrunk > 1   ? kStepsOfShrunkCubic
                             : kStepsOfCubic) *
             resized.out;
    case Resized::Mode::Linear:
      break;
  }
  if (resized.volume) return kStepsOfTrilinear * resized.out;
  if (resized.blocked) return kStepsOfLinearBlocked * resized.out;
  const bool byte = resized.bytes == 1;
  if (resized.channels_last > 0)
    return byte ? kStepsOfLinearByteLast * resized.out
                : (kStepsOfLinearPlace / resized.channels_last + kStepsOfLinearChannel) *
                      resized.out;
  const double far = std::log2(std::clamp(shrunk, kOwnNeighbours, kFarthest) / kOwnNeighbours);
  return ((byte ? kStepsOfLinearByte : kStepsOfLinear) +
          kStepsOfFarPlace * far * resized.bytes / sizeof(float)) *
         resized.out;
}

/// ir::Work::steps of a number of 8 bytes, of which neighbours are written, or read, so many bytes
/// apart in `lines` lines: those that share a set, or a place in their pages, wait for each other.
/// ONNX Runtime 1.31.1, one core of a Zen 4, 2026-11-30: written 256x256 2.7 ns, 128x128 1.6,
/// 512x64 3.0, 512x700 5.6, but 250x250 and 700x512 0.5 and 0.6; read images of 64x64 2.8, of
/// 16x16 2.3, of 8x16 1.4, of 25x25 and 56x56 0.4. Smaller numbers are moved in blocks.
double steps_of_far_numbers(double bytes_apart, double lines, bool written) {
  constexpr double kPage = 4096;
  constexpr double kFew = 8;
  constexpr double kMany = 80;
  if (lines <= kFew) return 0;
  if (std::fmod(bytes_apart, kPage) == 0) return written && lines > kMany ? 5.6 : 2.9;
  if (std::fmod(bytes_apart, kPage / 2) == 0) return 2.5;
  if (std::fmod(bytes_apart, kPage / 4) == 0) return 1.5;
  return written && std::fmod(bytes_apart, kPage / 8) == 0 ? 1.3 : 0;
}

/// Blocks of so many bytes are moved by a load and a store, others by a call.
bool is_number(double bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

}  // namespace

std::optional<Description> describe_transpose(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto perm = integers(key, "perm");
  const auto moved = sizes && perm ? permuted(*sizes, *perm) : std::nullopt;
  const auto bits_of = moved ? bits(key.operand(0)->dtype) : std::nullopt;
  if (!bits_of) return std::nullopt;
  const double bytes = std::ceil(moved->behind * *bits_of / 8);
  // What an element means does not matter, how many bytes move together does.
  Form form(key, {"perm"});
  form.stride(moved->stride, moved->rows);
  switch (moved->way) {
    case Permuted::Way::Copied:
      return form.loop("copied", bytes).done();
    case Permuted::Way::AxisMoved: {
      const double apart = (moved->outwards ? moved->first : moved->second) * bytes;
      const double lines = moved->outwards ? moved->second : moved->first;
      const double each = bytes == sizeof(double)
                              ? steps_of_far_numbers(apart, lines, moved->outwards)
                          : is_number(bytes) ? 0
                                             : kStepsOfBlock;
      return form.word(is_number(bytes) ? fmt::format("axis of {:g}", bytes) : "axis of blocks")
          .steps(each * moved->before * moved->first * moved->second)
          .number(moved->before)
          .number(moved->first)
          .number(moved->second)
          .number(bytes)
          .done();
    }
    case Permuted::Way::EachBlock:
      return form.word(is_number(bytes) ? "each number" : "each block")
          .steps(kStepsOfBlock * moved->blocks)
          .number(moved->blocks)
          .number(moved->axes)
          .number(bytes)
          .done();
  }
  return std::nullopt;
}

std::optional<Description> describe_concat(const Key& key) {
  return describe_joined(key, key.result(0), key.operands.size());
}

std::optional<Description> describe_split(const Key& key) {
  auto split = describe_joined(key, key.operand(0), key.results.size());
  if (split) split->work.steps += kStepsOfResult * static_cast<double>(key.results.size());
  return split;
}

std::optional<Description> describe_qlinear_concat(const Key& key) {
  constexpr std::size_t kTriple = 3;
  if (key.operands.size() < 2) return std::nullopt;
  auto joined = describe_joined(key, key.result(0), (key.operands.size() - 2) / kTriple);
  if (!joined) return std::nullopt;
  // Parts of the result's scale are copied, each byte of the others is looked up.
  double looked_up = 0;  // elements from the axis on
  for (std::size_t i = kTriple; i < key.operands.size(); i += kTriple) {
    const TensorEntry* scale = key.operand(i);
    if (scale == nullptr || !scale->value || scale->value->real() == nullptr) return std::nullopt;
    if (*scale->value->real() == 1) continue;
    const auto part = around(key.operand(i - 1), integer(key, "axis").value_or(0));
    if (!part) return std::nullopt;
    looked_up += part->along * part->behind;
  }
  joined->slice += looked_up > 0 ? " looked up" : " copied";
  joined->numbers.push_back(std::max(1.0, looked_up));
  joined->work.steps += kStepsOfLookup * joined->numbers.front() * looked_up;
  return joined;
}

std::optional<Description> describe_slice(const Key& key) {
  const auto whole = sizes_of(key.operand(0));
  const auto part = sizes_of(key.result(0));
  if (!whole || !part || whole->size() != part->size()) return std::nullopt;
  const auto steps = steps_of_slice(key, whole->size());
  if (!steps) return std::nullopt;
  // What lies behind the last axis that is sliced is copied together, and what lies along it, too,
  // if each comes after the other.
  std::size_t at = whole->size();
  while (at > 0 && (*steps)[at - 1] == 1 && (*whole)[at - 1] == (*part)[at - 1]) --at;
  Form form(key, {"values3", "values4"});
  form.types(1);
  if (at == 0) {
    return form.steps(kStepsOfSliced)
        .loop("runs", 1)
        .loop("long", product_of(*whole, 0, whole->size()))
        .loop("apart", 1)
        .done();
  }
  --at;
  const double step = std::abs((*steps)[at]);
  const bool stepped = (*steps)[at] != 1;
  const double along = (*part)[at];
  const double behind = product_of(*whole, at + 1, whole->size());
  const double before = product_of(*part, 0, at);
  if (stepped && behind == 1) {
    return form.word("each")
        .steps(kStepsOfPick * before * along + kStepsOfSliced * before)
        .loop("rows", before)
        .loop("along", along)
        .loop("step", step)
        .done();
  }
  const double runs = before * (stepped ? along : 1);
  const double apart = stepped ? step : (*whole)[at] / along;
  return form.steps(kStepsOfSliced * runs)
      .loop("runs", runs)
      .loop("long", behind * (stepped ? 1 : along))
      .loop("apart", runs > 1 ? apart : 1)
      .done();
}

std::optional<Description> describe_expand(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() > to->size()) return std::nullopt;
  const std::size_t lead = to->size() - from->size();
  Form form(key);
  form.types(1);
  add_loops(form, *to, [&](std::size_t i) {
    return i >= lead && (*from)[i - lead] == (*to)[i] ? "own" : "repeated";
  });
  return form.done();
}

std::optional<Description> describe_copy(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || key.tag("copied") == nullptr) return std::nullopt;
  Form form(key, {"axis", "axes", "allowzero"});
  return form.types(1).loop("elements", product_of(*sizes, 0, sizes->size())).done();
}

std::optional<Description> describe_gather(const Key& key) {
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(0));
  const auto indices = sizes_of(key.operand(1));
  if (!loops || !indices) return std::nullopt;
  const double count = product_of(*indices, 0, indices->size());
  Form form(key, {"axis"}, Form::Constants::Said);
  return form.types()
      .steps(kStepsOfBlock * loops->before * count)
      .loop("before", loops->before)
      .loop("indices", count)
      .loop("behind", loops->behind)
      .loop("axis", loops->along)
      .done();
}

std::optional<Description> describe_resize(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  const auto bits_of = from ? bits(key.operand(0)->dtype) : std::nullopt;
  if (!from || !to || !bits_of || from->size() != to->size() || from->size() < 2)
    return std::nullopt;
  // Images behind each other, or [N, height, width, C].
  const std::size_t rank = from->size();
  const auto same_until = static_cast<std::size_t>(
      std::mismatch(from->begin(), from->end(), to->begin()).first - from->begin());
  const bool last =
      same_until + 2 < rank && rank == 4 && same_until >= 1 && from->back() == to->back();
  const std::size_t rows = last ? 1 : rank - 2;
  Resized resized;
  resized.mode = is_nearest(key)                 ? Resized::Mode::Nearest
                 : is_word(key, "mode", "cubic") ? Resized::Mode::Cubic
                                                 : Resized::Mode::Linear;
  const bool nearest = resized.mode == Resized::Mode::Nearest;
  // Nearest places are copied in a loop of its own where they are twice as many, if each is one of
  // the place before it (upsample.cc).
  Form form(key, nearest ? Names{"scales", "exclude_outside", "cubic_coeff_a"}
                         : Names{"scales", "exclude_outside", "coordinate_transformation_mode",
                                 "nearest_mode"});
  if (is_word(key, "coordinate_transformation_mode", "tf_crop_and_resize")) form.word("cropped");
  if (last) form.word("last");
  resized.volume = nearest ? rank > 4 : rank != 4 && rank != 2;
  if (resized.volume) form.word("volume");
  resized.twice = nearest && !last && rank == 4 && same_until >= rows &&
                  is_word_or_missing(key, "coordinate_transformation_mode", "asymmetric") &&
                  is_word_or_missing(key, "nearest_mode", "floor") &&
                  (*to)[rows] == 2 * (*from)[rows] && (*to)[rows + 1] == 2 * (*from)[rows + 1];
  if (resized.twice) form.word("twice");
  resized.blocked = key.tag("block") != nullptr;
  resized.behind = !resized.blocked && from->back() == to->back() && same_until + 2 < rank;
  resized.filtered = integer(key, "antialias").value_or(0) != 0;
  resized.bytes = *bits_of / 8;
  resized.in = product_of(*from, 0, rank);
  resized.out = product_of(*to, 0, rank);
  resized.channels_last = last ? to->back() : 0;
  // What a result takes is known by how many there are. Enlarged images are read from caches,
  // whatever the factor; in shrunk ones each result has neighbours of its own.
  const double shrunk = std::sqrt(resized.in / resized.out);
  const bool by_factor = resized.filtered || resized.mode == Resized::Mode::Cubic;
  return form.types(1)
      .steps(steps_of_resize(resized, shrunk))
      .loop("images", product_of(*to, 0, rows) * (last ? to->back() : 1))
      .loop("height", (*to)[rows])
      .loop("width", (*to)[rows + 1])
      .loop("shrunk", by_factor ? shrunk : std::clamp(shrunk, 1.0, kOwnNeighbours))
      .done();
}

std::optional<Description> describe_reorder(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != 4 || to->size() != 4) return std::nullopt;
  // Only the plain side may have its channels last.
  const bool last = integer(key, "channels_last").value_or(0) != 0;
  const bool into = key.op == "ReorderInput";
  const auto channels = [&](const DimSizes& sizes, bool plain) {
    return sizes[plain && last ? 3 : 1];
  };
  const double before = channels(*from, into);
  const double after = channels(*to, !into);
  Form form(key, {"channels"});
  return form.types(1)
      .loop("batch", from->front())
      .loop("from", before)
      .loop("to", after)
      .loop("places", product_of(*from, 1, 4) / before)
      .stride(last ? 0 : product_of(*from, 1, 4) / before, std::min({before, after, kReordered}))
      .done();
}

}  // namespace oplat::ir::ops
