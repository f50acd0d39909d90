// SPDX-License-Identifier: Apache-2.0
#include "runtimes/reference/reference.hpp"

#include <map>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "runtimes/device_facts.hpp"
#include "runtimes/probe.h"
#include "runtimes/reference/kernel.hpp"

namespace oplat::runtimes {
namespace {

using measure::Handle;
using measure::OpenOutcome;
using measure::OpenRequest;
using measure::Topology;
using reference::Floats;
using reference::FloatsOut;
using reference::Kernel;

/// Memory of one handle.
constexpr std::int64_t kMaxReferenceBytes = std::int64_t{2} << 30;

/// Numbers of [-1, 1] that are neither 0 nor denormal, the same for the same seed everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed) {}
  float next() {
    const std::uint64_t z = random_.next();
    const float size = (static_cast<float>(z >> 41) + 1.0F) / 8388608.0F;
    return (z & 1U) != 0 ? size : -size;
  }

 private:
  base::Random random_;
};

/// k copies of one kernel, run one after the other.
class Copies {
 public:
  Copies(Kernel kernel, const OpenRequest& request, bool chain)
      : kernel_(std::move(kernel)), copies_(request.copies), chain_(chain) {
    Numbers numbers(request.seed);
    const std::int64_t weight_sets = request.distinct_weights ? copies_ : 1;
    buffers_.resize(kernel_.operand_elements.size());
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const std::int64_t sets = kernel_.constant[i] ? weight_sets : 1;
      for (std::int64_t set = 0; set < sets; ++set) {
        std::vector<float> buffer(static_cast<std::size_t>(kernel_.operand_elements[i]));
        for (float& element : buffer)
          element = kernel_.values[i] ? *kernel_.values[i] : numbers.next();
        buffers_[i].push_back(std::move(buffer));
      }
    }
    const std::size_t results = chain_ && copies_ > 1 ? 2 : 1;
    results_.assign(results, std::vector<float>(static_cast<std::size_t>(kernel_.result_elements)));
  }

  double run() {
    const std::int64_t begin = oplat_probe_now_ns();
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      std::vector<float>& result = results_[static_cast<std::size_t>(copy) % results_.size()];
      operands_.clear();
      for (const auto& sets : buffers_)
        operands_.emplace_back(sets[static_cast<std::size_t>(copy) % sets.size()]);
      if (chain_ && copy > 0)
        operands_[*kernel_.chained] =
            results_[static_cast<std::size_t>(copy - 1) % results_.size()];
      for (std::size_t i = 0; i < operands_.size(); ++i)
        operands_[i] = operands_[kernel_.source[i]];
      kernel_.call(operands_, result);
    }
    return static_cast<double>(oplat_probe_now_ns() - begin);
  }

  /// Bytes that `copies` of `kernel` will hold.
  static double bytes(const Kernel& kernel, const OpenRequest& request) {
    double elements = 2.0 * static_cast<double>(kernel.result_elements);
    for (std::size_t i = 0; i < kernel.operand_elements.size(); ++i) {
      const bool many = kernel.constant[i] && request.distinct_weights;
      elements += static_cast<double>(kernel.operand_elements[i]) *
                  (many ? static_cast<double>(request.copies) : 1.0);
    }
    return elements * sizeof(float);
  }

 private:
  Kernel kernel_;
  std::int64_t copies_;
  bool chain_;
  std::vector<std::vector<std::vector<float>>> buffers_;  // per operand, per set of weights
  std::vector<std::vector<float>> results_;
  std::vector<Floats> operands_;
};

class ReferenceWorker final : public Worker {
 public:
  Result<Hello> hello() override {
    Hello hello;
    hello.runtime = "reference";
    hello.version = base::version();
    // The compiler and the kind of build decide how fast the loops are; the commit hardly ever
    // does.
    hello.build = fmt::format("{} {}", base::build_type(), base::compiler());
    hello.precisions = {"model", "f32"};
    hello.max_threads = 1;
    hello.device = this_device();
    return hello;
  }

  Result<table::Plan> plan(const PlanRequest& request) override {
    return fail(Code::Runtime,
                "{}: the reference runtime has no plans of its own; it measures keys (oplat "
                "profile --keys)",
                base::printable(request.model));
  }

  Result<OpenOutcome> open(const OpenRequest& request) override {
    if (request.key.empty())
      return table::Unsupported{"the reference runtime opens keys, not models"};
    if (auto why = refusal(request.setting); !why.empty())
      return table::Unsupported{std::move(why)};
    auto key = ir::parse(request.key);
    if (!key) return fail(std::move(key).error());
    auto built = reference::build(*key);
    if (auto* unsupported = std::get_if<table::Unsupported>(&built)) return std::move(*unsupported);
    if (auto* failed = std::get_if<table::Failed>(&built)) return std::move(*failed);
    auto& kernel = std::get<Kernel>(built);
    const double bytes = Copies::bytes(kernel, request);
    if (bytes > static_cast<double>(kMaxReferenceBytes)) {
      return table::Skipped{fmt::format("needs {}, the reference runtime takes {} at most",
                                        base::bytes_text(bytes),
                                        base::bytes_text(static_cast<double>(kMaxReferenceBytes)))};
    }
    const bool single = request.copies == 1 || request.topology == Topology::Single;
    if (request.topology == Topology::Single && request.copies > 1) {
      return fail(Code::Usage, "{} copies cannot be of topology single", request.copies);
    }
    if (request.topology == Topology::Chain && !kernel.chained) {
      return table::Unsupported{
          fmt::format("{} changes the shape of its operand and cannot be chained", key->op)};
    }
    const bool chain = !single && kernel.chained.has_value() && request.topology != Topology::Fan;
    const Handle handle = next_++;
    open_.try_emplace(handle, std::move(kernel), request, chain);
    return measure::Opened{handle, static_cast<std::int64_t>(bytes),
                           single  ? "single"
                           : chain ? "chain"
                                   : "fan"};
  }

  Result<double> run(Handle handle) override {
    const auto found = open_.find(handle);
    if (found == open_.end()) return fail(Code::Usage, "unknown handle {}", handle);
    return found->second.run();
  }

  Status close(Handle handle) override {
    if (open_.erase(handle) == 0) return fail(Code::Usage, "unknown handle {}", handle);
    return {};
  }

 private:
  static std::string refusal(const table::Setting& setting) {
    if (setting.precision != "model" && setting.precision != "f32")
      return "precision " + setting.precision;
    if (setting.threads != 1) return fmt::format("{} threads", setting.threads);
    for (const auto& [name, value] : setting.options) {
      // Where the process runs is the client's doing, not the loops'.
      if (name != "affinity") return fmt::format("option {}={}", name, value);
    }
    return "";
  }

  std::map<Handle, Copies> open_;
  Handle next_ = 1;
};

}  // namespace

Result<std::unique_ptr<Worker>> create_reference(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) return fail(Code::Usage, "worker reference takes no arguments");
  // Chains of sigmoids and products drift towards denormals, which would be timed instead of the
  // operator.
  oplat_probe_flush_denormals(1);
  return std::make_unique<ReferenceWorker>();
}

}  // namespace oplat::runtimes
