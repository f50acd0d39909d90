// SPDX-License-Identifier: Apache-2.0
/// Use case: which setting of a table meets a latency, and what is fastest per image.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/events.hpp"
#include "app/gate.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "report/advice.hpp"

namespace oplat::app {

struct AdviseRequest {
  std::vector<std::string> models;  ///< variants of one network, such as fp32 and int8
  ModelInputs inputs = {};          ///< of every model; its batch is not looked at
  std::string table;                ///< a table of oplat
  /// Which settings; what it leaves open is tried as far as the table has it. Its device is needed
  /// only where the table holds several.
  predict::RowFilter rows = {};
  std::vector<std::int64_t> threads = {};  ///< also those that the table lacks; empty: the table's
  std::vector<std::int64_t> batches = {};  ///< empty: the model's own
  double max_latency_ns = 0;               ///< of one run of the whole batch
  PlanSource plan = {};
  PredictionOptions options = {};
};

/// "1,2,4", as --threads and --batch say them; "" is none. Each number once, from 1 to `max`.
/// Code::Usage quotes `flag`.
Result<std::vector<std::int64_t>> parse_numbers(std::string_view flag, const std::string& text,
                                                std::int64_t max);

/// The same as typed, with the target.
struct AdviseTexts {
  std::string threads;
  std::string batches;
  std::string max_latency;  ///< "5ms"
  std::string gate_on;      ///< as parse_gate() takes it
};
/// Puts the texts into the request; the target, which is needed. Code::Usage quotes what is wrong.
Result<Gate> read_into(const AdviseTexts& texts, AdviseRequest& request);

/// Predicts every model in every setting with every batch; one that has no latency says why, and
/// what measures it. Code::Input: model or table; Code::Usage: several devices; Code::Refused: no
/// rows for the filter; Code::Interrupted once `events` say cancelled.
Result<report::AdviceReport> advise(const AdviseRequest& request, Events& events);
/// The same by a table that is open; `request.table` only names it in commands. One thread at a
/// time.
Result<report::AdviceReport> advise(const AdviseRequest& request, OpenedTable& table,
                                    Events& events);

}  // namespace oplat::app
