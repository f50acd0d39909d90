// SPDX-License-Identifier: Apache-2.0
/// What the protocol asks, answered with programs of libtorch's kernels.
#include "runtimes/qnnpack/worker.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "ir/key.hpp"
#include "plan/identity.hpp"
#include "runtimes/device_facts.hpp"
#include "runtimes/memory.hpp"
#include "runtimes/probe.h"
#include "runtimes/qnnpack/allocator.hpp"
#include "runtimes/qnnpack/engine.hpp"
#include "runtimes/qnnpack/model.hpp"
#include "runtimes/qnnpack/program.hpp"

namespace oplat::runtimes {
namespace {

using namespace qnnpack;
using measure::Handle;
using measure::OpenOutcome;
using measure::OpenRequest;
using measure::Topology;

/// Results of a kernel's copies that stand at one time, in bytes. In a network a result lands where
/// something lay some results ago, not where the last one lies still in the first-level cache.
constexpr std::int64_t kKeptBytes = std::int64_t{4} << 20;
constexpr std::int64_t kMaxCopies = 65'536;

Status check_setting(const table::Setting& setting) {
  if (setting.precision != "model" && setting.precision != "int8") {
    return fail(
        Code::Usage,
        "qnnpack: precision '{}': it computes in int8, the precision of its models; use 'model'",
        base::printable(setting.precision));
  }
  for (const auto& [name, value] : setting.options) {
    // The client pins the process.
    if (name != "affinity")
      return fail(Code::Usage, "qnnpack: no option '{}'; it takes none", base::printable(name));
  }
  return {};
}

/// Whether `bytes` fit, with as much left to others.
std::optional<table::Skipped> too_large(double bytes) {
  const auto available = available_memory();
  if (!available || bytes < static_cast<double>(*available) / 2) return std::nullopt;
  return table::Skipped{fmt::format("needs about {:.0f} MiB of memory, {} MiB are free",
                                    bytes / (1 << 20), *available >> 20)};
}

class QnnpackWorker final : public Worker {
 public:
  explicit QnnpackWorker(Engine engine) : engine_(std::move(engine)) {}

  Result<Hello> hello() override {
    Hello hello;
    hello.runtime = "qnnpack";
    hello.version = engine_.version;
    hello.build = engine_.build;
    hello.precisions = {"model", "int8"};
    table::Device device = this_device();
    hello.max_threads = device.cores;
    hello.device = std::move(device);
    return hello;
  }

  Result<table::Plan> plan(const PlanRequest& request) override {
    OPLAT_CHECK(check_setting(request.setting));
    OPLAT_CHECK(check_inputs(request.inputs));
    const formats::ShapeOptions shapes{request.shapes, request.batch};
    OPLAT_TRY(source, base::Source::open(request.model));
    OPLAT_TRY(net, read_net(source, shapes));
    OPLAT_TRY(hash, plan::model_hash(source));
    OPLAT_TRY(resolved, plan::resolve_shapes(source, shapes));
    table::Plan plan;
    plan.model = std::filesystem::path(request.model).filename().string();
    plan.identity = plan::identity(hash, resolved, request.setting, this_device().isa);
    plan.batch = net.batch;
    plan.weight_bytes = net.footprint.weight_bytes;
    plan.activation_bytes = net.footprint.activation_bytes;
    plan.kernels = std::move(net.kernels);
    return plan;
  }

  Result<OpenOutcome> open(const OpenRequest& request) override {
    OPLAT_CHECK(check_setting(request.setting));
    OPLAT_CHECK(set_threads(request.setting.threads));
    return request.key.empty() ? open_model(request) : open_kernel(request);
  }

  Result<double> run(Handle handle) override {
    const auto found = open_.find(handle);
    if (found == open_.end()) return fail(Code::Usage, "no open handle {}", handle);
    OPLAT_CHECK(set_threads(found->second.threads));
    Program& program = found->second.program;
    const std::int64_t begin = oplat_probe_now_ns();
    OPLAT_CHECK(program.run());
    const std::int64_t end = oplat_probe_now_ns();
    program.release();
    return static_cast<double>(end - begin);
  }

  Status close(Handle handle) override {
    open_.erase(handle);
    trim_allocator();
    return {};
  }

 private:
  struct Open {
    Program program;
    std::int64_t threads = 1;
  };

  static Status check_inputs(const std::map<std::string, std::string>& inputs) {
    if (inputs.empty()) return {};
    return fail(Code::Usage,
                "qnnpack: --input {}: the data decide nothing of its time; inputs are random",
                base::printable(inputs.begin()->first));
  }

