// SPDX-License-Identifier: Apache-2.0
/// Is the harness right? A kernel of a fixed number of instructions, timed by a million plain
/// repeats, must come out of a campaign (worker process, copies, slope, blocks, stop rule) within 1
/// %. Exit 1 where it does not. harness_bench [CPU]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "base/files.hpp"
#include "base/stats.hpp"
#include "base/units.hpp"
#include "measure/campaign.hpp"
#include "measure/statistics.hpp"
#include "runtimes/probe.h"
#include "runtimes/probe/probe_internal.h"
#include "runtimes/serve.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat::bench {
namespace {

constexpr int kBatches = 1000;
constexpr int kRepeatsOfBatch = 1000;
constexpr double kMaxError = 0.01;
/// The worker runs the probe's compute kernel whatever the key says: this one is small, without
/// weights.
constexpr const char* kKey = "Relu/14{}(f32[1,16])->(f32[1,16])";

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// Copies are calls of the probe's compute kernel, one after the other.
class FixedWorker final : public runtimes::Worker {
 public:
  Result<runtimes::Hello> hello() override {
    runtimes::Hello hello;
    hello.runtime = "fixed";
    hello.version = "1";
    hello.device.name = "this machine";
    return hello;
  }
  Result<table::Plan> plan(const runtimes::PlanRequest&) override {
    return fail(Code::Runtime, "no plans here");
  }
  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    copies_[next_] = request.copies;
    return measure::Opened{next_++, 0, request.copies == 1 ? "single" : "chain"};
  }
  Result<double> run(measure::Handle handle) override {
    const std::int64_t copies = copies_.at(handle);
    const std::int64_t begin = oplat_probe_now_ns();
    for (std::int64_t copy = 0; copy < copies; ++copy) oplat_probe_kernel_compute();
    return static_cast<double>(oplat_probe_now_ns() - begin);
  }
  Status close(measure::Handle handle) override {
    copies_.erase(handle);
    return {};
  }

 private:
  std::map<measure::Handle, std::int64_t> copies_;
  measure::Handle next_ = 1;
};

/// Time of one repeat in each of some batches: a median of these forgives the interruptions of a
/// shared machine.
std::vector<double> repeat_plainly(int batches) {
  std::vector<double> ns;
  for (int batch = 0; batch < batches; ++batch) {
    const std::int64_t begin = oplat_probe_now_ns();
    for (int repeat = 0; repeat < kRepeatsOfBatch; ++repeat) oplat_probe_kernel_compute();
    ns.push_back(static_cast<double>(oplat_probe_now_ns() - begin) / kRepeatsOfBatch);
  }
  return ns;
}

table::Timing measure_by_campaign(std::optional<int> cpu) {
  runtimes::WorkerOptions options;
  options.command = {"/proc/self/exe", "worker"};
  options.cpu = cpu;
  const auto factory = [&]() -> Result<std::unique_ptr<measure::KernelRunner>> {
    OPLAT_TRY(worker, runtimes::WorkerClient::start("fixed", options));
    return std::unique_ptr<measure::KernelRunner>(std::move(worker));
  };
  const auto folder = must(base::TemporaryFolder::create("oplat-harness"));
  auto table = must(table::Table::open(folder.path() / "harness.oplat", table::Mode::Create));
  measure::CampaignRequest request;
  request.catalogue = &ir::Catalogue::own();
  request.device.name = "this machine";
  request.setting.runtime = "fixed";
  request.setting.version = "1";
  request.keys = {kKey};
  request.empty_call_key.clear();
  measure::SilentProgress progress;
  must(measure::run(request, table, factory, progress));
  const auto device = must(table.put_device(request.device));
  const auto setting = must(table.put_setting(request.setting));
  for (const table::StoredRow& row : must(table.rows_of(kKey, device, setting))) {
    if (const auto* timing = std::get_if<table::Timing>(&row.row.outcome)) return *timing;
  }
  throw std::runtime_error("the campaign left no time");
}

int check(std::optional<int> cpu) {
  if (cpu && oplat_probe_pin(*cpu) != 0)
    throw std::runtime_error(fmt::format("cannot pin to CPU {}", *cpu));
  // Half before and half after the campaign, so that a drift of the machine shows as such.
  std::vector<double> plain = repeat_plainly(kBatches / 2);
  const double before_ns = *base::median(plain);
  const table::Timing timing = measure_by_campaign(cpu);
  const std::vector<double> later = repeat_plainly(kBatches / 2);
  const double after_ns = *base::median(later);
  plain.insert(plain.end(), later.begin(), later.end());
  const double known_ns = *base::median(plain);
  const double ratio = timing.median_ns / known_ns;
  fmt::print(
      "plain repeats: {} x {}, median {:.1f} ns a repeat ({:.1f} before the campaign, {:.1f} "
      "after: {:+.2f} %)\n",
      kBatches, kRepeatsOfBatch, known_ns, before_ns, after_ns, 100 * (after_ns / before_ns - 1));
  fmt::print("campaign: {:.1f} ns, 95 % interval {:.1f} to {:.1f}, {} blocks in {} processes\n",
             timing.median_ns, timing.ci_low_ns, timing.ci_high_ns, timing.blocks,
             timing.processes);
  fmt::print("ratio {:.4f}\n", ratio);
  if (std::abs(ratio - 1) <= kMaxError) return 0;
  fmt::print(stderr, "harness_bench: off by {:+.2f} %, more than {} %\n", 100 * (ratio - 1),
             100 * kMaxError);
  return 1;
}

}  // namespace
}  // namespace oplat::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) {
    oplat::bench::FixedWorker worker;
    return oplat::runtimes::serve(worker, oplat::runtimes::claim_protocol_descriptor());
  }
  try {
    return oplat::bench::check(argc > 1 ? std::optional(std::atoi(argv[1])) : std::nullopt);
  } catch (const std::exception& error) {
    fmt::print(stderr, "harness_bench: {}\n", error.what());
    return 1;
  }
}
