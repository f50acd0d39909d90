// SPDX-License-Identifier: Apache-2.0
/// A campaign: kernels and whole models are measured pass by pass into a table, in a budget,
/// resumably.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/catalogue.hpp"
#include "measure/calibration.hpp"
#include "measure/kernel_runner.hpp"
#include "measure/progress.hpp"
#include "measure/states.hpp"
#include "measure/stopping.hpp"
#include "table/table.hpp"

namespace oplat::measure {

/// Makes a kernel runner in a fresh process.
using RunnerFactory = std::function<Result<std::unique_ptr<measure::KernelRunner>>()>;

/// A whole model to be measured besides the kernels.
struct ModelTarget {
  std::string path;
  std::string name;           ///< file name, for people
  std::string plan_identity;  ///< of its plan under the request's setting
  std::map<std::string, double>
      calls;  ///< how often a run executes each key; says which rows matter (priority.hpp)
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::optional<std::int64_t> batch;          ///< as asked for
  std::int64_t executed_batch = 1;            ///< as planned: what the row stores
  std::map<std::string, std::string> inputs;  ///< NAME -> FILE.npy | zeros | ones | uniform:LO:HI
};

struct CampaignRequest {
  const ir::Catalogue* catalogue = nullptr;  ///< of the keys; required; outlives the campaign
  table::Device device;                      ///< as the worker describes it
  table::Setting setting;                    ///< complete: version and build as the worker says
  measure::Memory memory;                    ///< what states are made from; see states.hpp
  std::vector<std::string> keys;
  std::vector<ModelTarget> models;
  /// Networks that are not measured: how often each executes each key. Besides `models`, they say
  /// which rows go first where a budget is short.
  std::vector<std::map<std::string, double>> networks;
  std::uint64_t seed = 1;                ///< of the order of every pass, inputs and weights
  std::optional<double> budget_seconds;  ///< nothing: until every row is measured well enough
  measure::StopRule stop;
  measure::CopyRule copies;
  std::int64_t keys_per_process = 50;
  bool retry_refused =
      false;  ///< measure rows again that the table holds as failed, unsupported or skipped
  /// Rows that are measured well enough, but were so under load, get as many blocks again: quiet
  /// ones clear the flag.
  bool retry_loaded = false;
  /// Whole models that the table holds without the times of single inferences get as many blocks
  /// as a row needs at least.
  bool need_inferences = false;
  std::string argv;  ///< recorded
  /// The kernel behind the empty call. It is measured like any other where there are view
  /// operators, since its time is what they cost. Empty: neither is measured.
  std::string empty_call_key{plan::kDispatchKey};
  std::optional<table::Environment> environment;  ///< nothing: probed when the campaign starts
  std::function<double()> seconds;                ///< monotonic clock; empty: the system's
  std::function<bool()> stop_asked;               ///< empty: never
};

/// Rows by what became of them; they add up to `total`.
struct Counts {
  std::int64_t total = 0;
  std::int64_t precise = 0;  ///< interval as narrow as asked for
  std::int64_t wide = 0;     ///< enough blocks, interval wider
  std::int64_t few = 0;      ///< measured, but fewer blocks than the rule's least
  std::int64_t failed = 0;
  std::int64_t unsupported = 0;
  std::int64_t skipped = 0;
  std::int64_t left = 0;  ///< without a block or an outcome
  [[nodiscard]] std::int64_t measured() const { return precise + wide + few; }
};

struct Refusal {
  std::string key;      ///< or the model's name
  std::string outcome;  ///< "failed", "unsupported", "skipped"
  std::string reason;
};

struct Summary {
  std::optional<table::CampaignId> campaign;  ///< std::nullopt if nothing was left to do
  Counts kernels;                             ///< rows: a key has one per cache state
  Counts models;
  std::int64_t views = 0;  ///< keys of view operators, which are not measured
  std::int64_t blocks = 0;
  std::int64_t passes =
      0;  ///< complete ones: every row has as many blocks, earlier campaigns included
  std::int64_t processes = 0;
  double seconds = 0;
  double waited_seconds =
      0;  ///< of them until the cores of several threads were apart (docs/adr/0021)
  std::int64_t min_passes = 0;  ///< that every row takes at least
  double target_error = 0;      ///< relative half-width of the interval of a precise row
  /// Forecast: until every row has its first block, and until every row is precise.
  double first_pass_seconds = 0;
  double more_seconds = 0;
  bool budget_ended = false;
  bool interrupted = false;
  std::vector<Refusal> refusals;
};

/// Measures what the table does not hold well enough yet. Calling it again goes on where it was
/// stopped: rows that are done are left alone, the others get further blocks. Every block is stored
/// at once, in one transaction with its row. Every row gets its n-th block before any gets its
/// (n+1)-th; once each has one, a budget that is too short for all goes to the rows that make
/// predictions of the models unsure (priority.hpp). Refusals and crashes of kernels are rows; an
/// error means that the table cannot be written or no runner can be made, and all that was measured
/// before is kept.
Result<Summary> run(const CampaignRequest& request, table::Table& table,
                    const RunnerFactory& factory, Progress& progress);

/// The distinct keys of plans, in order of first appearance.
std::vector<std::string> keys_of(std::span<const table::Plan> plans);

}  // namespace oplat::measure
