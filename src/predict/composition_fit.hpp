// SPDX-License-Identifier: Apache-2.0
/// What `oplat fit` learns about sums from whole models, and its record in a table.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "estimate/reuse.hpp"
#include "predict/coefficients.hpp"
#include "predict/moments.hpp"
#include "predict/others.hpp"
#include "predict/spread.hpp"

namespace oplat::predict {

/// latency = c0 + c1 n + c2 * bytes evicted (docs/adr/0090) + scale * sum of the kernels at the
/// model's footprint on this curve, those with 8-bit tensors times scale_int8 (docs/adr/0020); see
/// spread.hpp for the rest.
struct CompositionFit {
  double c0_ns = 0;
  double c1_ns = 0;
  /// what a byte of a result that caches lose takes more than where kernels are measured by
  /// themselves
  double c2_ns_per_byte = 0;
  /// Of a former format, what it counts; WithScratch where plans of its models do not say what they
  /// read of their inputs.
  CountedResults counted = kCountedNow;
  /// of whole models over their kernels, each measured by itself; kMinScale to kMaxScale
  double scale = 1;
  double scale_int8 = 1;  ///< the same of kernels with 8-bit tensors
  std::optional<estimate::ReuseCurve> curve;
  /// What others brought into the last level while rows were measured, and as which share of it
  /// models feel that while they run, 0 to 1 (docs/adr/0091). 0 in former formats.
  double foreign_bytes_per_ns = 0;
  double foreign_share = 0;
  double foreign_share_sd = 0;  ///< standard deviation of what is known of the share
  [[nodiscard]] TrafficOfOthers others() const {
    return {foreign_bytes_per_ns, foreign_share, foreign_share_sd};
  }
  double sd_log = kCompositionSd;
  /// How far apart blocks of one model are: who times a model meets the machine of one moment
  /// (docs/adr/0080, 0090). 0 in fits of earlier versions, and where no model has three blocks.
  MomentSpread moments;
  /// Of the composition as one moment meets it.
  [[nodiscard]] double sd_log_of_a_moment(const Exposure& exposure) const {
    return std::hypot(sd_log, moments.sd_log_of(exposure));
  }
  /// of the coefficients; 0 in fits of former formats, whose many models left little of it
  CoefficientCovariance covariance = {};
  double measured_correlation = kMeasuredCorrelation;
  /// |ln(measured / predicted)| in units of the predicted spread, of each calibration model
  /// predicted from a fit without its group; ascending.
  std::vector<double> scores;
  /// As FitRequest::groups that it was made with, so that the next fit has the same.
  std::map<std::string, std::string> groups = {};
  friend bool operator==(const CompositionFit&, const CompositionFit&) = default;
};

/// Of a spread that a record may hold.
inline constexpr double kMaxSpread = 5;
inline constexpr double kMinScale = 0.01;
inline constexpr double kMaxScale = 100;

/// Name of the format in the table's fit record.
inline constexpr std::string_view kCompositionFormat = "oplat.composition/13";
/// The last one whose c2 is of all bytes of results, the one whose c2 is of those that a model
/// loses whether or not its rows do, the one whose c2 has a byte of 8-bit results count once, the
/// one whose c2 is of results alone, the one whose c2 leaves out what models are given, the one
/// whose c2 is of one thread whatever the setting's, and the one whose c2 is of all that stays near
/// a core, whoever reads it; a fit of that kind is written as one of it.
inline constexpr std::string_view kAllResultsFormat = "oplat.composition/6";
inline constexpr std::string_view kLeftResultsFormat = "oplat.composition/7";
inline constexpr std::string_view kBytesBeyondRowFormat = "oplat.composition/8";
inline constexpr std::string_view kWide8BitsFormat = "oplat.composition/9";
inline constexpr std::string_view kScratchFormat = "oplat.composition/10";
inline constexpr std::string_view kInputsFormat = "oplat.composition/11";
inline constexpr std::string_view kThreadsFormat = "oplat.composition/12";
/// Read too, newest first: as written while c2 was of all that stays near a core, while it was of
/// one thread, while it left out what models are given, while it was of results alone, while bytes
/// of 8-bit results counted once, while c2 was of all bytes that caches lose, while it was of all
/// bytes of results, before groups were kept, before coefficients had a covariance, before there
/// was c2, while one scale stood for all kernels, and before there was a scale.
inline constexpr std::array<std::string_view, 12> kFormerCompositionFormats = {
    kThreadsFormat,        kInputsFormat,         kScratchFormat,        kWide8BitsFormat,
    kBytesBeyondRowFormat, kLeftResultsFormat,    kAllResultsFormat,     "oplat.composition/5",
    "oplat.composition/4", "oplat.composition/3", "oplat.composition/2", "oplat.composition/1"};

/// JSON text (docs/reference/table-format.md), so that it can be read without this program.
std::string encode(const CompositionFit& fit);
/// Code::Input naming what is wrong: an untrusted table may hold anything.
Result<CompositionFit> decode_composition(std::string_view text);

}  // namespace oplat::predict
