// SPDX-License-Identifier: Apache-2.0
/// Measuring whole models end to end, and what it shares with profile_models().
///
/// A runtime never runs in the calling process: the program `oplat` runs it in processes of its
/// own. That program is the first of $OPLAT_PROGRAM, `oplat` in the folder of the calling program,
/// the installed one, and `oplat` in PATH.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oplat/events.hpp"
#include "oplat/graph.hpp"
#include "oplat/result.hpp"
#include "oplat/table.hpp"

namespace oplat {

/// Which runtime executes, and how.
struct RuntimeRequest {
  std::string runtime;         ///< "onnxruntime", "paddle", ...: as `oplat runtimes` lists them
  std::int64_t threads = 1;    ///< of the runtime; at most the CPUs of this machine
  std::string precision = {};  ///< empty: the runtime's own
  std::map<std::string, std::string> options = {};  ///< of the runtime; the others keep defaults
  std::string device = {};  ///< name that rows are stored under; empty: the machine's own
  std::vector<std::string> worker_arguments = {};  ///< "replay" takes a table
};

/// How long and how precisely to measure.
struct CampaignOptions {
  std::optional<double> budget_s = {};  ///< seconds; std::nullopt: until rows are precise
  std::uint64_t seed = 1;               ///< of the order of rows, weights and inputs
  /// Relative half-width of a row's 95 % confidence interval at which it is precise enough;
  /// std::nullopt: 0.03, and 0.05 for kernels of up to 20 us.
  std::optional<double> target_error = {};
  bool retry_refused = false;  ///< measure failed, unsupported and skipped rows again
};

/// A row, or a model, that has no time.
struct Refusal {
  std::string what;    ///< the key, or the model's name
  std::string reason;  ///< for people
};

/// What became of a campaign.
struct CampaignSummary {
  std::int64_t kernels = 0;           ///< rows of kernels that were asked for
  std::int64_t kernels_measured = 0;  ///< of them with a time, earlier campaigns included
  double seconds = 0;                 ///< that it took
  bool budget_ended = false;          ///< the budget ended before all rows were precise
  bool interrupted = false;           ///< Events::cancelled() stopped it; what was measured is kept
  std::vector<Refusal> refusals;
};

struct MeasureRequest {
  std::vector<std::string> models;  ///< paths
  ModelInputs inputs = {};          ///< of every model
  RuntimeRequest runtime;
  std::string table = {};  ///< path of a table that keeps the times; empty: nothing is kept
  CampaignOptions campaign = {};
};

/// Times of single inferences, one run of the whole batch each.
struct InferenceTimes {
  std::int64_t count = 0;   ///< inferences
  std::int64_t blocks = 0;  ///< that they are from
  double mean_ms = 0;
  double p50_ms = 0;
  double p90_ms = 0;
  std::optional<double> p99_ms = {};  ///< std::nullopt for fewer than 100 inferences
  double max_ms = 0;
};

/// A model with its measured time, of one run of the whole batch.
struct MeasuredModel {
  std::string path;
  std::int64_t batch = 1;
  Timing timing;                   ///< over blocks; what predictions are of
  std::vector<std::string> flags;  ///< "under_load", "ci_not_reached", ...: sorted
  /// std::nullopt if an earlier oplat measured the model, or its times are replayed.
  std::optional<InferenceTimes> inferences = {};
};

/// A model without a time.
struct FailedModel {
  std::string path;
  Error error;  ///< its message names the file
};

struct MeasureResult {
  std::vector<MeasuredModel> models;  ///< those that have a time, in the order of the request
  Device device;
  Setting setting;
  CampaignSummary summary;
  std::vector<FailedModel> failed = {};  ///< the other models, likewise
};

/// Measures models end to end. Of several models, one that fails is in `failed`. Code::Usage: an
/// option that the runtime does not have; Code::Input: a model file; Code::Runtime: the runtime or
/// the program `oplat`; Code::Refused, Code::Write: the table. Takes as long as the budget; call it
/// from one thread at a time, on an otherwise quiet machine.
Result<MeasureResult> measure_models(const MeasureRequest& request, Events* events = nullptr);

}  // namespace oplat
