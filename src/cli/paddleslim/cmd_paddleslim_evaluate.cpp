// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim evaluate MODEL --table FILE: TableLatencyEvaluator.latency.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "app/model_inputs.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/paddleslim/commands.hpp"
#include "cli/text_output.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/evaluator_operators.hpp"
#include "formats/format_reader.hpp"

namespace oplat::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxTable = std::uint64_t{128} << 20;
constexpr std::size_t kMaxNamed = 20;
constexpr double kEvaluatorNsPerMs = 1e6;

struct PaddleslimEvaluateFlags {
  std::string model;
  std::string table;
  std::string delimiter = ",";
  bool only_conv = true;
  bool skip_bad_rows = false;
  bool json = false;
  ModelOptions model_options;
  Verbosity verbosity;
};

using Times = std::unordered_map<std::string, double>;  ///< operator's text -> ns

Result<Times> read_times(const PaddleslimEvaluateFlags& flags, std::vector<std::string>& warnings) {
  OPLAT_TRY(bytes, base::read_file(flags.table, kMaxTable));
  const table::TableCodec& codec = compat::paddleslim::evaluator_codec();
  OPLAT_TRY(read, codec.read(bytes, {flags.table, "fp32", flags.skip_bad_rows}));
  for (const std::string& note : read.notes)
    warnings.push_back(fmt::format("{}: {}: left out", flags.table, note));
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

struct Answer {
  std::size_t count = 0;
  std::optional<double> ns;
};
/// Distinct questions in the order of the program.
struct Answers {
  std::vector<std::string> order;
  std::map<std::string, Answer> of;
};

Answers answers_of(const compat::paddleslim::EvaluatorQuestions& questions, const Times& times) {
  Answers answers;
  for (const compat::paddleslim::EvaluatorQuestion& question : questions.asked) {
    const auto [at, is_new] = answers.of.try_emplace(question.text);
    ++at->second.count;
    if (!is_new) continue;
    answers.order.push_back(question.text);
    if (const auto found = times.find(question.text); found != times.end())
      at->second.ns = found->second;
  }
  return answers;
}

std::optional<double> total_of(const Answers& answers) {
  double total = 0;
  for (const auto& [text, answer] : answers.of) {
    if (!answer.ns) return std::nullopt;
    total += *answer.ns * static_cast<double>(answer.count);
  }
  return total;
}

Json document_of(const PaddleslimEvaluateFlags& flags,
                 const compat::paddleslim::EvaluatorQuestions& questions, const Answers& answers) {
  Json json;
  const auto total = total_of(answers);
  json["schema"] = "oplat.paddleslim.evaluate/1";
  json["model"] = flags.model;
  json["table"] = flags.table;
  json["only_conv"] = flags.only_conv;
  json["latency_ns"] = total ? Json(*total) : Json();
  json["operators"] = Json::array();
  for (const std::string& text : answers.order) {
    const Answer& answer = answers.of.at(text);
    json["operators"].push_back({{"text", text},
                                 {"count", answer.count},
                                 {"latency_ns", answer.ns ? Json(*answer.ns) : Json()}});
  }
  json["not_counted"] = Json::object();
  for (const auto& [type, count] : questions.passed_over) json["not_counted"][type] = count;
  return json;
}

std::string text_of(const PaddleslimEvaluateFlags& flags,
                    const compat::paddleslim::EvaluatorQuestions& questions,
                    const Answers& answers) {
  std::string text;
  for (const std::string& one : answers.order) {
    const Answer& answer = answers.of.at(one);
    text += fmt::format("{} x {}: {}\n", answer.count, one,
                        answer.ns ? base::float_text(*answer.ns / kEvaluatorNsPerMs) + " ms"
                                  : std::string("not in the table"));
  }
  const auto total = total_of(answers);
  text += fmt::format("{}: {} operators, {}\n", base::printable(flags.model, 400),
                      questions.asked.size(),
                      total ? base::float_text(*total / kEvaluatorNsPerMs) + " ms"
                            : std::string("no latency: operators are missing"));
  if (questions.passed_over.empty()) return text;
  text += "not counted by this rule:";
  for (const auto& [type, count] : questions.passed_over)
    text += fmt::format(" {} {}", count, base::printable(type));
  return text + "\n";
}

Status require_answers(const PaddleslimEvaluateFlags& flags, const Answers& answers) {
  base::TruncatedList missing(kMaxNamed);
  for (const std::string& text : answers.order) {
    const Answer& answer = answers.of.at(text);
    if (!answer.ns) missing.add(fmt::format("{} x {}", answer.count, text));
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{}: distinct operators missing from {}: {}:{}", flags.model,
              flags.table, missing.count(), missing.text());
}

Result<int> run_paddleslim_evaluate(const PaddleslimEvaluateFlags& flags) {
  if (flags.delimiter.empty())
    return fail(Code::Usage,
                "--delimiter: is empty; give the separator of the fields, such as ','");
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_CHECK(app::check_model_file(flags.model));
  OPLAT_TRY(source, base::Source::open(flags.model));
  OPLAT_TRY(reader, formats::reader_for(source));
  if (reader->name() != "paddle") {
    return fail(Code::Input,
                "{}: is a model of the format {}; the evaluator needs a Paddle program",
                flags.model, reader->name());
  }
  OPLAT_TRY(graph, reader->read(source, shapes));
  auto questions = compat::paddleslim::evaluator_questions(graph, flags.only_conv, flags.delimiter);
  if (!questions) return fail_in(flags.model, questions.error());
  std::vector<std::string> warnings;
  OPLAT_TRY(times, read_times(flags, warnings));
  const Answers answers = answers_of(*questions, times);
  print_warnings(warnings, flags.verbosity);
  if (flags.json) {
    print_json(document_of(flags, *questions, answers));
  } else {
    OPLAT_CHECK(put_text("", text_of(flags, *questions, answers)));
  }
  OPLAT_CHECK(require_answers(flags, answers));
  return kDone;
}

constexpr const char* kPaddleslimEvaluateFooter =
    R"(
The table has a head line (engine, device and time), then lines OPERATOR<tab>MS, where OPERATOR is
text such as conv,1,1,1,3,224,224,32,1,3,1,2,1. 'oplat import --format paddle-evaluator' reads it
into a table. As in the original, operators match by that text alone, the batch is 1 whatever the
model's, only convolutions count unless --no-only-conv is set, and fully connected layers ('mul')
count as convolutions. Types that do not count are listed. Nothing is estimated: 'oplat predict' and
'oplat paddleslim predict' do that.
--json prints oplat.paddleslim.evaluate/1.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed; 4 operators that the table lacks (the
text is complete).
Example: oplat paddleslim evaluate mobilenetv1.pdmodel --table phone.txt --batch 1)";

}  // namespace

void add_paddleslim_evaluate(const Command& group) {
  const Command command = group.add_subcommand(
      "evaluate",
      "sum the latencies of a model's operators from a text table, as TableLatencyEvaluator does");
  const auto flags = std::make_shared<PaddleslimEvaluateFlags>();
  command.add_option("MODEL", flags->model, "Paddle program (.pdmodel, __model__, .json)")
      .required();
  command.add_option("--table", flags->table, "text table of TableLatencyEvaluator")
      .type_name("FILE")
      .required();
  command
      .add_option("--delimiter", flags->delimiter, "separator of the fields of an operator's text")
      .capture_default_str();
  command.add_flag("--only-conv,!--no-only-conv", flags->only_conv,
                   "count only convolutions, as the original does by default");
  command.add_flag("--skip-bad-rows", flags->skip_bad_rows,
                   "skip malformed lines of the table, and report them");
  add_model_options(command, flags->model_options);
  command.add_flag("--json", flags->json, "print JSON");
  add_verbosity(command, flags->verbosity);
  command.footer(kPaddleslimEvaluateFooter);
  command.runs([flags] { return run_paddleslim_evaluate(*flags); });
}

}  // namespace oplat::cli
