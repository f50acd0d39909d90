// SPDX-License-Identifier: Apache-2.0
/// From a library to slices, and from slices over ratios and batches to an answer.
#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "compat/tinynas/original/line.hpp"
#include "compat/tinynas/original/predictor.hpp"
#include "compat/tinynas/original/slice.hpp"

namespace oplat::compat::tinynas {
namespace {

/// The original does not load rows of this size.
constexpr std::int64_t kIgnoredSize = 4;
/// Convolutions of an image are slices of their own, whatever their ratio.
constexpr std::int64_t kInputChannels = 3;
constexpr double kImageRatio = 0;

/// What the original calls a key: rows that are never interpolated between.
struct Kind {
  ConvType type = ConvType::Regular;
  std::int64_t stride = 1;
  bool fused = false;
  std::int64_t kernel = 1;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};
Kind kind_of(const ConvTuple& conv) { return {conv.type, conv.stride, conv.fused, conv.kernel}; }
std::string text(const Kind& kind) {
  return fmt::format("{} stride {} fused {} kernel {}", name(kind.type), kind.stride,
                     kind.fused ? 1 : 0, kind.kernel);
}

/// The order of the original's tuples, for messages.
std::string text(const ConvTuple& conv) {
  return fmt::format("{} {} {} {} {} {} {} {}", name(conv.type), conv.stride, conv.fused ? 1 : 0,
                     conv.kernel, conv.batch, conv.in_c, conv.in_h, conv.out_c);
}

/// By ratio In_C / Out_C; depthwise convolutions have one slice, stored at kImageRatio.
using Slices = std::map<double, Slice>;
using Batches = std::map<std::int64_t, Slices>;

double ratio_of(const ConvTuple& conv) {
  return static_cast<double>(conv.in_c) / static_cast<double>(conv.out_c);
}

double slice_ratio(const ConvTuple& conv) {
  if (conv.type == ConvType::Depthwise || conv.in_c == kInputChannels) return kImageRatio;
  return std::trunc(ratio_of(conv) * 100) / 100;
}

/// Numbers of a kind's rows, by name: smallest and largest.
using Ranges = std::map<std::string_view, std::pair<double, double>>;

std::vector<std::pair<std::string_view, double>> numbers_of(const ConvTuple& conv) {
  std::vector<std::pair<std::string_view, double>> numbers{
      {"Batch", static_cast<double>(conv.batch)},
      {"In_H", static_cast<double>(conv.in_h)},
      {"Out_C", static_cast<double>(conv.out_c)}};
  if (slice_ratio(conv) != kImageRatio) numbers.emplace_back("In_C / Out_C", ratio_of(conv));
  return numbers;
}

PlanePoint point_of(const ConvTuple& conv) {
  return {static_cast<double>(conv.out_c), static_cast<double>(conv.in_h)};
}

Result<double> at_slice(const ConvTuple& conv, double ratio, const Slice& slice) {
  auto ms = slice.at(point_of(conv));
  if (!ms)
    return fail(Code::Input,
                "{}: the library's rows of {}, ratio {} cannot be interpolated, and the original "
                "fails to load: {}",
                text(conv), text(kind_of(conv)), ratio, ms.error().message);
  return ms;
}

/// Between the ratios that a library has. Times that do not grow with the ratio are passed over
/// from the third on.
Result<double> between_ratios(const Slices& slices, const ConvTuple& conv) {
  std::vector<double> ratios, times;
  for (const auto& [ratio, slice] : slices) {
    if (ratio == kImageRatio) continue;
    OPLAT_TRY(ms, at_slice(conv, ratio, slice));
    if (ratios.size() >= 2 && ms <= times.back()) continue;
    ratios.push_back(ratio);
    times.push_back(ms);
  }
  if (ratios.empty())
    return fail(Code::Missing,
                "{}: for {} the library has rows with In_C = {} only, where the original raises",
                text(conv), text(kind_of(conv)), kInputChannels);
  const double asked = ratio_of(conv);
  const double ms = line_through(ratios, times, asked);
  return ms < 0 ? asked / ratios.front() * times.front() : ms;
}

Result<double> at_batch(const Slices& slices, const ConvTuple& conv) {
  const bool alone = conv.type == ConvType::Depthwise || conv.in_c == kInputChannels;
  const double ratio = alone ? kImageRatio : ratio_of(conv);
  if (const auto found = slices.find(ratio); found != slices.end())
    return at_slice(conv, ratio, found->second);
  if (alone)
    return fail(
        Code::Missing,
        "{}: for {} the library has no row with In_C = {}, where the original raises (KeyError)",
        text(conv), text(kind_of(conv)), kInputChannels);
  return between_ratios(slices, conv);
}

Result<double> between_batches(const Batches& batches, const ConvTuple& conv) {
  std::vector<double> sizes, times;
  for (const auto& [batch, slices] : batches) {
    OPLAT_TRY(ms, at_batch(slices, conv));
    sizes.push_back(static_cast<double>(batch));
    times.push_back(ms);
  }
  return line_through(sizes, times, static_cast<double>(conv.batch));
}

/// The original triangulates every slice while it loads a library, whatever it is asked then.
Status check_slices(const std::map<Kind, Batches>& kinds) {
  for (const auto& [kind, batches] : kinds) {
    for (const auto& [batch, slices] : batches) {
      for (const auto& [ratio, slice] : slices) {
        if (slice.has_triangle()) continue;
        return fail(Code::Input,
                    "{} of {}, batch {}, In_C / Out_C {}: no three of them span a triangle over "
                    "Out_C and In_H, so the original raises (QhullError) while it loads the "
                    "library; add rows, or use --method best",
                    base::counted(slice.size(), "row"), text(kind), batch,
                    ratio == kImageRatio ? std::string("of an image or depthwise")
                                         : fmt::format("{}", ratio));
      }
    }
  }
  return {};
}

}  // namespace

struct OriginalPredictor::Library {
  std::map<Kind, Batches> kinds;
  std::map<Kind, Ranges> ranges;
};

OriginalPredictor::OriginalPredictor(std::unique_ptr<Library> library)
    : library_(std::move(library)) {}
OriginalPredictor::OriginalPredictor(OriginalPredictor&&) noexcept = default;
OriginalPredictor& OriginalPredictor::operator=(OriginalPredictor&&) noexcept = default;
OriginalPredictor::~OriginalPredictor() = default;

Result<OriginalPredictor> OriginalPredictor::create(std::span<const LibraryTime> rows) {
  auto library = std::make_unique<Library>();
  for (const LibraryTime& row : rows) {
    if (row.conv.in_h == kIgnoredSize || row.ms < 0) continue;
    if (!std::isfinite(row.ms) || row.conv.out_c < 1)
      return fail(Code::Input, "{}: its time {} or its channels are invalid", text(row.conv),
                  row.ms);
    library->kinds[kind_of(row.conv)][row.conv.batch][slice_ratio(row.conv)].add(point_of(row.conv),
                                                                                 row.ms);
    for (const auto& [name, number] : numbers_of(row.conv)) {
      auto& range =
          library->ranges[kind_of(row.conv)].try_emplace(name, number, number).first->second;
      range = {std::min(range.first, number), std::max(range.second, number)};
    }
  }
  if (library->kinds.empty())
    return fail(Code::Input, "none of {} rows has a time and a size other than {}", rows.size(),
                kIgnoredSize);
  OPLAT_CHECK(check_slices(library->kinds));
  return OriginalPredictor(std::move(library));
}

std::string OriginalPredictor::beyond(const ConvTuple& asked) const {
  const ConvTuple conv = named_by_groups(asked);
  const auto ranges = library_->ranges.find(kind_of(conv));
  if (ranges == library_->ranges.end() || conv.out_c < 1) return {};
  std::vector<std::string> far;
  for (const auto& [name, number] : numbers_of(conv)) {
    const auto range = ranges->second.find(name);
    if (range == ranges->second.end()) continue;
    const auto& [min, max] = range->second;
    if (number < min || number > max)
      far.push_back(
          fmt::format("{} of {:.6g} is outside {:.6g} to {:.6g}", name, number, min, max));
  }
  return base::join(far, ", ");
}

Result<double> OriginalPredictor::predict(const ConvTuple& asked) const {
  const ConvTuple conv = named_by_groups(asked);
  if (conv.group != 1)
    return fail(Code::Missing,
                "{}, {} groups: is a grouped convolution, where the original raises (ValueError)",
                text(conv), conv.group);
  if (conv.out_c < 1)
    return fail(Code::Missing, "{}: has no output channels, where the original raises", text(conv));
  const auto kind = library_->kinds.find(kind_of(conv));
  if (kind == library_->kinds.end())
    return fail(Code::Missing,
                "{}: the library has no row of {}, where the original raises (AssertionError)",
                text(conv), text(kind_of(conv)));
  const Batches& batches = kind->second;
  const auto batch = batches.find(conv.batch);
  OPLAT_TRY(
      ms, batch != batches.end() ? at_batch(batch->second, conv) : between_batches(batches, conv));
  if (std::isnan(ms))
    return fail(Code::Missing,
                "{}: the library has only one {}, which does not define a line, where the original "
                "raises (AssertionError)",
                text(conv),
                batch == batches.end() && batches.size() == 1 ? "batch" : "ratio of channels");
  if (ms < 0)
    return fail(Code::Missing,
                "{}: the line through the library's batches leads to {} ms, where the original "
                "raises (AssertionError)",
                text(conv), ms);
  return ms;
}

}  // namespace oplat::compat::tinynas