  Result<OpenOutcome> open_model(const OpenRequest& request) {
    OPLAT_CHECK(check_inputs(request.inputs));
    OPLAT_TRY(source, base::Source::open(request.model));
    OPLAT_TRY(net, read_net(source, {request.shapes, request.batch}));
    auto read = specs_of(net);
    if (auto* unsupported = std::get_if<table::Unsupported>(&read))
      return OpenOutcome(std::move(*unsupported));
    if (auto* failed = std::get_if<table::Failed>(&read)) return OpenOutcome(std::move(*failed));
    const auto& specs = std::get<std::vector<Spec>>(read);
    double bytes = 0;
    for (const Spec& spec : specs) bytes += spec.bytes(1, 1);
    if (auto skipped = too_large(bytes)) return OpenOutcome(std::move(*skipped));
    auto program = make_program(net, specs, request.seed);
    if (!program) return OpenOutcome(table::Failed{program.error().message});
    return opened(std::move(*program), request, bytes, "single");
  }

  Result<OpenOutcome> open_kernel(const OpenRequest& request) {
    OPLAT_TRY(key, ir::parse(request.key));
    auto read = read_spec(key);
    if (auto* unsupported = std::get_if<table::Unsupported>(&read))
      return OpenOutcome(std::move(*unsupported));
    if (auto* failed = std::get_if<table::Failed>(&read)) return OpenOutcome(std::move(*failed));
    const Spec& spec = std::get<Spec>(read);
    const bool chain = request.topology == Topology::Chain && request.copies > 1;
    if (request.copies < 1 || request.copies > kMaxCopies ||
        (request.topology == Topology::Single && request.copies > 1)) {
      return fail(Code::Usage, "qnnpack: {} copies", request.copies);
    }
    if (chain && spec.inputs[0] != spec.result)
      return OpenOutcome(table::Unsupported{
          fmt::format("{} changes the shape of its operand and cannot be chained", key.op)});
    // Copies in a chain find their operands in different places, for which a convolution needs a
    // packing of its own.
    const bool own_weights = !spec.filter.empty() && (request.distinct_weights || chain);
    const std::int64_t kept =
        std::min(request.copies, 2 + kKeptBytes / std::max<std::int64_t>(spec.result.bytes(), 1));
    const double bytes = spec.bytes(own_weights ? request.copies : 1, kept);
    if (auto skipped = too_large(bytes)) return OpenOutcome(std::move(*skipped));
    auto program = copies_of(spec, request, own_weights, chain);
    if (!program) return OpenOutcome(table::Failed{program.error().message});
    return opened(std::move(*program), request, bytes,
                  request.copies == 1 ? "single"
                  : chain             ? "chain"
                                      : "fan");
  }

  static Result<Program> copies_of(const Spec& spec, const OpenRequest& request, bool own_weights,
                                   bool chain) {
    Program program;
    StepOptions step;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
      const bool again = spec.source[i] != i;
      step.inputs.push_back(
          again ? step.inputs[spec.source[i]]
                : program.add_input(spec.inputs[i], base::mix_seed(request.seed, i)));
    }
    for (std::int64_t copy = 0; copy < request.copies; ++copy) {
      const auto draw = request.distinct_weights ? static_cast<std::uint64_t>(copy) : 0;
      Constants constants;
      if (copy == 0 || own_weights)
        constants = make_constants(spec, base::mix_seed(~request.seed, draw));
      step.constants = copy == 0 || own_weights ? &constants : nullptr;
      OPLAT_TRY(result, program.add_step(spec, step));
      if (!chain) continue;
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        if (spec.source[i] == 0) step.inputs[i] = result;
      }
    }
    program.finish(kKeptBytes);
    return program;
  }

  /// The first runs pack weights, lay out pointers and may fail: better here than inside a block.
  Result<OpenOutcome> opened(Program program, const OpenRequest& request, double bytes,
                             const char* topology) {
    constexpr int kSettlingRuns = 2;
    for (int i = 0; i < kSettlingRuns; ++i) {
      if (auto status = program.run(); !status)
        return OpenOutcome(table::Failed{status.error().message});
      program.release();
    }
    const Handle handle = next_++;
    open_.emplace(handle, Open{std::move(program), request.setting.threads});
    return OpenOutcome(measure::Opened{handle, static_cast<std::int64_t>(bytes), topology});
  }

  Engine engine_;
  std::map<Handle, Open> open_;
  Handle next_ = 1;
};

}  // namespace

Result<std::unique_ptr<Worker>> create_qnnpack(const std::vector<std::string>& arguments) {
  if (!arguments.empty())
    return fail(Code::Usage, "qnnpack: the worker takes no arguments, found '{}'",
                base::printable(arguments.front()));
  OPLAT_TRY(engine, start_engine());
  return std::make_unique<QnnpackWorker>(std::move(engine));
}

}  // namespace oplat::runtimes
