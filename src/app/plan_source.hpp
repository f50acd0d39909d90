// SPDX-License-Identifier: Apache-2.0
/// Where a model's kernels come from: the table, the installed runtime, or fusion rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/events.hpp"
#include "app/model_inputs.hpp"
#include "base/result.hpp"
#include "predict/row_selection.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// What may make the plan.
enum class PlanFrom : std::uint8_t {
  Auto,     ///< the table's own plan, else the installed runtime, else rules if oplat has no
            ///< worker for the rows' runtime
  Cached,   ///< the table's own plan
  Runtime,  ///< the installed runtime
  Rules,    ///< fusion rules: what the runtime's optimiser does, as data
};

struct PlanSource {
  PlanFrom from = PlanFrom::Auto;
  std::string rules = {};  ///< of PlanFrom::Rules: name or file of the rule set; empty: one for the
                           ///< rows' runtime
  std::string program = {};  ///< oplat's program, which starts the runtime's worker; empty: the one
                             ///< that is running
};

/// "auto", "cached", "runtime", "rules" or "rules:NAME". Code::Usage lists what there is.
Result<PlanSource> parse_plan_source(std::string_view text);

/// A runtime that rows may be asked of: one with a worker or with fusion rules. Code::Runtime names
/// those with a worker.
Status check_rows_runtime(const std::string& name);

/// A model's plan, and the rows that answer for it.
struct ModelPlan {
  table::Plan plan;              ///< `source` says where it comes from
  predict::Selection selection;  ///< the given one, with mismatches that only the model shows
  /// Data that the request gives decide which bodies of the plan run, and how often.
  bool given_data_decide = false;
};

/// The plan of a model under the selected setting. Code::Missing with the ways to get one if there
/// is none. Only PlanFrom::Runtime, and Auto without a stored plan, start a process.
Result<ModelPlan> plan_model(const table::Table& table, const predict::Selection& selection,
                             const std::string& model, const ModelInputs& inputs,
                             const PlanSource& source, const predict::RowFilter& rows,
                             Events& events);

}  // namespace oplat::app
