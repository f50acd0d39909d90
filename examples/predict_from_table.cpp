// SPDX-License-Identifier: Apache-2.0
/// predict_from_table TABLE MODEL [BATCH]: the latency of a model and its costliest kernels.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <oplat/oplat.hpp>

namespace {

double total_ms(const oplat::KernelTime& kernel) {
  return static_cast<double>(kernel.count) * kernel.median_ms.value_or(0);
}

int stop(const oplat::Error& error) {
  std::fprintf(stderr, "predict_from_table: %s\n", error.message.c_str());
  return 1;
}

/// Prints warnings as they come.
class Warnings : public oplat::Events {
  void warn(std::string_view text) override {
    std::fprintf(stderr, "warning: %.*s\n", static_cast<int>(text.size()), text.data());
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: predict_from_table TABLE MODEL [BATCH]\n");
    return 2;
  }
  Warnings events;
  const auto table = oplat::Table::open(argv[1], {}, &events);
  if (!table) return stop(table.error());

  oplat::PredictRequest request{.model = argv[2]};
  if (argc == 4) request.inputs.batch = std::atoll(argv[3]);
  request.estimate.missing = oplat::MissingPolicy::Roofline;
  auto prediction = oplat::predict_model(*table, request, &events);
  if (!prediction) return stop(prediction.error());

  std::printf("%.3f ms (%.3f to %.3f ms) on %s, %s %s, %lld thread(s)\n", prediction->median_ms,
              prediction->interval.low_ms, prediction->interval.high_ms,
              prediction->device.name.c_str(), prediction->setting.runtime.c_str(),
              prediction->setting.version.c_str(),
              static_cast<long long>(prediction->setting.threads));
  for (const std::string& text : prediction->warnings)
    std::fprintf(stderr, "warning: %s\n", text.c_str());

  std::vector<oplat::KernelTime>& kernels = prediction->kernels;
  std::sort(kernels.begin(), kernels.end(),
            [](const auto& a, const auto& b) { return total_ms(a) > total_ms(b); });
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i) {
    std::printf("%9.3f ms  %-12s %s\n", total_ms(kernels[i]),
                oplat::source_name(kernels[i].source).data(), kernels[i].key.c_str());
  }
}
