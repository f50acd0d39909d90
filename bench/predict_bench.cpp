// SPDX-License-Identifier: Apache-2.0
/// Speed of the library: predictions from an open table, and opening one. OPLAT_BENCH_TABLE names a
/// table that holds a plan.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/rules_plan.hpp"
#include "base/files.hpp"
#include "compat/registry.hpp"
#include "made_rows.hpp"
#include "plan/rules.hpp"
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

/// Predictions of a model by rules in a process that has made one before: the table stays open.
class ByRules {
 public:
  explicit ByRules(const std::string& table_path)
      : table_(must(table::Table::open(table_path, table::Mode::Read))),
        selection_(must(predict::select_rows(table_, one_thread(), compat::catalogue()))),
        predictor_(must(predict::Predictor::create(table_, selection_))),
        rules_(must(plan::built_in_rules("onnxruntime", compat::rule_sets()))) {
    if (auto block =
            must(plan::block_option(rules_, selection_.device.architecture, selection_.device.isa)))
      options_.insert(*block);
  }

  void from_graph(const ir::Graph& graph, bool explain) const {
    predict(must(plan::plan_by_rules(graph, rules_, compat::catalogue(), options_)), explain);
  }
  void from_file(const std::string& path) const {
    const auto model = must(app::read_rules_model(path, {}));
    predict(must(app::plan_model_by_rules(model, rules_, options_)).plan, true);
  }

 private:
  static predict::RowFilter one_thread() {
    predict::RowFilter filter;
    filter.threads = 1;
    return filter;
  }
  void predict(const plan::Plan& plan, bool explain) const {
    predict::Options options;
    options.explain = explain;
    benchmark::DoNotOptimize(must(predictor_.predict(plan, options)));
  }

  table::Table table_;
  predict::Selection selection_;
  predict::Predictor predictor_;
  plan::RuleSet rules_;
  plan::RuleOptions options_;
};

std::string given_model() {
  const char* path = std::getenv("OPLAT_BENCH_MODEL");
  return path == nullptr ? std::string() : path;
}

void from_graph_by_rules(benchmark::State& state) {
  if (given_table().empty() || given_model().empty())
    return state.SkipWithError(
        "OPLAT_BENCH_TABLE and OPLAT_BENCH_MODEL name no table and no model");
  const ByRules predictions(given_table());
  const auto graph = must(app::read_rules_model(given_model(), {})).graph;
  for (auto _ : state) predictions.from_graph(graph, state.range(0) != 0);
}
BENCHMARK(from_graph_by_rules)->ArgName("explain")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void from_file_by_rules(benchmark::State& state) {
  if (given_table().empty() || given_model().empty())
    return state.SkipWithError(
        "OPLAT_BENCH_TABLE and OPLAT_BENCH_MODEL name no table and no model");
  const ByRules predictions(given_table());
  for (auto _ : state) predictions.from_file(given_model());
}
BENCHMARK(from_file_by_rules)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oplat::bench

BENCHMARK_MAIN();
