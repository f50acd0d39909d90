// SPDX-License-Identifier: Apache-2.0
/// Prediction: everything that is said about one model, for any report to print.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "estimate/estimate.hpp"
#include "estimate/learned.hpp"
#include "ir/int8.hpp"
#include "predict/coefficients.hpp"
#include "predict/moments.hpp"
#include "predict/row_selection.hpp"
#include "predict/spread.hpp"
#include "table/table.hpp"

namespace oplat::predict {

/// What to do with kernels that nothing answers.
enum class MissingPolicy : std::uint8_t {
  Error,     ///< no latency; the keys are listed
  Roofline,  ///< the roofline answers, with a wide spread
  Zero,      ///< left out of the sum, still listed
};
/// "error", "roofline" (also by its earlier name "physics") or "zero"; Code::Usage otherwise.
Result<MissingPolicy> parse_missing_policy(std::string_view text);

struct Options {
  double level = 0.9;
  MissingPolicy missing = MissingPolicy::Error;
  bool explain = true;  ///< whether KernelPrediction::why is wanted; a search over many models
                        ///< saves half of its time without
  /// of learned estimates; a Predictor was made with its own
  estimate::Profile profile = estimate::Profile::Accurate;
  /// The data for which the model is predicted decide which bodies of the plan run, and how often:
  /// nothing of that is open.
  bool given_data_decide = false;
};

/// One kernel of the plan with its estimate.
struct KernelPrediction {
  std::string name;
  std::string key;
  std::int64_t count = 1;
  std::optional<double> latency_ns;  ///< of one execution; std::nullopt if missing
  std::optional<double> sd_log;      ///< std::nullopt if missing
  estimate::Source source = estimate::Source::Missing;
  std::string group;
  std::string why;
  bool open_batch = false;  ///< answered by a row that does not say its batch
  /// See Estimate; or estimated, and more than a third of the rows that teach estimates were
  /// measured so.
  bool under_load = false;
  std::optional<double> floor_ns = std::nullopt;             ///< of one execution; see Estimate
  std::optional<bool> inserted_by_runtime = std::nullopt;    ///< see plan::PlanKernel
  std::optional<base::Interval> in_model_ns = std::nullopt;  ///< of one execution; see Estimate
  double values_sd_log = 0;  ///< in sd_log: what the values decide that it computes with
  double common_sd_log = 0;  ///< in sd_log: what all kernels miss together; see Estimate
  bool has_caveat = false;   ///< in sd_log: what values decide that no key says; ir::value_caveat()
  /// Of one execution: what its results have beyond the bytes that stay near a core, elements of 8
  /// bits counted as if they had 32, and memory that it takes for itself and the model's inputs
  /// that it reads, four times, as far as caches lose them before their memory is used again, and
  /// did not in its row (docs/adr/0090, 0092 to 0094), and of several threads the bytes that stay
  /// near (0097); and its standard deviation by where caches end, one for all kernels, and by how
  /// many threads there are. Under a fit of before that, what it counts (CountedResults).
  double evicted_bytes = 0, evicted_sd_bytes = 0;
  double touched_bytes = 0;  ///< of one execution: its constant operands and results
};

struct Composition;

/// What kernels take together, those without a time nothing.
struct KernelTimes {
  double ns = 0;         ///< sum of count * latency, each by itself
  double int8_ns = 0;    ///< of it kernels with 8-bit tensors, where their scale is unsure
  double scaled_ns = 0;  ///< the same, each with its scale
  double floor_ns = 0;   ///< what scaled_ns is at least, as far as kernels have a floor
  double evicted_bytes = 0, evicted_sd_bytes = 0;  ///< of all that are executed
  double touched_bytes = 0;                        ///< likewise
  void add(const KernelPrediction& kernel, const Composition& composition);
};

/// latency = c0 + c1 * n_kernels + c2 * evicted_bytes + sum of scale * count * latency, the scale
/// being that of the kernel.
struct Composition {
  double c0_ns = 0;
  double c1_ns = 0;
  double c2_ns_per_byte = 0;
  double scale = 1;
  double scale_int8 = 1;                 ///< of kernels with 8-bit tensors
  std::int64_t n_kernels = 0;            ///< executions per run, free ones left out
  double evicted_bytes = 0;              ///< likewise; see KernelPrediction
  CountedResults counted = kCountedNow;  ///< of all: the plan's activation_bytes
  bool fitted = false;
  bool left_out = false;  ///< not fitted because the only model measured is the one predicted
  std::int64_t calibration_models = 0;
  double sd_log = kCompositionSd;         ///< see also sd_log_of()
  MomentSpread moments = {};              ///< see CompositionFit
  CoefficientCovariance covariance = {};  ///< of the coefficients, as far as they are unsure
  Correlations correlations;
  std::vector<double> scores;  ///< of the calibration models; see CompositionFit
  double foreign_bytes = 0;    ///< what others bring into the last level during a run
  bool shared_call = false;    ///< whether c0 was never timed on a core of its own at full clock
  [[nodiscard]] double scale_of(std::string_view key) const {
    return scale == scale_int8 || !ir::has_int8_tensor(key) ? scale : scale_int8;
  }
  /// Spread of the composition of such a sum in `total_ns`: sd_log, that of moments, and what is
  /// not known of the coefficients. Of imported tables, which hold no empty call, a warning says
  /// that nothing is known of the call at all.
  [[nodiscard]] double sd_log_of(double total_ns, const SumParts& parts) const;
  /// The parts of it: what is the same at each moment, and how far apart moments are.
  [[nodiscard]] double steady_sd_log_of(double total_ns, const SumParts& parts) const;
  [[nodiscard]] double moment_sd_log_of(double total_ns, const SumParts& parts) const;
  /// Of that and of the kernels `terms`. Moments are not scored: a model that calibrates is taken
  /// at their median.
  [[nodiscard]] SumVariance variance_of(std::span<const Term> terms, double total_ns,
                                        const SumParts& parts) const;
  /// What a model takes beyond the sum of its kernels, each by itself.
  [[nodiscard]] double overhead_ns(const KernelTimes& kernels) const {
    return c0_ns + c1_ns * static_cast<double>(n_kernels) + c2_ns_per_byte * kernels.evicted_bytes +
           kernels.scaled_ns - kernels.ns;
  }
};

/// Where the time and the kernels come from.
struct Coverage {
  /// Shares of what has a time; with `overhead` they sum to 1. Empty, and `overhead` too, where
  /// nothing has a time.
  std::map<estimate::Source, double> time;
  std::optional<double> overhead;
  std::map<estimate::Source, std::int64_t> count;  ///< executions per run
};

/// What the table says of a whole model that was measured, ns a run of the whole batch.
struct MeasuredModel {
  double median_ns = 0;
  base::Interval ci_ns;     ///< 95 % confidence interval of the median
  bool under_load = false;  ///< other programs ran meanwhile
};

/// What would answer the kernels that are missing.
struct MissingHelp {
  std::int64_t kernels = 0;  ///< distinct kernels of the plan, missing or not
  /// Operators of the missing ones (ir::KernelLabel::type) with their distinct kernels, most first.
  std::vector<std::pair<std::string, std::int64_t>> types;
  /// Distinct missing kernels of operators that rows time, while there is no fit that learned from
  /// those rows: what `oplat fit` may answer.
  std::int64_t by_fit = 0;
  /// Commands for a shell. Empty: a fit adds nothing; nothing here measures for the rows' runtime.
  std::string fit_command;
  std::string profile_command;
};

struct Prediction {
  std::string model;
  /// one run of the whole batch; nothing while kernels are missing
  std::optional<double> latency_ns;
  std::optional<base::Interval> interval;
  double level = 0.9;
  std::optional<double> sd_log;
  std::int64_t batch = 1;
  double reuse_bytes = 0;  ///< the model's footprint: weights and activations
  Composition composition;
  Coverage coverage;
  std::vector<std::string> missing;  ///< distinct keys, in order of execution
  MissingHelp help;                  ///< of `missing`; its commands are those of app::predict()
  MissingPolicy policy = MissingPolicy::Error;
  std::vector<KernelPrediction> kernels;  ///< in order of execution
  table::Device device;
  table::Setting setting;
  std::vector<Mismatch> mismatch;
  /// Standard deviation of the logarithm, in quadrature, where data decide how often loops run and
  /// which branches are taken, and of what steps cost besides their kernels.
  double control_sd_log = 0;
  double composition_sd_log = kCompositionSd;  ///< likewise: Composition::sd_log_of() this model
  double moment_sd_log = 0;                    ///< in it: how far apart this model's moments are
  std::vector<std::string> warnings;
  std::filesystem::path table_path;
  int schema_version = 0;
  std::string plan_source;
  std::string plan_hash;
  /// This very model, measured on the device and in the setting of the rows; see set_measured().
  std::optional<MeasuredModel> measured;
};

/// Puts the model's own time next to its prediction, and warns where it lies outside the interval:
/// kernels and model contradict each other then.
void set_measured(Prediction& prediction, const MeasuredModel& measured);

/// One text for each operator of these kernels whose times depend on values that keys do not say:
/// "NonZero: how many elements it finds is not known (2 distinct kernels)".
std::vector<std::string> value_caveat_texts(std::span<const std::string_view> keys);

/// Estimates of single kernels at one footprint, as predict() makes them. `reuse_bytes` missing:
/// hot.
Result<std::vector<KernelPrediction>> estimate_kernels(
    const table::Table& table, const Selection& selection,
    const std::vector<table::PlanKernel>& kernels, std::optional<double> reuse_bytes,
    MissingPolicy missing, estimate::Profile profile = estimate::Profile::Accurate);

/// Predicts many models from one selection: keeps what it looked up, so that a kernel asked before
/// costs no query. The table must outlive it and stay as it is. One thread at a time.
class Predictor {
 public:
  /// `profile`: of the learned estimates; nothing: measured rows alone answer.
  static Result<Predictor> create(
      const table::Table& table, Selection selection,
      std::optional<estimate::Profile> profile = estimate::Profile::Accurate);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();
  /// As predict() below.
  Result<Prediction> predict(const table::Plan& plan, const Options& options) const;
  /// As estimate_kernels() above.
  Result<std::vector<KernelPrediction>> estimate(const std::vector<table::PlanKernel>& kernels,
                                                 std::optional<double> reuse_bytes,
                                                 MissingPolicy missing, bool explain = true,
                                                 const estimate::ForeignBytes& foreign = {}) const;
  /// What others bring into the last level while something runs; 0 where nobody knows: no fit says
  /// so, and without one nobody looked.
  /// `ns_among`: how long it takes where they bring in so many bytes.
  [[nodiscard]] Result<estimate::ForeignBytes> foreign_bytes_while(
      const std::function<Result<double>(double)>& ns_among) const;
  /// How long these kernels run while they bring in so many bytes a ns.
  [[nodiscard]] Result<double> ns_of(const std::vector<table::PlanKernel>& kernels,
                                     double reuse_bytes, MissingPolicy missing,
                                     double foreign_bytes_per_ns) const;
  /// Whether rows time the operator of this key, of whatever sizes.
  Result<bool> times_operator(std::string_view key) const;

