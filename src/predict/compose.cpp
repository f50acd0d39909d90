// SPDX-License-Identifier: Apache-2.0
/// latency = c0 + c1 n + c2 * bytes evicted + sum scale_i count_i t_i, and its interval.
///
/// A row times a kernel by itself, and a model takes longer than the sum of its rows. It pays for
/// the call (c0) and for each of its n kernels (c1). Other kernels run in between, so that
/// operands, code and threads are not where the last execution left them. That cost grows with a
/// kernel's own time (scale; kernels in 8 bits have their own, since they wait more for the caches)
/// and with the bytes of large results that leave the caches before their memory is used again
/// (c2): a row's kernel finds its operands where it left them.
///
/// The sum is linear and needs only what every plan and the memory curve hold. So it serves each
/// runtime and each search space, and its parts add up to what `predict` prints. Without a fit, c0
/// is the measured empty call, the scales are 1, c1 and c2 are what machines had in common, and the
/// interval holds what differed between them (0052). Tried: seven forms of the sum
/// (docs/adr/0009), one scale for all precisions (0020), states of operands (0023), other counts of
/// bytes (0025, 0088).
///
/// Example: 60 kernels of 3.0 ms in all and 20 MB evicted, with c0 = 2 us, c1 = 0.1 us, c2 = 0.01
/// ns a byte and a scale of 1.02, give 0.002 + 0.006 + 0.2 + 3.06 = 3.268 ms.
#include "predict/compose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "base/stats.hpp"
#include "base/text.hpp"
#include "base/text_numbers.hpp"
#include "base/units.hpp"
#include "estimate/exact.hpp"
#include "predict/load.hpp"

