// SPDX-License-Identifier: Apache-2.0
/// A composition as JSON text and back.
#include "predict/composition_fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace oplat::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxScores = 100'000;
constexpr std::size_t kMaxGroups = 1'000'000;
constexpr double kMaxNs = 1e15;
constexpr double kMaxBytes = 1e18;
constexpr double kMaxRise = 10;
constexpr double kMaxForeignRate = 1e6;  // bytes a ns: no memory has it

Json ramp_json(const estimate::Ramp& ramp) {
  return {{"lo_bytes", ramp.lo_bytes},
          {"hi_bytes", ramp.hi_bytes},
          {"rise_per_octave", ramp.rise_per_octave}};
}

/// Reads fields, keeping the first complaint.
class Reader {
 public:
  double number(const Json& object, const char* name, double least, double most) {
    const auto at = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || at == object.end() || !at->is_number())
      return complain(name, "is not a number");
    const double value = at->get<double>();
    if (!(value >= least && value <= most))
      return complain(name, fmt::format("is {}; expected {} to {}", value, least, most));
    return value;
  }
  estimate::Ramp ramp(const Json& object, const char* name) {
    const auto at = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || at == object.end()) {
      complain(name, "is missing");
      return {};
    }
    estimate::Ramp ramp{number(*at, "lo_bytes", 1, kMaxBytes),
                        number(*at, "hi_bytes", 1, kMaxBytes)};
    if (complaint_.empty() && !(ramp.lo_bytes < ramp.hi_bytes)) complain(name, "does not increase");
    // Fits of earlier versions end there.
    if (complaint_.empty() && at->contains("rise_per_octave"))
      ramp.rise_per_octave = number(*at, "rise_per_octave", 0, kMaxRise);
    return ramp;
  }
  double complain(const char* name, std::string_view what) {
    if (complaint_.empty()) complaint_ = fmt::format("\"{}\" {}", name, what);
    return 0;
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  std::string complaint_;
};

Json optional_json(const std::optional<estimate::Ramp>& ramp) {
  return ramp ? ramp_json(*ramp) : Json(nullptr);
}

/// The covariance's lower triangle, row after row.
CoefficientCovariance read_covariance(const Json& json, Reader& reader) {
  CoefficientCovariance covariance;
  const auto list = json.is_object() ? json.find("covariance") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array() ||
      list->size() != covariance.lower.size()) {
    reader.complain("covariance", fmt::format("is not a list of {}", covariance.lower.size()));
    return covariance;
  }
  for (std::size_t i = 0; i < covariance.lower.size(); ++i) {
    const Json& one = (*list)[i];
    if (!one.is_number() || !(std::abs(one.get<double>()) <= kMaxNs * kMaxNs)) {
      reader.complain("covariance", "holds what is not a number");
      return covariance;
    }
    covariance.lower[i] = one.get<double>();
  }
  constexpr double kRounding = 1 + 1e-6;
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double most = std::sqrt(std::max(0.0, covariance.at(i, i)) * covariance.at(j, j));
      if (covariance.at(i, i) < 0 || std::abs(covariance.at(i, j)) > kRounding * most)
        reader.complain("covariance", "is not one");
    }
  }
  return covariance;
}

std::map<std::string, std::string> read_groups(const Json& json, Reader& reader) {
  std::map<std::string, std::string> groups;
  const auto object = json.find("groups");
  if (object == json.end() || !object->is_object() || object->size() > kMaxGroups) {
    reader.complain("groups", "is not an object of texts");
    return groups;
  }
  for (const auto& [model, group] : object->items()) {
    if (!group.is_string()) {
      reader.complain("groups", "holds what is not a text");
      return groups;
    }
    groups.emplace(model, group.get<std::string>());
  }
  return groups;
}

std::string_view format_of(CountedResults counted) {
  switch (counted) {
    case CountedResults::All:
      return kAllResultsFormat;
    case CountedResults::Left:
      return kLeftResultsFormat;
    case CountedResults::LeftBeyondRow:
      return kBytesBeyondRowFormat;
    case CountedResults::WithWide8Bits:
      return kWide8BitsFormat;
    case CountedResults::WithScratch:
      return kScratchFormat;
    case CountedResults::WithInputs:
      return kInputsFormat;
    case CountedResults::AmongThreads:
      return kThreadsFormat;
    case CountedResults::ByReaders:
      break;
  }
  return kCompositionFormat;
}

/// What every format has kept since it had moments, and of the others as much as there is.
MomentSpread read_moments(const Json& json, Reader& reader) {
  MomentSpread moments;
  if (json.contains("moment_sd_log"))
    moments.sd_log = reader.number(json, "moment_sd_log", 0, kMaxSpread);
  if (json.contains("moment_per_reach"))
    moments.per_reach = reader.number(json, "moment_per_reach", 0, kMaxSpread);
  if (const auto ramp = json.find("moment_ramp"); ramp != json.end() && !ramp->is_null())
    moments.last = reader.ramp(json, "moment_ramp");
  return moments;
}

}  // namespace

