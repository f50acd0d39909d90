// SPDX-License-Identifier: Apache-2.0
/// What a table holds, as values. Times are ns of one execution of one kernel (or of one whole
/// batch of a model).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hash.hpp"
#include "base/time_sketch.hpp"
#include "ir/key.hpp"
#include "plan/records.hpp"

namespace oplat::table {

using plan::Device;
using plan::Setting;
/// "onnxruntime 1.31.1, 1 thread, precision model, level=99 spinning=0": for messages.
std::string describe(const Setting& setting);

/// A campaign's fact, "yes" or "no": whether a timing of its empty call had its core to itself, at
/// full clock. Campaigns of earlier builds lack it.
inline constexpr const char* kEmptyCallAlone = "empty_call_alone";
/// Fact of a campaign: the least that a look at the cores of its threads took, and the least round
/// trip between cores that were different ones, in ns: "2950.5 88" (docs/adr/0021).
inline constexpr const char* kBestCores = "best_cores_ns";

/// How the machine was. Never part of a look-up.
struct Environment {
  std::string kernel;  ///< uname release
  std::string
      hostname_hash;  ///< of the host name: two campaigns of one host can be told, the name cannot
  std::string started_at;   ///< UTC, ISO 8601
  double load_average = 0;  ///< one minute, before the campaign
  std::map<std::string, std::string>
      facts;  ///< clock source, governor, huge pages, harness version and commit, ...
};

/// One run of `oplat profile` or `oplat measure --table`.
struct Campaign {
  std::string argv;
  std::string commit;
  std::uint64_t seed = 0;
  std::optional<double>
      reference_compute_ns;  ///< baseline of the compute reference on this device and setting
  std::optional<double> reference_memory_ns;  ///< baseline of the memory reference
  std::optional<double>
      empty_call_ns;  ///< a call of the runtime that computes nothing: c0 of an unfitted table
};

/// Statistics over the values of a row's blocks. The value of a block is the slope of lower
/// quartiles (kernels) or the lower quartile of its runs (whole models): what the row takes if
/// nothing else disturbs it.
struct Timing {
  double median_ns = 0;
  double sd_log = 0;  ///< standard deviation of the logarithm of the block values
  double ci_low_ns = 0, ci_high_ns = 0;  ///< of the median, at `ci_level`
  double ci_level = 0.95;
  double min_ns = 0, p10_ns = 0, p90_ns = 0;  ///< over block values
  std::int64_t blocks = 0;
  std::int64_t processes = 0;
  friend bool operator==(const Timing&, const Timing&) = default;
};
/// Times of single inferences of a whole model, one run of the whole batch each: of those blocks
/// that count for Timing.
struct InferenceTimes {
  std::int64_t count = 0;  ///< inferences
  /// That they are from; fewer than Timing::blocks if earlier versions of oplat, which kept none,
  /// measured the others.
  std::int64_t blocks = 0;
  double mean_ns = 0;
  double p50_ns = 0;
  double p90_ns = 0;
  std::optional<double> p99_ns = std::nullopt;  ///< std::nullopt for fewer than kMinForP99
  double max_ns = 0;
  friend bool operator==(const InferenceTimes&, const InferenceTimes&) = default;
};
/// Inferences of which a 99 % quantile is one of the times, not the maximum.
inline constexpr std::int64_t kMinForP99 = 100;
/// std::nullopt for a sketch without times.
std::optional<InferenceTimes> inference_times(const base::TimeSketch& sketch, std::int64_t blocks);

struct Unsupported {
  std::string reason;
  friend bool operator==(const Unsupported&, const Unsupported&) = default;
};
struct Skipped {
  std::string reason;
  friend bool operator==(const Skipped&, const Skipped&) = default;
};
struct Failed {
  std::string reason;
  friend bool operator==(const Failed&, const Failed&) = default;
};
using Outcome = std::variant<Timing, Unsupported, Skipped, Failed>;
/// "timing", "unsupported", "skipped", "failed".
std::string_view outcome_name(const Outcome& outcome);

/// One time-separated block of measurements of one row, or of one whole model.
struct Block {
  std::int64_t pass = 0;     ///< number of the pass in the campaign
  std::int64_t process = 0;  ///< number of the worker process in the campaign
  double value_ns = 0;  ///< slope (kernels) or a call (models); the lower quartile of the block,
                        ///< measure::lower_quartile_ns
  std::optional<double> reference_compute_ns;
  std::optional<double> reference_memory_ns;
  std::int64_t rounds = 0;    ///< calls behind the value
  std::int64_t switches = 0;  ///< involuntary context switches during the block
  std::int64_t steal_ticks = 0;
  std::optional<double> other_load =
      std::nullopt;  ///< CPUs that other programs kept busy during the block; nothing: not told
  /// Times of its runs, of a whole model; std::nullopt for kernels, replayed times, and blocks of
  /// tables before schema 4.
  std::optional<base::TimeSketch> inferences = std::nullopt;
};

/// CPUs kept busy by other programs from which a block counts as loaded: a fourth slows down shared
/// caches and memory.
inline constexpr double kLoadOfOthers = 0.25;
/// A block that does not say how busy the machine was is not.
bool is_loaded(const Block& block);
/// Ticks that a block counts as stolen at least whose cores were not apart (docs/adr/0021): more
/// than any block lasts, so that it is told from one that lost some.
inline constexpr std::int64_t kTicksNotApart = 100;
/// Whether the cores of a block's threads were not apart.
bool is_not_apart(const Block& block);
/// Whether another tenant used the core for most of a block: 10 ticks or more were lost, half of
/// what a block of a kernel lasts that never found its core alone (0.2 s), and by the looks at the
/// core or the load of the machine half a CPU or more was somebody else's. Ticks alone could be
/// those of a long block or of other CPUs. Also if the cores of its threads were not apart.
bool is_heavily_disturbed(std::int64_t steal_ticks, const std::optional<double>& other_load);

/// Flag of a row measured while other programs kept the machine busy.
inline constexpr const char* kUnderLoad = "under_load";
/// Flag of a row whose blocks all shared the core with another tenant, or had cores that were not
/// apart, but for one at most: its time is up to twice as long as alone.
inline constexpr const char* kNeverQuiet = "never_quiet";

/// How a row was measured.
struct Method {
  std::int64_t copies = 1;         ///< k of the slope
  std::string topology;            ///< "chain", "fan", "single", "" unknown
  std::vector<std::string> flags;  ///< "ci_not_reached", "disturbed", ... sorted
  [[nodiscard]] bool has(std::string_view flag) const {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
  /// Adds a flag in its place, once.
  void add(std::string_view flag);
  friend bool operator==(const Method&, const Method&) = default;
};

/// One kernel measured (or refused) on one device under one setting at one cache state.
struct Row {
  std::string key;                    ///< printed Key
  std::optional<double> reuse_bytes;  ///< nothing: the source does not say, answers any state
  std::string origin = "own";         ///< "own", or the format it was imported from
  Outcome outcome;
  Method method;
};

/// A whole model measured end to end.
struct ModelRow {
  std::string name;           ///< file name, for people
  std::string plan_identity;  ///< Plan::identity of what was run
  std::int64_t batch = 1;
  Outcome outcome;
  Method method;
  std::optional<InferenceTimes> inferences = std::nullopt;  ///< std::nullopt: not known
};

using plan::Plan;
using plan::PlanKernel;

}  // namespace oplat::table