 private:
  struct Impl;
  explicit Predictor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Plan -> estimates -> composition. Missing kernels are not errors here: see
/// Prediction::latency_ns and ::missing.
Result<Prediction> predict(const table::Table& table, const Selection& selection,
                           const table::Plan& plan, const Options& options);

/// "82 of 83 kernels are not in the table: 45 Conv, 12 Mul and 25 others": distinct kernels. Of a
/// prediction with missing ones. `table`: what to call it.
std::string missing_text(const Prediction& prediction, std::string_view table = "the table");
/// What answers them, best first: "estimate 64 of them: oplat fit t.oplat", "measure them: oplat
/// profile ...". Empty if nothing that can be said as a command does.
std::vector<std::string> missing_remedies(const Prediction& prediction);

/// "oplat profile --model MODEL --table t.oplat --runtime onnxruntime --threads 2": measures one
/// more model under this setting, quoted for a shell, printable. `table`: a path; empty: none is
/// said.
std::string profile_another(const std::string& table, const table::Setting& setting);

/// Code::Missing with operators and remedies where kernels have no estimate and the policy does not
/// accept that. `is_reported`: what missing_text() and missing_remedies() say stands above already,
/// and is not said again.
Status require_complete(const Prediction& prediction, bool is_reported = false);

/// The latency, or what is known of it while kernels are missing: what shares are of.
double known_ns(const Prediction& prediction);

}  // namespace oplat::predict