namespace oplat::predict {

using estimate::Source;

namespace {

/// What a table without a fit does not know of a composition, as standard deviations. Of the call:
/// the empty call has one input and one output, and each further one takes some 0.1 us, a model
/// without inputs took 0.13 us less than an empty call (docs/adr/0046).
constexpr double kCallSdNs = 300;
/// Of a call that no campaign could time: several times what those of ONNX Runtime take, 1.2 to 3.2
/// us (docs/adr/0046).
constexpr double kUnknownCallSdNs = 1e4;
/// Of a call that was never timed on a core of its own at full clock, relative to it: in five of 56
/// campaigns 2.2 to 3.2 us in place of 1.2 (docs/adr/0046).
constexpr double kSharedCallSd = 0.4;
/// Of each kernel, which follows itself in a row and others in a model (CoefficientPrior); several
/// threads have to be woken.
constexpr double kKernelSdNs = 60, kKernelOfThreadsSdNs = 100;
/// Of each evicted byte (CoefficientPrior).
constexpr double kEvictedByteSdNs = 0.006;
constexpr double kScaleSd = 0.015, kInt8ScaleSd = 0.03;
/// A call that takes a quarter of an hour is an untrusted table's.
constexpr double kMaxCallNs = 1e12;
/// Runtimes whose networks miss more of the sums: one whose empty call is long spends long on each
/// kernel too: 30 and some 20 us were found.
constexpr double kOtherCallSd = 0.5, kOtherKernelSdOfCall = 0.25;
/// Of the room beyond what kernels took inside a model: what the sum misses besides its kernels. A
/// model took 150.11 us where its kernels had reached 149.82.
constexpr double kReachedLevel = 0.9;

KernelTimes times_of(const Prediction& prediction) {
  KernelTimes times;
  for (const KernelPrediction& kernel : prediction.kernels)
    times.add(kernel, prediction.composition);
  if (prediction.composition.counted == CountedResults::All)
    times.evicted_bytes = prediction.composition.evicted_bytes;
  return times;
}

/// What the model would take if every kernel took what it was seen to take inside a model, in
/// another moment than that: the interval holds that, whatever its level.
base::Interval reached_by(const Prediction& prediction, double total_ns) {
  base::Interval reached{total_ns, total_ns};
  for (const KernelPrediction& kernel : prediction.kernels) {
    if (!kernel.in_model_ns || !kernel.latency_ns) continue;
    const double each =
        prediction.composition.scale_of(kernel.key) * static_cast<double>(kernel.count);
    reached.low -= each * std::max(0.0, *kernel.latency_ns - kernel.in_model_ns->low);
    reached.high += each * std::max(0.0, kernel.in_model_ns->high - *kernel.latency_ns);
  }
  const double room =
      std::exp(base::two_sided_normal_quantile(kReachedLevel) * prediction.composition_sd_log);
  if (reached.low < total_ns) reached.low = std::max(0.0, reached.low) / room;
  if (reached.high > total_ns) reached.high *= room;
  return reached;
}

}  // namespace

Exposure exposure_of(const SumParts& parts, double total_ns) {
  return {parts.reuse_bytes, std::min(parts.touched_bytes, parts.reuse_bytes), total_ns};
}

double Composition::sd_log_of(double total_ns, const SumParts& parts) const {
  return std::hypot(steady_sd_log_of(total_ns, parts), moment_sd_log_of(total_ns, parts));
}

double Composition::moment_sd_log_of(double total_ns, const SumParts& parts) const {
  return moments.sd_log_of(exposure_of(parts, total_ns));
}

double Composition::steady_sd_log_of(double total_ns, const SumParts& parts) const {
  if (!(total_ns > 0)) return sd_log;
  const double evicted_ns = c2_ns_per_byte * parts.evicted_sd_bytes;
  return std::sqrt(sd_log * sd_log + (covariance.variance_ns2(parts) + evicted_ns * evicted_ns) /
                                         (total_ns * total_ns));
}

SumVariance Composition::variance_of(std::span<const Term> terms, double total_ns,
                                     const SumParts& parts) const {
  SumVariance variance = sum_variance(terms, steady_sd_log_of(total_ns, parts), correlations);
  variance.add_unscored(moment_sd_log_of(total_ns, parts));
  return variance;
}

void KernelTimes::add(const KernelPrediction& kernel, const Composition& composition) {
  const auto count = static_cast<double>(kernel.count);
  const bool int8 = ir::has_int8_tensor(kernel.key);
  const double scale = int8 ? composition.scale_int8 : composition.scale;
  const double part = count * kernel.latency_ns.value_or(0);
  ns += part;
  if (int8 && composition.covariance.at(kScaleInt8, kScaleInt8) > 0) int8_ns += part;
  scaled_ns += scale * part;
  floor_ns += scale * count * kernel.floor_ns.value_or(0);
  if (kernel.source == Source::Free) return;
  touched_bytes += count * kernel.touched_bytes;
  evicted_bytes += count * kernel.evicted_bytes;
  evicted_sd_bytes += count * kernel.evicted_sd_bytes;
}

double known_ns(const Prediction& prediction) {
  if (prediction.latency_ns) return *prediction.latency_ns;
  const KernelTimes times = times_of(prediction);
  return times.ns + prediction.composition.overhead_ns(times);
}

Result<std::optional<KnownCall>> empty_call(const table::Table& table, const Selection& selection) {
  OPLAT_TRY(campaigns, table.campaigns());
  // Whatever disturbs a call only makes it longer, and campaigns of earlier builds timed a node
  // with it: the shortest counts.
  std::optional<KnownCall> shortest;
  bool any_alone = false;
  for (const table::StoredCampaign& campaign : campaigns) {
    const auto& ids = selection.setting_ids;
    if (campaign.device != selection.device_id ||
        std::find(ids.begin(), ids.end(), campaign.setting) == ids.end())
      continue;
    const auto& call = campaign.campaign.empty_call_ns;
    if (!call || !(*call >= 0 && *call <= kMaxCallNs)) continue;
    const auto& facts = campaign.environment.facts;
    const auto said = facts.find(table::kEmptyCallAlone);
    const bool shared = said != facts.end() && said->second == "no";
    any_alone = any_alone || (said != facts.end() && said->second == "yes");
    if (!shortest || *call < shortest->ns) shortest = KnownCall{*call, shared};
  }
  // What is shorter than a time of a core that nobody shared is no longer than it should be.
  if (shortest && any_alone) shortest->shared = false;
  return shortest;
}

Result<Composition> composition_of(const table::Table& table, const Selection& selection,
                                   std::vector<std::string>& warnings) {
  Composition composition;
  OPLAT_TRY(learned, table.find_fit(kLearnedCorrelationFormat, selection.device_id,
                                    selection.setting_ids.front()));
  if (learned && learned->current) {
    if (const auto known = decode_correlation(learned->fit.blob))
      composition.correlations.learned = *known;
  }
  if (selection.fit) {
    const CompositionFit& fit = *selection.fit;
    composition.c0_ns = fit.c0_ns;
    composition.c1_ns = fit.c1_ns;
    composition.c2_ns_per_byte = fit.c2_ns_per_byte;
    composition.scale = fit.scale;
    composition.scale_int8 = fit.scale_int8;
    composition.fitted = true;
    composition.counted = fit.counted;
    composition.calibration_models = static_cast<std::int64_t>(fit.scores.size());
    composition.sd_log = fit.sd_log;
    composition.moments = fit.moments;
    composition.covariance = fit.covariance;
    composition.correlations.measured = fit.measured_correlation;
    composition.scores = fit.scores;
    OPLAT_TRY(models, load_of_models(table, selection));
    if (is_substantial(models)) warnings.push_back(load_warning(models));
    return composition;
  }
  OPLAT_TRY(empty, empty_call(table, selection));
  if (!empty)
    warnings.emplace_back(
        "no campaign measured an empty call; the overhead of a call is assumed to be 0");
  const CoefficientPrior prior = prior_of(selection, empty);
  composition.c0_ns = prior.mean.c0_ns;
  composition.c1_ns = prior.mean.c1_ns;
  composition.c2_ns_per_byte = prior.mean.c2_ns_per_byte;
  composition.shared_call = empty && empty->shared;
  const double sd_log = std::hypot(composition.sd_log, selection.sum_spread.sd_log);
  // What networks missed is in the prior's scale. Of a table without an empty call nothing is known
  // of a composition at all, as the warning says.
  if (composition.c0_ns > 0) {
    composition.covariance = prior.covariance();
  } else {
    composition.sd_log = sd_log;
  }
  if (!selection.sum_spread.compared) {
    warnings.push_back(
        fmt::format("no network was compared with the sum of its kernels in {}: it may take up to "
                    "{:.2g} times as long, and the interval is as wide; measure some (oplat "
                    "profile --model) and fit (oplat fit)",
                    table::describe(selection.setting),
                    std::exp(base::two_sided_normal_quantile(0.9) * sd_log)));
  }
  return composition;
}

CoefficientPrior prior_of(const Selection& selection, const std::optional<KnownCall>& call) {
  CoefficientPrior prior;
  const bool known = call && call->ns > 0;
  const double call_ns = known ? call->ns : 0;
  prior.mean.c0_ns = call_ns;
  if (known) {
    prior.mean.c1_ns = selection.sum_spread.kernel_ns;
    prior.mean.c2_ns_per_byte = selection.sum_spread.evicted_byte_ns;
  }
  prior.sd[kC0] = std::hypot(known ? kCallSdNs : kUnknownCallSdNs,
                             known && call->shared ? kSharedCallSd * call_ns : 0);
  prior.sd[kC1] = selection.setting.threads > 1 ? kKernelOfThreadsSdNs : kKernelSdNs;
  prior.sd[kC2] = kEvictedByteSdNs;
  prior.sd[kScale] = kScaleSd;
  prior.sd[kScaleInt8] = kInt8ScaleSd;
  const double missed = selection.sum_spread.sd_log;
  if (missed > 0) {
    prior.sd[kC0] = std::hypot(prior.sd[kC0], kOtherCallSd * call_ns);
    prior.sd[kC1] = std::hypot(prior.sd[kC1], kOtherKernelSdOfCall * call_ns);
    prior.sd[kScale] = std::hypot(prior.sd[kScale], missed);
  }
  return prior;
}

Term term_of_kernel(const KernelPrediction& kernel, double share) {
  Term term{share, kernel.sd_log.value_or(0), kernel.group, kernel.common_sd_log,
            kernel.values_sd_log};
  if (kernel.values_sd_log != 0) term.op = std::string(estimate::operator_of(kernel.key));
  term.measured = kernel.source == Source::Measured || kernel.source == Source::Free;
  return term;
}

std::vector<Term> terms_of(const std::vector<KernelPrediction>& kernels, double total_ns) {
  std::vector<Term> terms;
  terms.reserve(kernels.size());
  base::TextNumbers keys(kernels.size());
  for (const KernelPrediction& kernel : kernels) {
    if (!kernel.latency_ns || !kernel.sd_log || !(total_ns > 0)) continue;
    const double share = static_cast<double>(kernel.count) * *kernel.latency_ns / total_ns;
    const auto [term, added] = keys.of(kernel.key);
    if (added)
      terms.push_back(term_of_kernel(kernel, share));
    else
      terms[term].share += share;
  }
  return terms;
}

Status compose(Prediction& prediction) {
  Composition& composition = prediction.composition;
  composition.n_kernels = 0;
  std::map<Source, double> time;
  std::set<std::string_view> missing;
  for (const KernelPrediction& kernel : prediction.kernels) {
    auto& count = prediction.coverage.count[kernel.source];
    if (kernel.count < 0)
      return fail(Code::Input, "kernel {}: executed {} times", base::printable(kernel.name),
                  kernel.count);
    if (kernel.count > std::numeric_limits<std::int64_t>::max() - count - composition.n_kernels)
      return fail(Code::Input, "kernel {}: executed {} times, too often to count",
                  base::printable(kernel.name), kernel.count);
    count += kernel.count;
    if (kernel.source != Source::Free) composition.n_kernels += kernel.count;
    if (kernel.source == Source::Missing) {
      if (missing.insert(kernel.key).second) prediction.missing.push_back(kernel.key);
      continue;
    }
    time[kernel.source] += static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
  }

  const KernelTimes times = times_of(prediction);
  composition.evicted_bytes = times.evicted_bytes;
  const double overhead = composition.overhead_ns(times);
  // As the fit has it: what few models say of a call must not take a tiny model below nothing.
  const double total = std::max(overhead + times.ns, kMinShareOfKernels * times.ns);
  if (!std::isfinite(total))
    return fail(Code::Input, "{}: the sum of its kernel times is not finite", prediction.model);
  if (total > 0) {
    for (const auto& [source, part] : time) prediction.coverage.time[source] = part / total;
    prediction.coverage.overhead = overhead / total;
  }
  if (!prediction.missing.empty() && prediction.policy != MissingPolicy::Zero) return {};
  prediction.latency_ns = total;
  if (!prediction.missing.empty())
    prediction.warnings.push_back(
        fmt::format("{} missing kernels count as zero: the latency is too low, and the interval "
                    "does not reflect that",
                    prediction.missing.size()));

  // Where the call is little of the time, whether a neighbour slowed it is, too.
  constexpr double kMentionedSd = 0.05;
  if (composition.shared_call &&
      std::sqrt(composition.covariance.at(kC0, kC0)) > kMentionedSd * total)
    prediction.warnings.push_back(fmt::format(
        "a call of the runtime, {}, was never timed on a core of its own at full clock: it "
        "may take half of that, and the interval is as wide; profile again when the machine is "
        "quiet",
        base::duration_text(composition.c0_ns)));
  const double scale = times.scaled_ns > 0 ? times.scaled_ns / times.ns : composition.scale;
  const SumParts parts{1,
                       static_cast<double>(composition.n_kernels),
                       composition.evicted_bytes,
                       times.ns,
                       times.int8_ns,
                       times.evicted_sd_bytes,
                       prediction.reuse_bytes,
                       times.touched_bytes};
  prediction.composition_sd_log = composition.sd_log_of(total, parts);
  prediction.moment_sd_log = composition.moment_sd_log_of(total, parts);
  SumVariance variance =
      composition.variance_of(terms_of(prediction.kernels, total / scale), total, parts);
  for (const Mismatch& mismatch : prediction.mismatch) variance.add_unscored(mismatch.sd_log);
  variance.add_unscored(prediction.control_sd_log);
  const double spread = std::sqrt(variance.all());
  prediction.sd_log = spread;
  const Calibration calibration{composition.calibration_models, composition.scores,
                                variance.unscored_share()};
  OPLAT_TRY(bounds, interval(total, spread, prediction.level, calibration, times.floor_ns));
  const base::Interval reached = reached_by(prediction, total);
  bounds.low = std::min(bounds.low, reached.low);
  bounds.high = std::max(bounds.high, reached.high);
  if (!std::isfinite(bounds.high))
    return fail(Code::Input, "{}: its interval is not finite at a spread of {}", prediction.model,
                spread);
  prediction.interval = bounds;
  return {};
}

}  // namespace oplat::predict
