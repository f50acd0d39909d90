// SPDX-License-Identifier: Apache-2.0
/// plan_and_predict TABLE MODEL [PLAN]: a model that the table need not know: its kernels, by the
/// table, the installed runtime or fusion rules, what of them was measured, and what was not.
#include <cstdio>
#include <map>
#include <oplat/oplat.hpp>

namespace {

int stop(const oplat::Error& error) {
  std::fprintf(stderr, "plan_and_predict: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: plan_and_predict TABLE MODEL [PLAN]\n");
    return 2;
  }
  const auto table = oplat::Table::open(argv[1]);
  if (!table) return stop(table.error());
  oplat::PredictRequest request{.model = argv[2]};
  if (argc == 4) request.plan = argv[3];
  request.estimate.missing = oplat::MissingPolicy::Roofline;
  const auto prediction = oplat::predict_model(*table, request);
  if (!prediction) return stop(prediction.error());

  std::map<oplat::Source, long long> kernels;
  for (const oplat::KernelTime& kernel : prediction->kernels)
    kernels[kernel.source] += static_cast<long long>(kernel.count);
  std::printf("plan %s, batch %lld\n", prediction->plan.c_str(),
              static_cast<long long>(prediction->batch));
  for (const auto& [source, count] : kernels) {
    const auto share = prediction->coverage.find(source);
    std::printf("%6lld kernels %-12s %5.1f %% of the time\n", count,
                oplat::source_name(source).data(),
                100 * (share == prediction->coverage.end() ? 0 : share->second));
  }
  std::printf("%.3f ms (%.3f to %.3f ms)\n", prediction->median_ms, prediction->interval.low_ms,
              prediction->interval.high_ms);
  if (prediction->measured_ms) std::printf("measured: %.3f ms\n", *prediction->measured_ms);
}
