// SPDX-License-Identifier: Apache-2.0
/// Speed of the library: predictions from an open table, and opening one. OPLAT_BENCH_TABLE names a
/// table that holds a plan.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "made_rows.hpp"
#include "predict/prediction.hpp"
#include "predict/row_selection.hpp"

namespace oplat::bench {
namespace {

constexpr std::int64_t kKernels = 100;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// A table of 200 rows and a plan of its 100 kernels, each twice measured: the model's state lies
/// between hot and cold.
class SmallTable {
 public:
  SmallTable()
      : folder_(must(base::TemporaryFolder::create("oplat-bench"))),
        path_(folder_.path() / "small.oplat") {
    auto table = must(table::Table::open(path_, table::Mode::Create));
    table::Device device;
    device.name = device.cpu = "desk";
    device.architecture = "x86_64";
    device.cores = 4;
    device.llc_bytes = 32 << 20;
    table::Setting setting;
    setting.runtime = "replay";
    setting.version = "1.0";
    setting.build = "b1";
    const auto device_id = must(table.put_device(device));
    const auto setting_id = must(table.put_setting(setting));
    if (const Status put = put_made_rows(table, device_id, setting_id, 0, kKernels); !put)
      throw std::runtime_error(put.error().message);
    plan.model = "made.onnx";
    plan.identity = "made";
    plan.weight_bytes = 16 << 20;
    plan.activation_bytes = 4 << 20;
    for (std::int64_t number = 0; number < kKernels; ++number)
      plan.kernels.push_back({fmt::format("n{}", number), made_key(number), 1});
  }
  [[nodiscard]] table::Table open() const {
    return must(table::Table::open(path_, table::Mode::Read));
  }

  table::Plan plan;

 private:
  base::TemporaryFolder folder_;
  std::filesystem::path path_;
};

/// The table stays open and has answered these kernels before.
void predict_100_kernels_again(benchmark::State& state) {
  const SmallTable small;
  const auto table = small.open();
  const auto selection = must(predict::select_rows(table, {}, ir::Catalogue::own()));
  const auto predictor = must(predict::Predictor::create(table, selection));
  predict::Options options;
  options.explain = state.range(0) != 0;
  for (auto _ : state) benchmark::DoNotOptimize(must(predictor.predict(small.plan, options)));
}
BENCHMARK(predict_100_kernels_again)
    ->ArgName("explain")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);

/// The table is open and asked about these kernels for the first time.
void predict_100_kernels_first(benchmark::State& state) {
  const SmallTable small;
  for (auto _ : state) {
    state.PauseTiming();
    const auto table = small.open();
    const auto selection = must(predict::select_rows(table, {}, ir::Catalogue::own()));
    state.ResumeTiming();
    benchmark::DoNotOptimize(must(predict::predict(table, selection, small.plan, {})));
  }
}
BENCHMARK(predict_100_kernels_first)->Unit(benchmark::kMicrosecond);

std::string given_table() {
  const char* path = std::getenv("OPLAT_BENCH_TABLE");
  return path == nullptr ? std::string() : path;
}

void open_select_and_predict(benchmark::State& state) {
  const std::string path = given_table();
  if (path.empty()) return state.SkipWithError("OPLAT_BENCH_TABLE names no table");
  const auto plans = must(must(table::Table::open(path, table::Mode::Read)).plans());
  if (plans.empty()) return state.SkipWithError("the table holds no plan");
  predict::RowFilter question;
  question.threads = 1;
  for (auto _ : state) {
    const auto table = must(table::Table::open(path, table::Mode::Read));
    const auto selection = must(predict::select_rows(table, question, ir::Catalogue::own()));
    const auto plan = must(table.find_plan(plans.front().identity));
    benchmark::DoNotOptimize(must(predict::predict(table, selection, *plan, {})));
  }
  state.counters["kernels"] = static_cast<double>(plans.front().kernels.size());
}
BENCHMARK(open_select_and_predict)->Unit(benchmark::kMillisecond);

void open_only(benchmark::State& state) {
  const std::string path = given_table();
  if (path.empty()) return state.SkipWithError("OPLAT_BENCH_TABLE names no table");
  for (auto _ : state) benchmark::DoNotOptimize(must(table::Table::open(path, table::Mode::Read)));
}
BENCHMARK(open_only)->Unit(benchmark::kMillisecond);

void select_rows(benchmark::State& state) {
  const std::string path = given_table();
  if (path.empty()) return state.SkipWithError("OPLAT_BENCH_TABLE names no table");
  const auto table = must(table::Table::open(path, table::Mode::Read));
  predict::RowFilter question;
  question.threads = 1;
  for (auto _ : state)
    benchmark::DoNotOptimize(must(predict::select_rows(table, question, ir::Catalogue::own())));
}
BENCHMARK(select_rows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oplat::bench

BENCHMARK_MAIN();
