// SPDX-License-Identifier: Apache-2.0
/// oplat lut ops FILE: layers of PyTorch models, as mobile_cv's lut asks for them.
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "cli/text_output.hpp"
#include "compat/mobile_vision/module_lines.hpp"

namespace oplat::cli {
namespace {

using Json = nlohmann::ordered_json;
using Answers = std::vector<std::optional<compat::mobile_vision::ModuleTable::Answer>>;

constexpr std::size_t kMaxNamed = 5;

struct LutOpsFlags {
  std::string file;
  std::string table;
  bool mirror_bias = false;
  bool json = false;
};

struct Totals {
  double parameters = 0;
  double macs = 0;
  double latency_us = 0;
};

Totals totals_of(const std::vector<compat::mobile_vision::ModuleLine>& lines,
                 const Answers& answers) {
  Totals totals;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    totals.parameters += static_cast<double>(lines[i].facts.parameters);
    totals.macs += lines[i].facts.macs;
    if (answers[i]) totals.latency_us += answers[i]->latency_us;
  }
  return totals;
}

std::string text_of(const std::vector<compat::mobile_vision::ModuleLine>& lines,
                    const Answers& answers, const LutOpsFlags& flags) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const compat::mobile_vision::ModuleLine& line = lines[i];
    text += fmt::format("{}", line.query.op);
    for (const auto& shape : line.query.input_shapes)
      text += fmt::format(" [{}]", fmt::join(shape, ","));
    text +=
        fmt::format(" -> [{}]  {} parameters, {:.0f} MACs", fmt::join(line.facts.output_shape, ","),
                    line.facts.parameters, line.facts.macs);
    if (!flags.table.empty())
      text += answers[i] ? fmt::format(", {} us", base::float_text(answers[i]->latency_us))
                         : ", not in the table";
    if (answers[i] && answers[i]->lines > 1)
      text += fmt::format(" (mean of {} entries)", answers[i]->lines);
    if (answers[i] && answers[i]->mirrored) text += " (with the other bias)";
    text += "\n";
  }
  const Totals totals = totals_of(lines, answers);
  text += fmt::format("{} operators: {:.0f} parameters, {:.0f} MACs", lines.size(),
                      totals.parameters, totals.macs);
  if (!flags.table.empty()) text += fmt::format(", {} us", base::float_text(totals.latency_us));
  return text + "\n";
}

Json json_of(const std::vector<compat::mobile_vision::ModuleLine>& lines, const Answers& answers,
             const LutOpsFlags& flags) {
  Json json;
  json["schema"] = "oplat.lut.ops/1";
  json["operators"] = Json::array();
  bool complete = !flags.table.empty();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const compat::mobile_vision::ModuleLine& line = lines[i];
    Json one;
    one["op"] = line.query.op;
    one["key"] = line.key;
    one["input_shapes"] = line.query.input_shapes;
    one["output_shape"] = line.facts.output_shape;
    one["parameters"] = line.facts.parameters;
    one["weights"] = line.facts.weights;
    one["macs"] = line.facts.macs;
    one["mobile_cv_flops"] = line.facts.mobile_cv_flops;
    one["latency_us"] = answers[i] ? Json(answers[i]->latency_us) : Json();
    one["entries"] = answers[i] ? Json(answers[i]->lines) : Json(0);
    one["mirrored_bias"] = answers[i] && answers[i]->mirrored;
    json["operators"].push_back(std::move(one));
    complete = complete && answers[i];
  }
  const Totals totals = totals_of(lines, answers);
  json["total"] = {{"parameters", totals.parameters},
                   {"macs", totals.macs},
                   {"latency_us", complete ? Json(totals.latency_us) : Json()}};
  return json;
}

Status require_found(const std::vector<compat::mobile_vision::ModuleLine>& lines,
                     const Answers& answers, const LutOpsFlags& flags) {
  std::set<std::string> seen;
  base::TruncatedList missing(kMaxNamed);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (answers[i] || !seen.insert(lines[i].key).second) continue;
    missing.add(fmt::format("line {}: {}", lines[i].line, base::printable(lines[i].key, 400)));
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{}: distinct operators missing from {}: {}{}:{}", flags.file,
              flags.table, missing.count(),
              flags.mirror_bias ? "" : " (--mirror-bias also uses entries with the other bias)",
              missing.text());
}

Result<int> run_lut_ops(const LutOpsFlags& flags) {
  if (flags.mirror_bias && flags.table.empty())
    return fail(Code::Usage, "--mirror-bias needs a table; set it with --table FILE");
  OPLAT_TRY(source, base::Source::open(flags.file));
  OPLAT_TRY(lines, compat::mobile_vision::read_module_lines(source, false));
  Answers answers(lines.size());
  if (!flags.table.empty()) {
    OPLAT_TRY(table_source, base::Source::open(flags.table));
    OPLAT_TRY(entries, compat::mobile_vision::read_module_lines(table_source, true));
    const compat::mobile_vision::ModuleTable table(entries);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      OPLAT_TRY(answer, table.find(lines[i], flags.mirror_bias));
      answers[i] = answer;
    }
  }
  if (flags.json) {
    print_json(json_of(lines, answers, flags));
  } else {
    OPLAT_CHECK(put_text("", text_of(lines, answers, flags)));
  }
  if (!flags.table.empty()) OPLAT_CHECK(require_found(lines, answers, flags));
  return kDone;
}

}  // namespace

void add_lut_ops(const Command& group) {
  const Command command = group.add_subcommand(
      "ops", "list output shapes, parameters, multiply-adds and latencies of PyTorch layers");
  const auto flags = std::make_shared<LutOpsFlags>();
  command.add_option("FILE", flags->file, "operators as JSON Lines, one a line").required();
  command
      .add_option("--table", flags->table,
                  "latency table: JSON Lines of operators with \"latency_us\"")
      .type_name("FILE");
  command.add_flag("--mirror-bias", flags->mirror_bias,
                   "use an entry with a bias for the layer without one, and the reverse");
  command.add_flag("--json", flags->json, "print JSON");
  command.footer(
      R"(
A line of FILE: {"op": "Conv2d", "args": {"in_channels": 3, "out_channels": 32, "kernel_size": 3},
"input_shapes": [[1,3,224,224]]}. Arguments and defaults are those of PyTorch's modules.
Operators: Conv1d to 3d, ConvTranspose1d to 3d, Linear, AdaptiveAvgPool1d to 3d, AvgPool1d to 3d,
MaxPool1d to 3d, MatMul, MultiheadAttention. Equal entries of the table are averaged.
'mobile_cv_flops' of --json counts as mobile_cv does.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed, or an operator is unknown; 4
operators that the table lacks.
Example: oplat lut ops net.jsonl --table phone.jsonl --mirror-bias)");
  command.runs([flags] { return run_lut_ops(*flags); });
}

}  // namespace oplat::cli
