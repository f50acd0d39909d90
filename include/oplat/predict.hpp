// SPDX-License-Identifier: Apache-2.0
/// How long a model, or a single kernel, takes by a table. Needs no runtime if the table holds the
/// model's plan, or fusion rules make one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oplat/events.hpp"
#include "oplat/graph.hpp"
#include "oplat/key.hpp"
#include "oplat/result.hpp"
#include "oplat/table.hpp"

namespace oplat {

/// Where a kernel's time comes from, best first.
enum class Source {
  Measured,      ///< rows of this very kernel
  Interpolated,  ///< measured kernels like it
  Learned,       ///< its sizes alone
  Roofline,      ///< operations and bytes, scaled to the table's rows
  Free,          ///< a view: nothing is computed or moved
  Missing,       ///< nothing answers
};
/// "measured", "interpolated", "learned", "roofline", "free", "missing".
std::string_view source_name(Source source) noexcept;

/// What happens to kernels that nothing answers.
enum class MissingPolicy {
  Error,     ///< the call fails with Code::Missing and names them
  Roofline,  ///< the roofline answers, with a wide interval
  Zero,      ///< left out of the sum; Prediction::missing lists them
};

/// How times are estimated and added up.
struct EstimateOptions {
  double level = 0.9;  ///< of the intervals: 0.9 holds nine of ten; between 0 and 1
  MissingPolicy missing = MissingPolicy::Error;
  bool fast = false;  ///< cheaper and less accurate estimates of unmeasured kernels
};

struct PredictRequest {
  std::string model = {};  ///< path; not read if a Graph is given
  ModelInputs inputs = {};
  SettingFilter rows = {};
  /// Where the kernels come from: "cached" (the table's own plan), "runtime" (the installed
  /// runtime, asked through the program `oplat`), "rules", "rules:NAME", or "auto": the first of
  /// them that there is.
  std::string plan = "auto";
  EstimateOptions estimate = {};
};

/// Both ends belong to it.
struct Interval {
  double low_ms = 0;
  double high_ms = 0;
};

/// One kernel of a model.
struct KernelTime {
  std::string name;  ///< of the node; empty for a kernel that was given by its key
  std::string key;
  std::int64_t count = 1;            ///< executions per run of the model
  std::optional<double> median_ms;   ///< of one execution; std::nullopt if nothing answers
  std::optional<Interval> interval;  ///< of one execution, by itself
  Source source = Source::Missing;
  std::string why;  ///< for people: which rows answered, what was assumed
};

struct Prediction {
  double median_ms = 0;  ///< of one run of the whole batch
  Interval interval;     ///< that holds the time of a run with probability `level`
  double level = 0.9;
  /// Of this very model, where the table holds a measurement of it; one outside the interval is
  /// also a warning.
  std::optional<double> measured_ms;
  std::int64_t batch = 1;
  /// Share of the time by source. With `overhead`, they add up to 1.
  std::map<Source, double> coverage;
  double overhead = 0;               ///< share of what runs between kernels; may be below 0
  std::vector<KernelTime> kernels;   ///< in order of execution
  std::vector<std::string> missing;  ///< distinct keys that nothing answers
  std::vector<std::string> warnings;
  Device device;  ///< of the rows that answered
  Setting setting;
  std::string plan;  ///< where the kernels come from: "cached", "runtime", "rules:NAME"
};

/// Predicts one model. Code::Input: the model; Code::Usage: several settings fit, or options
/// contradict the model; Code::Refused: no rows for the filter; Code::Missing: no plan, or kernels
/// without a time; Code::Runtime: the runtime that would make the plan. Progress and notes go to
/// `events`, if given; warnings are in the result. The program `oplat` is found as
/// oplat/measure.hpp says. One thread at a time for each table.
Result<Prediction> predict_model(const Table& table, const PredictRequest& request,
                                 Events* events = nullptr);
/// The same of a graph that was read before: its file and inputs in place of the request's. The
/// file must still be there and unchanged.
Result<Prediction> predict_model(const Table& table, const Graph& graph,
                                 const PredictRequest& request = {}, Events* events = nullptr);

struct EstimateRequest {
  SettingFilter rows = {};
  EstimateOptions options = {};
  /// Bytes that a model touches between two executions of a kernel; std::nullopt: caches are hot.
  std::optional<double> reuse_bytes = {};
};

/// Estimates single kernels, in the order of the keys. A kernel that nothing answers has no time;
/// with MissingPolicy::Error that is Code::Missing. Other errors as of predict_model().
Result<std::vector<KernelTime>> estimate_kernels(const Table& table, std::span<const Key> keys,
                                                 const EstimateRequest& request = {});

}  // namespace oplat
