// SPDX-License-Identifier: Apache-2.0
/// oplat compare A B
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "oplat/base/text.hpp"
#include "oplat/base/units.hpp"

namespace oplat::cli {
namespace {

struct Flags {
  std::array<std::string, 2> models;
  std::string table;
  ModelOptions model_options;
  QuestionOptions question;
  bool json = false;
  Loudness loudness;
};

std::string side(const predict::Prediction& p) {
  return fmt::format("{}  {} ({} to {}, {:.0f} %)", p.model, base::duration_text(*p.latency_ns), base::duration_text(p.interval->lo_ns),
                     base::duration_text(p.interval->hi_ns), 100 * p.level);
}

Result<int> run(const Flags& flags) {
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_question(flags.question));
  for (const std::string& model : flags.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read));
  OPLAT_TRY(selection, predict::select(table, flags.question.question));
  std::vector<predict::Prediction> both;
  for (const std::string& model : flags.models) {
    OPLAT_TRY(prediction, predict_model(table, selection, model, flags.model_options, flags.question, flags.loudness));
    OPLAT_CHECK(predict::require_complete(prediction));
    if (!prediction.latency_ns || !prediction.interval) return fail(Code::Missing, "{}: no prediction to compare", model);
    both.push_back(std::move(prediction));
  }
  const double ratio = *both[1].latency_ns / *both[0].latency_ns;
  // Both come from one table, whose errors they share: overlapping intervals do not mean equal, but say so.
  const bool apart = both[0].interval->hi_ns < both[1].interval->lo_ns || both[1].interval->hi_ns < both[0].interval->lo_ns;
  if (flags.json) {
    nlohmann::ordered_json models = nlohmann::ordered_json::array();
    for (const auto& p : both) {
      nlohmann::ordered_json mismatch = nlohmann::ordered_json::array();
      for (const auto& one : p.mismatch) mismatch.push_back({{"field", one.field}, {"asked", one.asked}, {"used", one.used}});
      models.push_back({{"model", p.model}, {"latency_ns", *p.latency_ns}, {"interval_ns", {p.interval->lo_ns, p.interval->hi_ns}},
                        {"mismatch", mismatch}, {"warnings", p.warnings}});
    }
    print_json({{"schema", "oplat.comparison/1"}, {"models", models}, {"ratio", ratio}, {"intervals_apart", apart}});
  } else {
    fmt::print("A  {}\nB  {}\nB takes {:.3f} times as long as A{}\n", side(both[0]), side(both[1]), ratio,
               apart ? "" : "; the intervals overlap, so the order is not sure");
  }
  for (const auto& p : both) print_warnings(p.warnings, flags.loudness);
  for (const auto& one : selection.mismatch) {
    fmt::print(stderr, "oplat: mismatch: {}: asked {}, rows are of {}\n", one.field, base::printable(one.asked), base::printable(one.used));
  }
  return kDone;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("compare", "predict two models and say which is faster");
  const auto flags = std::make_shared<Flags>();
  command->add_option("A", flags->models[0], "model file")->required();
  command->add_option("B", flags->models[1], "model file")->required();
  add_table(*command, flags->table);
  add_question_options(*command, flags->question);
  add_model_options(*command, flags->model_options);
  command->add_flag("--json", flags->json, "print JSON");
  add_loudness(*command, flags->loudness);
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace oplat::cli
