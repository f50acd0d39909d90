// SPDX-License-Identifier: Apache-2.0
/// Questions of the program, times of the table, and the forms of the document.
#include "compat/paddleslim/evaluate.hpp"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "compat/paddleslim/codecs.hpp"

namespace oplat::compat::paddleslim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxEvaluatorTable = std::uint64_t{128} << 20;
constexpr std::size_t kMaxNamedOperators = 20;
constexpr double kEvaluatorNsPerMs = 1e6;

using Times = std::unordered_map<std::string, double>;  ///< operator's text -> ns

Result<Times> read_evaluator_times(const EvaluateRequest& request,
                                   std::vector<std::string>& warnings) {
  OPLAT_TRY(bytes, base::read_file(request.table, kMaxEvaluatorTable));
  const table::TableCodec& codec = evaluator_codec();
  OPLAT_TRY(read, codec.read(bytes, {request.table, "fp32", request.skip_bad_rows}));
  for (const std::string& note : read.notes)
    warnings.push_back(fmt::format("{}: {}: left out", request.table, note));
  Times times;
  for (const table::ForeignRow& row : read.file.rows) {
    const auto* timing = std::get_if<table::Timing>(&row.outcome);
    if (!row.text || timing == nullptr) continue;
    const std::string_view text = *row.text;
    const std::size_t first = text.find_first_not_of(" \r\n");
    times.emplace(text.substr(first, text.find('\t') - first), timing->median_ns);
  }
  return times;
}

EvaluateAnswers answers_of(const EvaluatorQuestions& questions, const Times& times) {
  EvaluateAnswers answers;
  for (const EvaluatorQuestion& question : questions.asked) {
    const auto [at, is_new] = answers.of.try_emplace(question.text);
    ++at->second.count;
    if (!is_new) continue;
    answers.order.push_back(question.text);
    if (const auto found = times.find(question.text); found != times.end())
      at->second.ns = found->second;
  }
  return answers;
}

std::string ms_text(double ns) { return base::float_text(ns / kEvaluatorNsPerMs); }

}  // namespace

std::optional<double> EvaluateAnswers::total_ns() const {
  double total = 0;
  for (const auto& [text, answer] : of) {
    if (!answer.ns) return std::nullopt;
    total += *answer.ns * static_cast<double>(answer.count);
  }
  return total;
}

Result<std::shared_ptr<const EvaluateDocument>> EvaluateDocument::make(
    const EvaluateRequest& request, std::vector<std::string>& warnings) {
  if (request.delimiter.empty())
    return fail(Code::Usage,
                "--delimiter: is empty; give the separator of the fields, such as ','");
  OPLAT_TRY(source, base::Source::open(request.model));
  OPLAT_TRY(reader, formats::reader_for(source));
  if (reader->name() != "paddle") {
    return fail(Code::Input,
                "{}: is a model of the format {}; the evaluator needs a Paddle program",
                request.model, reader->name());
  }
  OPLAT_TRY(graph, reader->read(source, request.shapes));
  auto questions = evaluator_questions(graph, request.only_conv, request.delimiter);
  if (!questions) return fail_in(request.model, questions.error());
  OPLAT_TRY(times, read_evaluator_times(request, warnings));
  EvaluateAnswers answers = answers_of(*questions, times);
  return std::make_shared<const EvaluateDocument>(request, *std::move(questions),
                                                  std::move(answers));
}

std::string EvaluateDocument::text() const {
  std::string text;
  for (const std::string& one : answers_.order) {
    const EvaluateAnswers::Answer& answer = answers_.of.at(one);
    text += fmt::format("{} x {}: {}\n", answer.count, one,
                        answer.ns ? base::float_text(*answer.ns / kEvaluatorNsPerMs) + " ms"
                                  : std::string("not in the table"));
  }
  const auto total = answers_.total_ns();
  text += fmt::format("{}: {} operators, {}\n", base::printable(request_.model, 400),
                      questions_.asked.size(),
                      total ? base::float_text(*total / kEvaluatorNsPerMs) + " ms"
                            : std::string("no latency: operators are missing"));
  if (questions_.passed_over.empty()) return text;
  text += "not counted by this rule:";
  for (const auto& [type, count] : questions_.passed_over)
    text += fmt::format(" {} {}", count, base::printable(type));
  return text + "\n";
}

Json EvaluateDocument::json() const {
  Json json;
  const auto total = answers_.total_ns();
  json["schema"] = "oplat.paddleslim.evaluate/1";
  json["model"] = request_.model;
  json["table"] = request_.table;
  json["only_conv"] = request_.only_conv;
  json["latency_ns"] = total ? Json(*total) : Json();
  json["operators"] = Json::array();
  for (const std::string& text : answers_.order) {
    const EvaluateAnswers::Answer& answer = answers_.of.at(text);
    json["operators"].push_back({{"text", text},
                                 {"count", answer.count},
                                 {"latency_ns", answer.ns ? Json(*answer.ns) : Json()}});
  }
  json["not_counted"] = Json::object();
  for (const auto& [type, count] : questions_.passed_over) json["not_counted"][type] = count;
  return json;
}

report::Sheet EvaluateDocument::sheet() const {
  report::Sheet sheet;
  const auto total = answers_.total_ns();
  sheet.title = "Operators of a text table";
  sheet.facts = {{"model", request_.model},
                 {"table", request_.table},
                 {"latency", total ? ms_text(*total) + " ms" : "none: operators are missing"}};
  std::string left_out;
  for (const auto& [type, count] : questions_.passed_over)
    left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", count, type);
  sheet.facts.emplace_back("not counted by this rule", left_out);
  sheet.columns = {{"operator"}, {"count", true}, {"latency_ms", true}};
  for (const std::string& text : answers_.order) {
    const EvaluateAnswers::Answer& answer = answers_.of.at(text);
    sheet.rows.push_back(
        {text, std::to_string(answer.count), answer.ns ? ms_text(*answer.ns) : std::string()});
  }
  return sheet;
}

Status EvaluateDocument::require_answers() const {
  base::TruncatedList missing(kMaxNamedOperators);
  for (const std::string& text : answers_.order) {
    const EvaluateAnswers::Answer& answer = answers_.of.at(text);
    if (!answer.ns) missing.add(fmt::format("{} x {}", answer.count, text));
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{}: distinct operators missing from {}: {}:{}", request_.model,
              request_.table, missing.count(), missing.text());
}

}  // namespace oplat::compat::paddleslim
