// SPDX-License-Identifier: Apache-2.0
/// Use case: is a table still true on this machine? Some of its rows are
/// measured again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session.hpp"
#include "measure/verify.hpp"
#include "predict/row_selection.hpp"
#include "report/verification.hpp"

namespace oplat::app {

struct VerifyRequest {
  std::string table;                        ///< path; only read
  std::string runtime;                      ///< empty: the only one whose times the table holds
  std::vector<std::string> worker_command;  ///< as in RuntimeRequest
  std::vector<std::string> worker_arguments;
  bool remote = false;                                     ///< as in RuntimeRequest
  predict::RowFilter rows = {.has_mismatch_flag = false};  ///< which; this machine fills the rest
  double budget_s = 60;
  std::size_t max_rows = 20;
  std::uint64_t seed = 1;  ///< of the choice of rows, their order, weights and inputs
  std::string record;      ///< what asked for it: stored with the scratch campaign
};

/// What of it is typed as a text.
struct VerifyTexts {
  std::optional<std::string> worker;  ///< as RuntimeTexts::worker
  std::string budget = "60s";
};
/// Puts the texts into the request. Code::Usage quotes what is wrong.
Status read_into(const VerifyTexts& texts, VerifyRequest& request);

struct VerifyResult {
  report::Verification verification;
  measure::TableVerdict verdict = measure::TableVerdict::Unclear;  ///< as in `verification`
};

/// Measures at most `max_rows` rows again in workers set up as those rows say,
/// into a scratch table. Code::Usage if the request fits several runtimes or
/// settings, Code::Refused if the table has no such times or the installed
/// runtime cannot repeat them, Code::Interrupted if `events` says cancelled.
Result<VerifyResult> verify(const VerifyRequest& request, Events& events);

/// Code::Runtime if no row was compared; Code::GateNotMet if the table does not hold here.
Status require_same(const VerifyRequest& request, const VerifyResult& result);

}  // namespace oplat::app
