// SPDX-License-Identifier: Apache-2.0
/// Sums, errors, and the three forms.
#include "cli/tinynas/conv_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/interval.hpp"
#include "base/text.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kAbsent = "-";

std::string number(std::optional<double> ms) {
  return ms ? base::float_text(*ms) : std::string(kAbsent);
}
std::string fixed(std::optional<double> ms) {
  return ms ? fmt::format("{:.6f}", *ms) : std::string(kAbsent);
}

std::optional<double> lo(const std::optional<base::Interval>& interval) {
  return interval ? std::optional(interval->low) : std::nullopt;
}
std::optional<double> hi(const std::optional<base::Interval>& interval) {
  return interval ? std::optional(interval->high) : std::nullopt;
}

ordered_json json_interval(const std::optional<base::Interval>& interval) {
  return interval ? ordered_json{interval->low, interval->high} : ordered_json(nullptr);
}
ordered_json json_number(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_tuple(const compat::tinynas::ConvTuple& conv) {
  return {compat::tinynas::name(conv.type),
          conv.stride,
          conv.fused ? 1 : 0,
          conv.kernel,
          conv.batch,
          conv.in_c,
          conv.in_h,
          conv.out_c};
}

/// The original's eight fields; groups, of which it knows none, stand at the line's end.
std::string eight_fields(compat::tinynas::ConvTuple conv) {
  conv.group = 1;
  return compat::tinynas::tuple_text(conv);
}
std::string group_text(const compat::tinynas::ConvTuple& conv, std::string_view before) {
  return conv.group == 1 ? std::string() : fmt::format("{}group={}", before, conv.group);
}

/// Where no measured neighbour stands around it, what the answer rests on.
std::string evidence_text(const ConvAnswer& answer) {
  return answer.source == "learned" && !answer.why.empty() ? fmt::format("  ({})", answer.why)
                                                           : std::string();
}

/// The images of a set of one batch.
std::optional<double> per_image(const ConvPrediction& prediction) {
  if (!prediction.total_ms || !prediction.questions.batch) return std::nullopt;
  return *prediction.total_ms / static_cast<double>(*prediction.questions.batch);
}

std::string total_line(const ConvPrediction& prediction, double level) {
  const compat::tinynas::ConvQuestions& questions = prediction.questions;
  std::string line = questions.batch ? fmt::format("batch {}: ", *questions.batch) : std::string();
  if (!prediction.total_ms) {
    const auto missing = std::count_if(prediction.answers.begin(), prediction.answers.end(),
                                       [](const ConvAnswer& answer) { return !answer.ms; });
    return line + fmt::format("no total, {} of {} convolutions have no time\n", missing,
                              questions.convs.size());
  }
  line += fmt::format("total {:.6f} ms", *prediction.total_ms);
  if (const auto image = per_image(prediction))
    line += fmt::format(", {:.6f} ms per image", *image);
  line += fmt::format(", {} convolutions", questions.convs.size());
  if (prediction.total_interval)
    line += fmt::format("; {:.4g} % between {:.6f} and {:.6f} ms", 100 * level,
                        prediction.total_interval->low, prediction.total_interval->high);
  return line + "\n";
}

}  // namespace

ConvPrediction conv_prediction(compat::tinynas::ConvQuestions questions,
                               std::vector<ConvAnswer> answers, double level) {
  ConvPrediction prediction{std::move(questions), std::move(answers), 0.0, std::nullopt};
  for (const ConvAnswer& answer : prediction.answers) {
    if (!answer.ms) prediction.total_ms.reset();
    if (prediction.total_ms) *prediction.total_ms += *answer.ms;
  }
  if (prediction.total_ms) prediction.total_interval = total_interval(prediction.answers, level);
  return prediction;
}

std::optional<ConvErrors> conv_errors(const ConvPrediction& prediction) {
  ConvErrors errors;
  for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
    const auto& ms = prediction.answers[i].ms;
    const auto& real_ms = prediction.questions.convs[i].real_ms;
    if (!ms || !real_ms) continue;
    const double error = std::abs(*ms - *real_ms) / *real_ms;
    if (errors.convs == 0 || error > errors.largest) {
      errors.largest = error;
      errors.worst = i;
    }
    ++errors.convs;
    errors.average += error;
    errors.total_ms += *ms;
    errors.real_total_ms += *real_ms;
  }
  if (errors.convs == 0) return std::nullopt;
  errors.average /= static_cast<double>(errors.convs);
  return errors;
}

