// SPDX-License-Identifier: Apache-2.0
/// Plan -> estimates -> composition.
#include <cmath>
#include <set>
#include <unordered_map>

#include "compose.hpp"
#include "oplat/base/text.hpp"
#include "oplat/estimate/chain.hpp"
#include "oplat/ir/catalogue.hpp"

namespace oplat::predict {

using estimate::Source;

namespace {

/// A message names this many keys; all of them stand in Prediction::missing.
constexpr std::size_t kMostNamedKeys = 5;

bool is_view(std::string_view key) {
  const auto parsed = ir::parse(key);
  if (!parsed) return false;
  const ir::OperatorInfo* info = ir::find_operator(parsed->domain, parsed->op);
  return info != nullptr && info->view;
}

/// One answer per distinct key.
struct Distinct {
  std::vector<std::string_view> keys;
  std::unordered_map<std::string_view, std::size_t> index;
};

Distinct distinct_keys(const std::vector<table::PlanKernel>& kernels) {
  Distinct distinct;
  for (const table::PlanKernel& kernel : kernels)
    if (distinct.index.emplace(kernel.key, distinct.keys.size()).second) distinct.keys.push_back(kernel.key);
  return distinct;
}

/// The load under which rows were measured is no part of their intervals, so the prediction says it.
void warn_of_load(Prediction& prediction) {
  std::set<std::string_view> loaded;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (kernel.under_load) loaded.insert(kernel.key);
  if (loaded.empty()) return;
  prediction.warnings.push_back(
      fmt::format("{} of its kernels were measured while other programs kept the machine busy: their times may be too long and the interval does "
                  "not know; measure again on a quiet machine",
                  loaded.size()));
}

bool any_open(const std::vector<std::optional<estimate::Estimate>>& answers) {
  for (const auto& answer : answers)
    if (!answer) return true;
  return false;
}

}  // namespace

Result<MissingPolicy> parse_missing_policy(std::string_view text) {
  if (text == "error") return MissingPolicy::Error;
  if (text == "physics") return MissingPolicy::Physics;
  if (text == "zero") return MissingPolicy::Zero;
  return fail(Code::Usage, "--missing {}: is error, physics or zero", base::printable(text));
}

Result<std::vector<KernelPrediction>> estimate_kernels(const table::Table& table, const Selection& selection,
                                                       const std::vector<table::PlanKernel>& kernels,
                                                       std::optional<double> reuse_bytes, MissingPolicy missing) {
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids,
                                 estimate::default_curve(selection.device)};
  const Distinct distinct = distinct_keys(kernels);
  std::vector<estimate::Query> queries;
  std::vector<std::optional<estimate::Estimate>> answers(distinct.keys.size());
  for (std::size_t i = 0; i < distinct.keys.size(); ++i) {
    queries.push_back({distinct.keys[i], &selection.setting, reuse_bytes, {}});
    if (is_view(distinct.keys[i]))
      answers[i] = estimate::Estimate{0, 0, "free", Source::Free, "exact", "a view: the runtime moves nothing"};
  }
  OPLAT_TRY(chain, estimate::make_chain(rows, {}));
  OPLAT_CHECK(estimate::estimate_all(chain, queries, answers));
  // The roofline reads every row of the table: only where something is left to answer.
  if (missing == MissingPolicy::Physics && any_open(answers)) {
    OPLAT_TRY(with_physics, estimate::make_chain(rows, {.physics = true}));
    OPLAT_CHECK(estimate::estimate_all(with_physics, queries, answers));
  }

  std::vector<KernelPrediction> predictions;
  predictions.reserve(kernels.size());
  for (const table::PlanKernel& kernel : kernels) {
    KernelPrediction one;
    one.name = kernel.name;
    one.key = kernel.key;
    one.count = kernel.count;
    const auto& answer = answers[distinct.index.at(kernel.key)];
    if (answer) {
      one.latency_ns = answer->median_ns;
      one.sd_log = answer->sd_log;
      one.source = answer->source;
      one.group = answer->group;
      one.why = answer->why;
      one.under_load = answer->under_load;
    } else {
      OPLAT_TRY(why, estimate::why_missing(rows, kernel.key));
      one.why = why;
      if (missing == MissingPolicy::Physics) one.why += "; no roofline either";
      if (missing == MissingPolicy::Zero) one.why += "; counted as zero";
    }
    predictions.push_back(std::move(one));
  }
  return predictions;
}

Result<Prediction> predict(const table::Table& table, const Selection& selection, const table::Plan& plan,
                           const Options& options) {
  // Before any work, so that a wrong level is told even where kernels are missing.
  OPLAT_CHECK(interval(1, 0, options.level, 0).map([](const Interval&) {}));
  Prediction prediction;
  prediction.model = plan.model;
  prediction.level = options.level;
  prediction.policy = options.missing;
  prediction.batch = plan.batch;
  prediction.reuse_bytes = plan.weight_bytes + plan.activation_bytes;
  if (!std::isfinite(prediction.reuse_bytes) || prediction.reuse_bytes < 0)
    return fail(Code::Input, "{}: its plan states {} bytes of weights and activations", plan.model,
                prediction.reuse_bytes);
  prediction.device = selection.device;
  prediction.setting = selection.setting;
  prediction.mismatch = selection.mismatch;
  prediction.warnings = selection.warnings;
  prediction.table_path = table.path();
  prediction.schema_version = table::Table::schema_version();
  prediction.plan_source = plan.source;
  prediction.plan_hash = plan.identity;
  OPLAT_TRY(kernels, estimate_kernels(table, selection, plan.kernels, prediction.reuse_bytes, options.missing));
  prediction.kernels = std::move(kernels);
  OPLAT_TRY(composition, unfitted(table, selection, prediction.warnings));
  prediction.composition = composition;
  warn_of_load(prediction);
  OPLAT_CHECK(compose(prediction));
  return prediction;
}

Status require_complete(const Prediction& prediction) {
  if (prediction.latency_ns) return {};
  std::string keys;
  for (std::size_t i = 0; i < prediction.missing.size() && i < kMostNamedKeys; ++i)
    keys += "\n  " + base::printable(prediction.missing[i], 400);
  if (prediction.missing.size() > kMostNamedKeys)
    keys += fmt::format("\n  and {} more", prediction.missing.size() - kMostNamedKeys);
  return fail(Code::Missing,
              "{}: distinct kernels missing from {}: {}; measure them with oplat profile, or accept a guess with "
              "--missing physics:{}",
              prediction.model, prediction.table_path.string(), prediction.missing.size(), keys);
}

}  // namespace oplat::predict
