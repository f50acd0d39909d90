// SPDX-License-Identifier: Apache-2.0
/// Sums, errors, and the forms of both documents.
#include "compat/tinynas/conv_document.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/interval.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "compat/tinynas/op_profiler.hpp"
#include "report/csv.hpp"

namespace oplat::compat::tinynas {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNotKnown = "-";
/// A message names this many convolutions without an answer.
constexpr std::size_t kMaxNamedConvs = 5;

std::string number_or_dash(std::optional<double> ms) {
  return ms ? base::float_text(*ms) : std::string(kNotKnown);
}
std::string fixed(std::optional<double> ms) {
  return ms ? fmt::format("{:.6f}", *ms) : std::string(kNotKnown);
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

ordered_json json_tuple(const ConvTuple& conv) {
  return {name(conv.type), conv.stride, conv.fused ? 1 : 0, conv.kernel,
          conv.batch,      conv.in_c,   conv.in_h,          conv.out_c};
}

/// The original's eight fields; groups, of which it knows none, stand at the line's end.
std::string eight_fields(ConvTuple conv) {
  conv.group = 1;
  return tuple_text(conv);
}
std::string group_text(const ConvTuple& conv, std::string_view before) {
  return conv.group == 1 ? std::string() : fmt::format("{}group={}", before, conv.group);
}

/// Where no measured neighbour stands around it, what the answer rests on.
std::string evidence_text(const ConvAnswer& answer) {
  const bool said = (answer.source == "learned" || answer.far) && !answer.why.empty();
  return said ? fmt::format("  ({})", answer.why) : std::string();
}

/// The images of a set of one batch.
std::optional<double> per_image(const ConvPrediction& prediction) {
  if (!prediction.total_ms || !prediction.questions.batch) return std::nullopt;
  return *prediction.total_ms / static_cast<double>(*prediction.questions.batch);
}

std::string total_line(const ConvPrediction& prediction, double level) {
  const ConvQuestions& questions = prediction.questions;
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

/// A line a convolution and one for the sum.
std::string conv_text(const ConvPrediction& prediction, double level) {
  const std::vector<ConvQuestion>& convs = prediction.questions.convs;
  std::size_t width = 4;
  for (const ConvQuestion& question : convs) width = std::max(width, question.name.size());
  std::string text = fmt::format(
      "{:<{}}  {:<9} {:>6} {:>5} {:>6} {:>5} {:>6} {:>5} {:>6} {:>12} {:>12} {:>12}  source\n",
      "name", width, "type", "stride", "fused", "kernel", "batch", "in_c", "in_h", "out_c", "ms",
      "lo", "hi");
  for (std::size_t i = 0; i < convs.size(); ++i) {
    const ConvTuple& conv = convs[i].conv;
    const ConvAnswer& answer = prediction.answers[i];
    text += fmt::format(
        "{:<{}}  {:<9} {:>6} {:>5} {:>6} {:>5} {:>6} {:>5} {:>6} {:>12} {:>12} {:>12}  {}{}\n",
        convs[i].name, width, name(conv.type), conv.stride, conv.fused ? 1 : 0, conv.kernel,
        conv.batch, conv.in_c, conv.in_h, conv.out_c, fixed(answer.ms), fixed(lo(answer.interval)),
        fixed(hi(answer.interval)), answer.source, group_text(conv, "  ") + evidence_text(answer));
  }
  return text + total_line(prediction, level);
}

/// A line a convolution, as --tests has them.
std::string conv_lines(const ConvPrediction& prediction) {
  std::string text;
  for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
    const ConvAnswer& answer = prediction.answers[i];
    const ConvTuple& conv = prediction.questions.convs[i].conv;
    text += fmt::format("{}\t{}\t{}\t{}\t{}{}\n", eight_fields(conv), number_or_dash(answer.ms),
                        number_or_dash(lo(answer.interval)), number_or_dash(hi(answer.interval)),
                        answer.source, group_text(conv, "\t"));
  }
  if (const auto errors = conv_errors(prediction)) {
    text += fmt::format("# convolutions with a measured time\t{}\n", errors->convs);
    text += fmt::format("# average relative error\t{}\n", base::float_text(errors->average));
    text += fmt::format("# maximum relative error\t{}\t{}\n", base::float_text(errors->largest),
                        tuple_text(prediction.questions.convs[errors->worst].conv));
    text += fmt::format("# total ms\t{}\n", base::float_text(errors->total_ms));
    text += fmt::format("# measured total ms\t{}\n", base::float_text(errors->real_total_ms));
  }
  return text;
}

/// The members total_ms, convs and so on of oplat.tinynas/1.
ordered_json conv_json(const ConvPrediction& prediction) {
  ordered_json document;
  const ConvQuestions& questions = prediction.questions;
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
    const ConvQuestion& question = questions.convs[i];
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

/// The columns of a convolution's fields, and its cells.
constexpr std::string_view kConvColumns[] = {"type", "stride", "fused", "kernel", "batch",
                                             "in_c", "in_h",   "out_c", "group"};
void add_conv_columns(report::Sheet& sheet) {
  for (const std::string_view name : kConvColumns)
    sheet.columns.push_back({std::string(name), name != kConvColumns[0]});
}
std::vector<std::string> conv_cells(const std::string& place, const ConvTuple& conv) {
  return {place,
          std::string(name(conv.type)),
          std::to_string(conv.stride),
          conv.fused ? "1" : "0",
          std::to_string(conv.kernel),
          std::to_string(conv.batch),
          std::to_string(conv.in_c),
          std::to_string(conv.in_h),
          std::to_string(conv.out_c),
          std::to_string(conv.group)};
}

}  // namespace

ConvPrediction conv_prediction(ConvQuestions questions, std::vector<ConvAnswer> answers,
                               double level) {
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

std::string ConvDocument::text() const {
  std::string text;
  for (const ConvPrediction& prediction : predictions_)
    text += asked_.tests.empty() ? conv_text(prediction, asked_.level) : conv_lines(prediction);
  return text;
}

ordered_json ConvDocument::json() const {
  ordered_json document;
  document["schema"] = "oplat.tinynas/1";
  document["estimator"] = asked_.original ? "original" : "best";
  if (!asked_.structure.empty()) {
    document["structure"] = asked_.structure;
    document["rules"] = name(asked_.rules);
    document["resolution"] = asked_.resolution;
  } else {
    document["tests"] = asked_.tests;
  }
  document[asked_.of_table ? "table" : "library"] = asked_.rows;
  document["precision"] = asked_.precision;
  document["level"] = asked_.level;
  // One batch is in the document itself; several are a list.
  if (predictions_.size() == 1) {
    document.update(conv_json(predictions_.front()));
  } else {
    for (const ConvPrediction& prediction : predictions_)
      document["batches"].push_back(conv_json(prediction));
  }
  return document;
}

report::Sheet ConvDocument::sheet() const {
  report::Sheet sheet;
  sheet.title = "Predicted convolutions";
  sheet.facts = {{"structure", asked_.structure},
                 {"list", asked_.tests},
                 {asked_.of_table ? "table" : "library", asked_.rows},
                 {"precision", asked_.precision}};
  for (const ConvPrediction& prediction : predictions_) {
    std::string line = total_line(prediction, asked_.level);
    line.pop_back();
    sheet.facts.emplace_back("total", std::move(line));
  }
  sheet.columns = {{"name"}};
  add_conv_columns(sheet);
  for (const char* number_column : {"latency_ms", "low_ms", "high_ms", "measured_ms"})
    sheet.columns.push_back({number_column, true});
  sheet.columns.push_back({"source"});
  sheet.columns.push_back({"why"});
  for (const ConvPrediction& prediction : predictions_) {
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      const ConvQuestion& question = prediction.questions.convs[i];
      const ConvAnswer& answer = prediction.answers[i];
      std::vector<std::string> row = conv_cells(question.name, question.conv);
      for (const auto& ms : {answer.ms, lo(answer.interval), hi(answer.interval), question.real_ms})
        row.push_back(report::csv_number(ms));
      row.push_back(answer.source);
      row.push_back(answer.why);
      sheet.rows.push_back(std::move(row));
    }
  }
  return sheet;
}

std::optional<std::string> ConvDocument::far_answers() const {
  if (asked_.tests.empty()) return std::nullopt;
  std::size_t asked = 0;
  std::size_t far = 0;
  std::string first;
  for (const ConvPrediction& prediction : predictions_) {
    asked += prediction.answers.size();
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      const ConvAnswer& answer = prediction.answers[i];
      if (!answer.far || ++far > 1) continue;
      first = tuple_text(prediction.questions.convs[i].conv) + ": " + answer.why;
    }
  }
  if (far == 0) return std::nullopt;
  std::replace(first.begin(), first.end(), '\t', ' ');
  return fmt::format(
      "{} of {} convolutions are outside the measured range and {}; --json gives the reason of "
      "each, such as: {}",
      far, asked,
      asked_.original ? "have the times of its edge, or of lines that go on beyond it"
                      : "have wider intervals",
      first);
}

Status ConvDocument::require_answers() const {
  std::size_t asked = 0;
  base::TruncatedList missing(kMaxNamedConvs);
  for (const ConvPrediction& prediction : predictions_) {
    asked += prediction.answers.size();
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      if (prediction.answers[i].ms) continue;
      std::string tuple = tuple_text(prediction.questions.convs[i].conv);
      std::replace(tuple.begin(), tuple.end(), '\t', ' ');
      // The original's reasons begin with the eight fields already.
      const std::string& why = prediction.answers[i].why;
      const std::string_view fields = std::string_view(tuple).substr(0, tuple.find(" group="));
      const bool nothing_left = prediction.questions.convs[i].conv.in_h < 1;
      missing.add(fmt::format(
          "{}{}", why.starts_with(fields) ? why : fmt::format("{}: {}", tuple, why),
          nothing_left ? "; the original's rules lead to a size of 0; use --rules corrected" : ""));
    }
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{} of {} convolutions have no time:{}", missing.count(), asked,
              missing.text());
}

std::string ConvListDocument::text() const {
  std::string text;
  for (const NamedConv& one : convs_) text += tuple_text(one.conv) + "\n";
  return text;
}

ordered_json ConvListDocument::json() const {
  ordered_json document;
  document["schema"] = "oplat.tinynas.convs/1";
  document["structure"] = structure_;
  document["resolution"] = resolution_;
  document["rules"] = name(rules_);
  document["convs"] = ordered_json::array();
  for (const NamedConv& one : convs_) {
    ordered_json entry;
    entry["name"] = one.name;
    entry["tuple"] = json_tuple(one.conv);
    entry["group"] = one.conv.group;
    document["convs"].push_back(std::move(entry));
  }
  return document;
}

report::Sheet ConvListDocument::sheet() const {
  report::Sheet sheet;
  sheet.title = "Convolutions of a structure";
  sheet.facts = {{"structure", structure_},
                 {"resolution", std::to_string(resolution_)},
                 {"rules", std::string(name(rules_))}};
  sheet.columns = {{"name"}};
  add_conv_columns(sheet);
  for (const NamedConv& one : convs_) sheet.rows.push_back(conv_cells(one.name, one.conv));
  return sheet;
}

}  // namespace oplat::compat::tinynas
