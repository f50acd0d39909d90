// SPDX-License-Identifier: Apache-2.0
/// Use case: learn from a table's whole models how kernels add up, and from its rows how long other
/// kernels take.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/learning.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "predict/fit.hpp"
#include "report/fit_report.hpp"

namespace oplat::app {

struct FitRequest {
  std::string table;  ///< a table of oplat
  predict::RowFilter rows = {.has_mismatch_flag = false};
  bool composition = true;       ///< how kernels add up
  bool kernels = true;           ///< how long kernels take that were not measured
  predict::FitRequest how = {};  ///< of the composition; see `keep_groups`
  std::string groups_file = {};  ///< of lines MODEL, tab, GROUP, in place of the groups of `how`
  /// Whether the groups are those of the fit before, where neither names some.
  bool keep_groups = true;
  LearnOptions learn = {};  ///< of the kernels
  bool store = true;        ///< false: the table is only read
};

/// What the kernels' own rows taught.
struct LearnedKernels {
  std::int64_t rows = 0;
  double seconds = 0;      ///< that learning took
  std::int64_t bytes = 0;  ///< of the stored fits
  std::uint64_t seed = 0;
  bool calibrated = false;
  std::int64_t under_load = 0;  ///< rows measured while other processes kept the machine busy
};

struct FitResult {
  table::Device device;
  table::Setting setting;
  bool stored = false;
  std::optional<predict::FitResult> composition;
  std::string no_composition;  ///< why there is none; empty if it was not asked for
  std::optional<LearnedKernels> kernels;
  std::string no_kernels;
};

/// Code::Usage for a flag of the part that --only leaves out.
Status check_parts(const FitRequest& request);

/// Fits, and stores all that was fitted together. Code::Refused if nothing of what was asked for
/// can be fitted, or the table is locked; Code::Input: the file of groups; Code::Interrupted once
/// `events` are cancelled: what is finished by then is stored.
Result<FitResult> fit(const FitRequest& request, Events& events);

/// The rows that were measured as the session would measure.
predict::RowFilter rows_of(const Session& session);

/// What a campaign ends with: the composition of the session's rows, fitted anew to all whole
/// models of the table, in the groups of the fit before. Without any, or once `events` are
/// cancelled, the table stays as it is. What goes wrong is a warning: what was measured is not lost
/// by it.
void update_composition(const Session& session, table::Table& table, Events& events);

/// Rows as they answer for models of the table: by a composition that did not see the model.
class UnseenByFit {
 public:
  /// Of a table with more models than that, the fit stays as it is: one is little of it.
  static Result<UnseenByFit> create(const table::Table& table, const predict::Selection& selection,
                                    std::int64_t max_models);
  /// Rows as `selection` of create(), with another fit if the table has measured this model, or
  /// without one if it is the only one. All other rows and models keep the fit that they have.
  [[nodiscard]] predict::Selection selection_for(predict::Selection selection,
                                                 const std::string& plan_identity) const;
  /// The same for a model that is to be judged: by a fit that saw no relative of it either.
  [[nodiscard]] predict::Selection selection_without(predict::Selection selection,
                                                     const table::Plan& plan) const;

 private:
  std::shared_ptr<const predict::LeaveOneOut> models_;  ///< null: the fit stays
  std::vector<table::SettingId> settings_;
};

/// What `oplat fit` says of them.
report::FitReport fit_report(const FitRequest& request, FitResult result);

}  // namespace oplat::app