std::string conv_text(const ConvPrediction& prediction, double level) {
  const std::vector<compat::tinynas::ConvQuestion>& convs = prediction.questions.convs;
  std::size_t width = 4;
  for (const compat::tinynas::ConvQuestion& question : convs)
    width = std::max(width, question.name.size());
  std::string text = fmt::format(
      "{:<{}}  {:<9} {:>6} {:>5} {:>6} {:>5} {:>6} {:>5} {:>6} {:>12} {:>12} {:>12}  source\n",
      "name", width, "type", "stride", "fused", "kernel", "batch", "in_c", "in_h", "out_c", "ms",
      "lo", "hi");
  for (std::size_t i = 0; i < convs.size(); ++i) {
    const compat::tinynas::ConvTuple& conv = convs[i].conv;
    const ConvAnswer& answer = prediction.answers[i];
    text += fmt::format(
        "{:<{}}  {:<9} {:>6} {:>5} {:>6} {:>5} {:>6} {:>5} {:>6} {:>12} {:>12} {:>12}  {}{}\n",
        convs[i].name, width, compat::tinynas::name(conv.type), conv.stride, conv.fused ? 1 : 0,
        conv.kernel, conv.batch, conv.in_c, conv.in_h, conv.out_c, fixed(answer.ms),
        fixed(lo(answer.interval)), fixed(hi(answer.interval)), answer.source,
        group_text(conv, "  ") + evidence_text(answer));
  }
  return text + total_line(prediction, level);
}

std::string conv_lines(const ConvPrediction& prediction) {
  std::string text;
  for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
    const ConvAnswer& answer = prediction.answers[i];
    const compat::tinynas::ConvTuple& conv = prediction.questions.convs[i].conv;
    text += fmt::format("{}\t{}\t{}\t{}\t{}{}\n", eight_fields(conv), number(answer.ms),
                        number(lo(answer.interval)), number(hi(answer.interval)), answer.source,
                        group_text(conv, "\t"));
  }
  if (const auto errors = conv_errors(prediction)) {
    text += fmt::format("# convolutions with a measured time\t{}\n", errors->convs);
    text += fmt::format("# average relative error\t{}\n", base::float_text(errors->average));
    text +=
        fmt::format("# maximum relative error\t{}\t{}\n", base::float_text(errors->largest),
                    compat::tinynas::tuple_text(prediction.questions.convs[errors->worst].conv));
    text += fmt::format("# total ms\t{}\n", base::float_text(errors->total_ms));
    text += fmt::format("# measured total ms\t{}\n", base::float_text(errors->real_total_ms));
  }
  return text;
}

ordered_json conv_document(const ConvPrediction& prediction) {
  ordered_json document;
  const compat::tinynas::ConvQuestions& questions = prediction.questions;
  document["batch"] = questions.batch ? ordered_json(*questions.batch) : ordered_json(nullptr);
  document["total_ms"] = json_number(prediction.total_ms);
  document["total_interval_ms"] = json_interval(prediction.total_interval);
  document["ms_per_image"] = json_number(per_image(prediction));
  if (const auto errors = conv_errors(prediction)) {
    document["error"] = {{"convs", errors->convs},
                         {"average_relative", errors->average},
                         {"maximum_relative", errors->largest},
                         {"maximum_tuple", json_tuple(questions.convs[errors->worst].conv)},
                         {"total_ms", errors->total_ms},
                         {"real_total_ms", errors->real_total_ms}};
  }
  ordered_json convs = ordered_json::array();
  for (std::size_t i = 0; i < questions.convs.size(); ++i) {
    const compat::tinynas::ConvQuestion& question = questions.convs[i];
    const ConvAnswer& answer = prediction.answers[i];
    ordered_json conv;
    if (!question.name.empty()) conv["name"] = question.name;
    conv["tuple"] = json_tuple(question.conv);
    // The original's eight fields do not tell it.
    if (question.conv.group != 1) conv["group"] = question.conv.group;
    conv["latency_ms"] = json_number(answer.ms);
    conv["interval_ms"] = json_interval(answer.interval);
    conv["source"] = answer.source;
    if (question.real_ms) conv["real_ms"] = *question.real_ms;
    if (!answer.why.empty()) conv["why"] = answer.why;
    convs.push_back(std::move(conv));
  }
  document["convs"] = std::move(convs);
  return document;
}

}  // namespace oplat::cli
