// SPDX-License-Identifier: Apache-2.0
#include "app/estimate.hpp"
#include "app/possible_key.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"

#include <cmath>
#include <utility>

#include "ir/key.hpp"

namespace oplat::app {

namespace {

/// The keys of the request, each checked, and its runtime's name too.
Result<std::vector<table::PlanKernel>> asked_kernels(const EstimateRequest& request) {
  std::vector<table::PlanKernel> kernels;
  for (const std::string& text : request.keys) {
    if (text.empty())
      return fail(Code::Usage, "KEY is empty; expected a key, as 'oplat plan --keys' prints it");
    auto key = ir::parse(text);
    if (!key) return fail(Code::Usage, "KEY: {}", key.error().message);
    if (const Status possible = check_possible(*key); !possible)
      return fail(Code::Usage, "KEY: {}: no operator computes this: {}", base::printable(text, 200),
                  possible.error().message);
    kernels.push_back({"", text, 1});
  }
  if (request.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.rows.runtime));
  return kernels;
}

Result<EstimateResult> estimate_asked(const EstimateRequest& request,
                                      const std::vector<table::PlanKernel>& kernels,
                                      const table::Table& table) {
  OPLAT_TRY(selection, select_rows(table, request.rows));
  OPLAT_TRY(estimates,
            predict::estimate_kernels(table, selection, kernels, request.reuse_bytes,
                                      request.options.missing, request.options.estimator));
  // Rows measured under another setting answer with a wider spread, as in a whole prediction.
  for (predict::KernelPrediction& estimate : estimates) {
    for (const predict::Mismatch& one : selection.mismatch) {
      if (estimate.sd_log) estimate.sd_log = std::hypot(*estimate.sd_log, one.sd_log);
    }
  }
  return EstimateResult{std::move(estimates), std::move(selection)};
}

}  // namespace

Result<EstimateResult> estimate(const EstimateRequest& request, const table::Table& table) {
  OPLAT_TRY(kernels, asked_kernels(request));
  return estimate_asked(request, kernels, table);
}

Result<EstimateResult> estimate(const EstimateRequest& request, Events& events) {
  static_cast<void>(events);  // takes microseconds a key and has nothing to report
  OPLAT_TRY(kernels, asked_kernels(request));
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  return estimate_asked(request, kernels, table);
}

report::EstimateListing estimate_listing(const EstimateRequest& request, EstimateResult result) {
  report::EstimateListing listing;
  listing.kernels = std::move(result.kernels);
  listing.level = request.options.level;
  listing.device = std::move(result.selection.device);
  listing.setting = std::move(result.selection.setting);
  listing.mismatch = std::move(result.selection.mismatch);
  listing.warnings = std::move(result.selection.warnings);
  return listing;
}

Status require_estimates(const EstimateResult& result, predict::MissingPolicy missing) {
  if (missing == predict::MissingPolicy::Zero) return {};
  for (const predict::KernelPrediction& kernel : result.kernels) {
    if (kernel.latency_ns) continue;
    return fail(Code::Missing, "no estimate for {}: {}; measure it{}", kernel.key, kernel.why,
                missing == predict::MissingPolicy::Error ? ", or use --missing roofline" : "");
  }
  return {};
}

}  // namespace oplat::app
