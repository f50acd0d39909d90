// SPDX-License-Identifier: Apache-2.0
/// The forms of the document, and the error at the end.
#include "compat/mobile_vision/lut_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/interval.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxNamedOperators = 10;

std::string between(const base::Interval& interval, double level) {
  return fmt::format("{:.4g} % between {:.4g} and {:.4g}", 100 * level, interval.low,
                     interval.high);
}

std::string answer_text(const LutAnswer& answer, double level) {
  if (!answer.us) return "No match found in the database!\n";
  std::string text = fmt::format("op type {} with input {}\n", answer.query.op_type,
                                 python_lists(answer.query.input_shapes));
  if (answer.times.empty()) {
    const double shown = base::parse_double(fmt::format("{:.4g}", *answer.us)).value_or(*answer.us);
    return text + fmt::format("run_time: [{}] (estimated: {}; {})\n", python_number(shown),
                              answer.source,
                              answer.interval ? between(*answer.interval, level) : "no interval");
  }
  std::string times;
  for (const LutTime& time : answer.times) {
    times += (times.empty() ? "" : ", ") + python_number(time.us, time.whole);
  }
  return text + fmt::format("run_time: [{}]\n", times);
}

std::string total_text(const LutPrediction& prediction, double level) {
  const double total =
      prediction.estimated > 0 ? lut_time_of_ns(prediction.total_us * 1e3).us : prediction.total_us;
  std::string text = fmt::format("The network run-time latency is {}",
                                 python_number(total, prediction.total_whole));
  if (prediction.estimated > 0) {
    text += fmt::format(" ({} of {} operators estimated{})", prediction.estimated,
                        prediction.answers.size(),
                        prediction.interval ? "; " + between(*prediction.interval, level) : "");
  }
  return text + "\n";
}

ordered_json json_interval(const std::optional<base::Interval>& interval) {
  return interval ? ordered_json{interval->low, interval->high} : ordered_json(nullptr);
}

ordered_json json_number(double value, bool whole) {
  return whole ? ordered_json(static_cast<std::int64_t>(value)) : ordered_json(value);
}

ordered_json operator_document(const LutAnswer& answer) {
  ordered_json entry;
  entry["op_type"] = answer.query.op_type;
  entry["op_args"] = answer.query.op_args;
  entry["input_shapes"] = answer.query.input_shapes;
  entry["input_dtypes"] = answer.query.input_dtypes;
  entry["runtime_us"] = ordered_json::array();
  for (const LutTime& time : answer.times)
    entry["runtime_us"].push_back(json_number(time.us, time.whole));
  entry["latency_us"] = answer.us ? json_number(*answer.us, answer.whole) : ordered_json(nullptr);
  entry["interval_us"] = json_interval(answer.interval);
  entry["source"] = answer.source;
  if (!answer.why.empty()) entry["why"] = answer.why;
  return entry;
}

std::string lut_text(const LutPrediction& prediction, double level) {
  std::string text;
  for (const LutAnswer& answer : prediction.answers) text += answer_text(answer, level);
  text += fmt::format("All operators found in the table? {}\n",
                      prediction.found == prediction.answers.size() ? "True" : "False");
  return text + total_text(prediction, level);
}

ordered_json lut_json(const LutPrediction& prediction) {
  ordered_json document;
  document["model"] = prediction.path;
  document["all_found"] = prediction.found == prediction.answers.size();
  document["latency_us"] = prediction.missing() == 0
                               ? json_number(prediction.total_us, prediction.total_whole)
                               : ordered_json(nullptr);
  document["interval_us"] = json_interval(prediction.interval);
  document["known_us"] = json_number(prediction.total_us, prediction.total_whole);
  document["found"] = prediction.found;
  document["estimated"] = prediction.estimated;
  document["missing"] = prediction.missing();
  document["operators"] = ordered_json::array();
  for (const LutAnswer& answer : prediction.answers)
    document["operators"].push_back(operator_document(answer));
  return document;
}

std::string lut_number(std::optional<double> value, bool whole) {
  return value ? python_number(*value, whole) : std::string();
}

}  // namespace

std::string LutDocument::text() const {
  std::string text;
  for (const LutPrediction& prediction : predictions_) text += lut_text(prediction, asked_.level);
  return text;
}

ordered_json LutDocument::json() const {
  ordered_json document;
  document["schema"] = "oplat.lut/1";
  document["device"] = asked_.device;
  document[asked_.of_table ? "table" : "lut"] = asked_.rows;
  document["mode"] = asked_.mode;
  document["estimate"] = asked_.estimate;
  document["level"] = asked_.level;
  document["models"] = ordered_json::array();
  for (const LutPrediction& prediction : predictions_)
    document["models"].push_back(lut_json(prediction));
  return document;
}

report::Sheet LutDocument::sheet() const {
  report::Sheet sheet;
  sheet.title = "Operators of a look-up table";
  sheet.facts = {{"device", asked_.device},
                 {asked_.of_table ? "table" : "look-up table", asked_.rows},
                 {"mode", asked_.mode}};
  for (const LutPrediction& prediction : predictions_) {
    const std::string sum = python_number(prediction.total_us, prediction.total_whole) + " us";
    std::string total = prediction.missing() == 0
                            ? sum
                            : fmt::format("no total: {} operators have no time (the others: {})",
                                          prediction.missing(), sum);
    if (prediction.missing() == 0 && prediction.interval)
      total += fmt::format(" ({:.4g} % between {:.4g} and {:.4g} us)", 100 * asked_.level,
                           prediction.interval->low, prediction.interval->high);
    sheet.facts.emplace_back(
        prediction.path,
        fmt::format("{}; {} of {} operators found, {} estimated", total, prediction.found,
                    prediction.answers.size(), prediction.estimated));
  }
  sheet.columns = {{"model"},
                   {"op_type"},
                   {"op_args"},
                   {"input_shapes"},
                   {"input_dtypes"},
                   {"records", true},
                   {"latency_us", true},
                   {"low_us", true},
                   {"high_us", true},
                   {"source"},
                   {"why"}};
  for (const LutPrediction& prediction : predictions_) {
    for (const LutAnswer& answer : prediction.answers) {
      std::optional<double> low, high;
      if (answer.interval) low = answer.interval->low, high = answer.interval->high;
      sheet.rows.push_back({prediction.path, answer.query.op_type,
                            fmt::format("{}", fmt::join(answer.query.op_args, " ")),
                            python_lists(answer.query.input_shapes),
                            fmt::format("{}", fmt::join(answer.query.input_dtypes, " ")),
                            std::to_string(answer.times.size()),
                            lut_number(answer.us, answer.whole), lut_number(low, false),
                            lut_number(high, false), answer.source, answer.why});
    }
  }
  return sheet;
}

Status LutDocument::require_answers() const {
  std::size_t asked = 0;
  base::TruncatedList missing(kMaxNamedOperators);
  for (const LutPrediction& prediction : predictions_) {
    asked += prediction.answers.size();
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      const LutAnswer& answer = prediction.answers[i];
      if (answer.us) continue;
      std::string query = lut_question_line(answer.query, "");
      query.erase(query.rfind(", \"device\""));
      missing.add(fmt::format("{}: operator {}: {}}}: {}", prediction.path, i + 1, query,
                              base::printable(answer.why, 300)));
    }
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{} of {} operators have no time:{}", missing.count(), asked,
              missing.text());
}

}  // namespace oplat::compat::mobile_vision
