// SPDX-License-Identifier: Apache-2.0
/// Which fusion rules plan a model for the rows of a table, and in which precision.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/events.hpp"
#include "formats/format_reader.hpp"
#include "plan/records.hpp"
#include "predict/prediction.hpp"

namespace oplat::app {

/// Names of the rule sets for rows of this runtime, newest first.
std::vector<std::string> rule_sets_for(const std::string& runtime);

struct RuleRequest {
  std::string name;  ///< of the rule set; empty: one of the rows' runtime, of their version where
                     ///< they say it
  formats::ShapeOptions shapes;
  predict::RowFilter rows;  ///< precision: as asked; allow_setting_mismatch
};

/// The precision that the model computes in: "int8" where it quantises, "fp16" where its weights
/// are halves, else "fp32".
std::string model_precision(const ir::Graph& graph);

/// Code::Usage if a model that computes in `held` cannot do so in what is asked: only fp32
/// becomes fp16 on the way.
Status check_precision(const std::string& model, const std::string& held,
                       const std::optional<std::string>& asked);

/// Where several sets may be meant, that with the fewest kernels of operators that the table has no
/// row of, of such the one of which the table holds the most kernels; a warning says so. Precision:
/// as asked, else the model's, or that of the rows where those are of fp16 and the model of fp32.
/// Code::Usage if the model contradicts what is asked; Code::Refused if the rows are of
/// another precision, unless the request allows that: then `selection` gets the mismatch and the
/// kernels are asked for in theirs.
Result<table::Plan> rule_plan(const table::Table& table, predict::Selection& selection,
                              const std::string& model, const RuleRequest& request, Events& events);

}  // namespace oplat::app
