// SPDX-License-Identifier: Apache-2.0
/// Reading, asking and the forms of the document.
#include "compat/mobile_vision/module_document.hpp"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/truncated_list.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNamedModules = 5;

struct ModuleTotals {
  double parameters = 0;
  double macs = 0;
  double latency_us = 0;
};

ModuleTotals totals_of(const std::vector<ModuleLine>& lines,
                       const ModuleDocument::Answers& answers) {
  ModuleTotals totals;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    totals.parameters += static_cast<double>(lines[i].facts.parameters);
    totals.macs += lines[i].facts.macs;
    if (answers[i]) totals.latency_us += answers[i]->latency_us;
  }
  return totals;
}

}  // namespace

Result<std::shared_ptr<const ModuleDocument>> ModuleDocument::make(const ModuleRequest& request) {
  if (request.mirror_bias && request.table.empty())
    return fail(Code::Usage, "--mirror-bias needs a table; set it with --table FILE");
  OPLAT_TRY(source, base::Source::open(request.file));
  OPLAT_TRY(lines, read_module_lines(source, false));
  Answers answers(lines.size());
  if (!request.table.empty()) {
    OPLAT_TRY(table_source, base::Source::open(request.table));
    OPLAT_TRY(entries, read_module_lines(table_source, true));
    const ModuleTable table(entries);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      OPLAT_TRY(answer, table.find(lines[i], request.mirror_bias));
      answers[i] = answer;
    }
  }
  return std::make_shared<const ModuleDocument>(request, std::move(lines), std::move(answers));
}

std::string ModuleDocument::text() const {
  std::string text;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const ModuleLine& line = lines_[i];
    text += fmt::format("{}", line.query.op);
    for (const auto& shape : line.query.input_shapes)
      text += fmt::format(" [{}]", fmt::join(shape, ","));
    text +=
        fmt::format(" -> [{}]  {} parameters, {:.0f} MACs", fmt::join(line.facts.output_shape, ","),
                    line.facts.parameters, line.facts.macs);
    if (!request_.table.empty())
      text += answers_[i] ? fmt::format(", {} us", base::float_text(answers_[i]->latency_us))
                          : ", not in the table";
    if (answers_[i] && answers_[i]->lines > 1)
      text += fmt::format(" (mean of {} entries)", answers_[i]->lines);
    if (answers_[i] && answers_[i]->mirrored) text += " (with the other bias)";
    text += "\n";
  }
  const ModuleTotals totals = totals_of(lines_, answers_);
  text += fmt::format("{} operators: {:.0f} parameters, {:.0f} MACs", lines_.size(),
                      totals.parameters, totals.macs);
  const auto missing =
      std::count_if(answers_.begin(), answers_.end(), [](const auto& answer) { return !answer; });
  if (!request_.table.empty()) {
    text += missing == 0 ? fmt::format(", {} us", base::float_text(totals.latency_us))
                         : fmt::format(", no latency: {} are not in the table", missing);
  }
  return text + "\n";
}

Json ModuleDocument::json() const {
  Json json;
  json["schema"] = "oplat.lut.ops/1";
  json["operators"] = Json::array();
  bool complete = !request_.table.empty();
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const ModuleLine& line = lines_[i];
    Json one;
    one["op"] = line.query.op;
    one["key"] = line.key;
    one["input_shapes"] = line.query.input_shapes;
    one["output_shape"] = line.facts.output_shape;
    one["parameters"] = line.facts.parameters;
    one["weights"] = line.facts.weights;
    one["macs"] = line.facts.macs;
    one["mobile_cv_flops"] = line.facts.mobile_cv_flops;
    one["latency_us"] = answers_[i] ? Json(answers_[i]->latency_us) : Json();
    one["entries"] = answers_[i] ? Json(answers_[i]->lines) : Json(0);
    one["mirrored_bias"] = answers_[i] && answers_[i]->mirrored;
    json["operators"].push_back(std::move(one));
    complete = complete && answers_[i];
  }
  const ModuleTotals totals = totals_of(lines_, answers_);
  json["total"] = {{"parameters", totals.parameters},
                   {"macs", totals.macs},
                   {"latency_us", complete ? Json(totals.latency_us) : Json()}};
  return json;
}

report::Sheet ModuleDocument::sheet() const {
  report::Sheet sheet;
  sheet.title = "Layers of PyTorch models";
  sheet.facts = {{"operators", request_.file}, {"table", request_.table}};
  sheet.columns = {{"op"},
                   {"key"},
                   {"output_shape"},
                   {"parameters", true},
                   {"macs", true},
                   {"latency_us", true},
                   {"entries", true},
                   {"mirrored_bias"}};
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const ModuleLine& line = lines_[i];
    const auto& answer = answers_[i];
    sheet.rows.push_back(
        {line.query.op, line.key, fmt::format("[{}]", fmt::join(line.facts.output_shape, ",")),
         std::to_string(line.facts.parameters), fmt::format("{:.0f}", line.facts.macs),
         answer ? base::float_text(answer->latency_us) : std::string(),
         std::to_string(answer ? answer->lines : 0), answer && answer->mirrored ? "1" : "0"});
  }
  return sheet;
}

Status ModuleDocument::require_found() const {
  if (request_.table.empty()) return {};
  std::set<std::string> seen;
  base::TruncatedList missing(kMaxNamedModules);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (answers_[i] || !seen.insert(lines_[i].key).second) continue;
    missing.add(fmt::format("line {}: {}", lines_[i].line, base::printable(lines_[i].key, 400)));
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{}: distinct operators missing from {}: {}{}:{}", request_.file,
              request_.table, missing.count(),
              request_.mirror_bias ? "" : " (--mirror-bias also uses entries with the other bias)",
              missing.text());
}

}  // namespace oplat::compat::mobile_vision