std::string encode(const CompositionFit& fit) {
  Json curve = nullptr;
  if (fit.curve)
    curve = {{"own", optional_json(fit.curve->own)},
             {"last", ramp_json(fit.curve->last)},
             {"earliest", optional_json(fit.curve->earliest)},
             {"latest", optional_json(fit.curve->latest)}};
  const Json json = {{"schema", format_of(fit.counted)},
                     {"c0_ns", fit.c0_ns},
                     {"c1_ns", fit.c1_ns},
                     {"c2_ns_per_byte", fit.c2_ns_per_byte},
                     {"scale", fit.scale},
                     {"scale_int8", fit.scale_int8},
                     {"curve", curve},
                     {"foreign_bytes_per_ns", fit.foreign_bytes_per_ns},
                     {"foreign_share", fit.foreign_share},
                     {"foreign_share_sd", fit.foreign_share_sd},
                     {"sd_log", fit.sd_log},
                     {"moment_sd_log", fit.moments.sd_log},
                     {"moment_per_reach", fit.moments.per_reach},
                     {"moment_ramp", optional_json(fit.moments.last)},
                     {"covariance", fit.covariance.lower},
                     {"measured_correlation", fit.measured_correlation},
                     {"scores", fit.scores},
                     {"groups", fit.groups}};
  // Names of files need not be UTF-8: those are replaced, and the text stays JSON.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CompositionFit> decode_composition(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return fail(Code::Input, "the table's fit of the composition: {}; run oplat fit", why);
  };
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  const Json schema = json.is_object() ? json.value("schema", Json()) : Json();
  const auto former =
      std::find(kFormerCompositionFormats.begin(), kFormerCompositionFormats.end(), schema);
  const bool current = schema == Json(kCompositionFormat);
  if (!current && former == kFormerCompositionFormats.end()) return bad("is not a known format");
  // Formats are numbered from 1 on.
  const auto number = current ? std::ssize(kFormerCompositionFormats) + 1
                              : kFormerCompositionFormats.end() - former;
  CompositionFit fit;
  Reader reader;
  fit.c0_ns = reader.number(json, "c0_ns", 0, kMaxNs);
  fit.c1_ns = reader.number(json, "c1_ns", -kMaxNs, kMaxNs);
  if (number < 13) fit.counted = CountedResults::AmongThreads;
  if (number < 12) fit.counted = CountedResults::WithInputs;
  if (number < 11) fit.counted = CountedResults::WithScratch;
  if (number < 10) fit.counted = CountedResults::WithWide8Bits;
  if (number < 9) fit.counted = CountedResults::LeftBeyondRow;
  if (number < 8) fit.counted = CountedResults::Left;
  if (number < 7) fit.counted = CountedResults::All;
  if (number >= 6) fit.groups = read_groups(json, reader);
  if (number >= 5) fit.covariance = read_covariance(json, reader);
  if (number >= 4) fit.c2_ns_per_byte = reader.number(json, "c2_ns_per_byte", 0, kMaxNs);
  if (number >= 2) fit.scale = reader.number(json, "scale", kMinScale, kMaxScale);
  fit.scale_int8 =
      number >= 3 ? reader.number(json, "scale_int8", kMinScale, kMaxScale) : fit.scale;
  fit.sd_log = reader.number(json, "sd_log", 0, kMaxSpread);
  if (json.contains("foreign_bytes_per_ns"))
    fit.foreign_bytes_per_ns = reader.number(json, "foreign_bytes_per_ns", 0, kMaxForeignRate);
  if (json.contains("foreign_share"))
    fit.foreign_share = reader.number(json, "foreign_share", 0, 1);
  if (json.contains("foreign_share_sd"))
    fit.foreign_share_sd = reader.number(json, "foreign_share_sd", 0, 1);
  fit.moments = read_moments(json, reader);
  fit.measured_correlation = reader.number(json, "measured_correlation", 0, 1);
  if (const auto curve = json.find("curve"); curve != json.end() && !curve->is_null()) {
    fit.curve.emplace();
    fit.curve->last = reader.ramp(*curve, "last");
    const auto optional_ramp = [&](const char* name) -> std::optional<estimate::Ramp> {
      if (!curve->is_object() || !curve->contains(name) || (*curve)[name].is_null()) return {};
      return reader.ramp(*curve, name);
    };
    fit.curve->own = optional_ramp("own");
    fit.curve->earliest = optional_ramp("earliest");
    fit.curve->latest = optional_ramp("latest");
  }
  const auto scores = json.find("scores");
  if (scores == json.end() || !scores->is_array() || scores->size() > kMaxScores)
    return bad("\"scores\" is not a list");
  for (const Json& score : *scores) {
    if (!score.is_number() || !(score.get<double>() >= 0) || !std::isfinite(score.get<double>()))
      return bad("a score is not a number of at least 0");
    fit.scores.push_back(score.get<double>());
  }
  std::sort(fit.scores.begin(), fit.scores.end());
  if (!reader.complaint().empty()) return bad(reader.complaint());
  return fit;
}

}  // namespace oplat::predict
