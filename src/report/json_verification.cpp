// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat verify --json`.
#include "report/json_verification.hpp"

namespace oplat::report {
namespace {

Json row_json(const Verification::Row& row) {
  Json json;
  json["key"] = row.key;
  json["operator"] = row.op;
  json["state"] = row.state;
  json["reuse_bytes"] = row.reuse_bytes;
  json["table"] = json_of(row.before);
  json["now"] = nullptr;
  json["outcome"] = nullptr;
  json["reason"] = nullptr;
  if (row.after) {
    json["outcome"] = table::outcome_name(*row.after);
    std::visit(
        [&](const auto& outcome) {
          if constexpr (requires { outcome.reason; })
            json["reason"] = outcome.reason;
          else
            json["now"] = json_of(outcome);
        },
        *row.after);
  }
  json["ratio"] = number(row.ratio);
  json["ratio_interval"] =
      row.ratio_low && row.ratio_high ? Json{*row.ratio_low, *row.ratio_high} : Json(nullptr);
  json["verdict"] = row.verdict.empty() ? Json(nullptr) : Json(row.verdict);
  json["under_load"] = row.under_load;
  return json;
}

}  // namespace

Json verification_document(const Verification& v) {
  Json rows = Json::array(), classes = Json::array(), facts = Json::array(),
       references = Json::object();
  for (const auto& row : v.rows) rows.push_back(row_json(row));
  for (const auto& one : v.classes) {
    classes.push_back({{"operator", one.op},
                       {"state", one.state},
                       {"rows", one.rows},
                       {"ratio", one.ratio},
                       {"moved", one.moved}});
  }
  for (const auto& fact : v.facts) {
    facts.push_back({{"fact", fact.fact},
                     {"table", fact.recorded},
                     {"here", fact.here},
                     {"decides", fact.decides}});
  }
  for (const auto& reference : v.references) {
    references[reference.name] = {{"table_ns", number(reference.recorded_ns)},
                                  {"now_ns", number(reference.here_ns)}};
  }
  Json json;
  json["schema"] = "oplat.verify/1";
  json["verdict"] = v.verdict;
  json["reasons"] = v.reasons;
  json["ratio"] = number(v.ratio);
  json["ratio_interval"] =
      v.ratio_low && v.ratio_high ? Json{*v.ratio_low, *v.ratio_high} : Json(nullptr);
  json["scatter_log"] = number(v.scatter);
  json["noise_log"] = number(v.noise);
  json["counts"] = {{"chosen", v.rows.size()}, {"compared", v.compared},
                    {"refused", v.refused},    {"left", v.left},
                    {"outlying", v.outlying},  {"under_load", v.under_load}};
  json["classes"] = std::move(classes);
  json["facts"] = std::move(facts);
  json["references"] = std::move(references);
  json["rows"] = std::move(rows);
  json["blocks"] = v.blocks;
  json["processes"] = v.processes;
  json["seconds"] = v.seconds;
  json["budget_ended"] = v.budget_ended;
  json["device"] = json_of(v.device);
  json["setting"] = json_of(v.setting);
  json["warnings"] = v.warnings;
  json["table"] = v.table;
  return json;
}

}  // namespace oplat::report
