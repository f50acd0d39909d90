// SPDX-License-Identifier: Apache-2.0
#include "runtimes/messages.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "ir/key.hpp"
#include "runtimes/base64.hpp"
#include "runtimes/fields.hpp"

namespace oplat::runtimes {
namespace {

using measure::BlockOutcome;
using measure::BlockRequest;
using measure::BlockSamples;
using measure::Handle;
using measure::MemoryAnswer;
using measure::MemoryLook;
using measure::MemoryOutcome;
using measure::MemoryQuestion;
using measure::Opened;
using measure::OpenOutcome;
using measure::OpenRequest;
using measure::Topology;

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMaxThreads = 65'536;
constexpr std::int64_t kMaxCopies = 65'536;
constexpr std::int64_t kMaxRounds = 10'000'000;
constexpr std::int64_t kMaxDurationNs = std::int64_t{3600} * 1'000'000'000;
constexpr std::int64_t kMaxDim = std::int64_t{1} << 40;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxHandles = 4096;
constexpr std::size_t kMaxKernels = 1'000'000;
constexpr std::size_t kMaxReason = 65'536;
constexpr std::int64_t kMinPoolBytes = 65'536;
constexpr std::int64_t kMaxWaitNs = 1'000'000'000;

constexpr std::array<std::pair<Topology, std::string_view>, 4> kTopologies{
    {{Topology::Auto, "auto"},
     {Topology::Chain, "chain"},
     {Topology::Fan, "fan"},
     {Topology::Single, "single"}}};

template <class T>
Result<T> finish(const Fields& fields, T value) {
  if (fields.error()) return fail(*fields.error());
  return value;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void take_batch(Fields& fields, std::optional<std::int64_t>& batch) {
  std::int64_t found = 0;
  if (fields.find("batch", Need::Optional) == nullptr) return;
  fields.integer("batch", found, Need::Optional, 1, kMaxDim);
  batch = found;
}

Json encode_device(const table::Device& device) {
  return {{"name", device.name},
          {"cpu", device.cpu},
          {"architecture", device.architecture},
          {"cores", device.cores},
          {"memory_bytes", device.memory_bytes},
          {"l1d_bytes", device.l1d_bytes},
          {"l2_bytes", device.l2_bytes},
          {"llc_bytes", device.llc_bytes},
          {"isa", device.isa}};
}

Result<table::Device> decode_device(const Json& json) {
  table::Device device;
  Fields fields(json, "device");
  fields.text("name", device.name, Need::Required, 1024);
  fields.text("cpu", device.cpu, Need::Optional, 1024);
  fields.text("architecture", device.architecture, Need::Optional, 1024);
  fields.integer("cores", device.cores, Need::Optional, 0, kMaxThreads);
  fields.integer("memory_bytes", device.memory_bytes, Need::Optional, 0, kMaxBytes);
  fields.integer("l1d_bytes", device.l1d_bytes, Need::Optional, 0, kMaxBytes);
  fields.integer("l2_bytes", device.l2_bytes, Need::Optional, 0, kMaxBytes);
  fields.integer("llc_bytes", device.llc_bytes, Need::Optional, 0, kMaxBytes);
  fields.text("isa", device.isa, Need::Optional, 65'536);
  return finish(fields, std::move(device));
}

Json encode_setting(const table::Setting& setting) {
  return {{"runtime", setting.runtime}, {"version", setting.version},
          {"build", setting.build},     {"precision", setting.precision},
          {"threads", setting.threads}, {"options", setting.options}};
}

Result<table::Setting> decode_setting(const Json& json) {
  table::Setting setting;
  Fields fields(json, "setting");
  fields.text("runtime", setting.runtime, Need::Optional, 1024);
  fields.text("version", setting.version, Need::Optional, 1024);
  fields.text("build", setting.build, Need::Optional, 4096);
  fields.text("precision", setting.precision, Need::Optional, 1024);
  fields.integer("threads", setting.threads, Need::Optional, 1, kMaxThreads);
  fields.text_map("options", setting.options);
  return finish(fields, std::move(setting));
}

Result<SettingOption> decode_option(const Json& json) {
  SettingOption option;
  Fields fields(json, "option");
  fields.texts("values", option.values, Need::Optional);
  fields.text("default", option.default_value, Need::Optional);
  return finish(fields, std::move(option));
}

Result<table::PlanKernel> decode_kernel(const Json& json) {
  table::PlanKernel kernel;
  Fields fields(json, "kernel");
  fields.text("name", kernel.name, Need::Optional);
  fields.text("key", kernel.key, Need::Required);
  fields.integer("count", kernel.count, Need::Optional, 1, kAny);
  fields.boolean("put_in", kernel.inserted_by_runtime);
  fields.number("input_bytes", kernel.input_bytes);
  if (!fields.error()) {
    const auto key = ir::parse(kernel.key);
    if (!key) fields.complain("key", key.error().message);
  }
  return finish(fields, std::move(kernel));
}

/// The reason under the only member of {"unsupported": ...}, {"skipped": ...} or {"failed": ...}.
std::string take_reason(Fields& fields, const char* name) {
  std::string reason;
  fields.text(name, reason, Need::Required, kMaxReason);
  if (!fields.error() && reason.empty()) fields.complain(name, "gives no reason");
  return reason;
}

void take_hexadecimal(Fields& fields, const char* name, std::string& to) {
  fields.text(name, to, Need::Required, 32);
  const bool good =
      to.size() == 32 && to.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!good) fields.complain(name, "expected 32 lower-case hexadecimal digits");
}

}  // namespace

std::string_view topology_name(Topology topology) {
  for (const auto& [value, name] : kTopologies) {
    if (value == topology) return name;
  }
  return "auto";
}

Json encode(const Hello& hello) {
  Json options = Json::object();
  for (const auto& [name, option] : hello.options) {
    options[name] = {{"values", option.values}, {"default", option.default_value}};
  }
  return {{"protocol", hello.protocol},
          {"runtime", hello.runtime},
          {"version", hello.version},
          {"build", hello.build},
          {"options", std::move(options)},
          {"precisions", hello.precisions},
          {"most_threads", hello.max_threads},
          {"device", encode_device(hello.device)},
          {"shared_file_system", hello.shared_file_system},
          {"rewrites_batch", hello.rewrites_batch},
          {"oplat", hello.oplat},
          {"worker", hello.worker}};
}

Result<Hello> decode_hello(const Json& json) {
  Hello hello;
  Fields fields(json, "hello");
  std::int64_t protocol = 0;
  fields.integer("protocol", protocol, Need::Required, 0, 1'000'000);
  hello.protocol = static_cast<int>(protocol);
  fields.text("runtime", hello.runtime, Need::Required, 1024);
  fields.text("version", hello.version, Need::Required, 1024);
  fields.text("build", hello.build, Need::Optional, 4096);
  fields.each_member("options", [&](const std::string& name, const Json& value) {
    fields.part("options", decode_option(value), hello.options[name]);
  });
  fields.texts("precisions", hello.precisions, Need::Optional);
  fields.integer("most_threads", hello.max_threads, Need::Optional, 1, kMaxThreads);
  if (const Json* device = fields.find("device", Need::Required)) {
    fields.part("device", decode_device(*device), hello.device);
  }
  fields.boolean("shared_file_system", hello.shared_file_system, Need::Optional);
  fields.boolean("rewrites_batch", hello.rewrites_batch, Need::Optional);
  fields.text("oplat", hello.oplat, Need::Optional, 1024);
  fields.text("worker", hello.worker, Need::Optional, 1024);
  if (!fields.error() && hello.runtime.empty()) fields.complain("runtime", "is empty");
  return finish(fields, std::move(hello));
}

Json encode(const PlanRequest& request) {
  return {{"model", request.model},
          {"shapes", request.shapes},
          {"batch", or_null(request.batch)},
          {"inputs", request.inputs},
          {"setting", encode_setting(request.setting)}};
}

Result<PlanRequest> decode_plan_request(const Json& json) {
  PlanRequest request;
  Fields fields(json, "plan");
  fields.text("model", request.model, Need::Required, 65'536);
  fields.integers_map("shapes", request.shapes, 0, kMaxDim, kMaxRank);
  take_batch(fields, request.batch);
  fields.text_map("inputs", request.inputs);
  if (const Json* setting = fields.find("setting", Need::Required)) {
    fields.part("setting", decode_setting(*setting), request.setting);
  }
  if (!fields.error() && request.model.empty()) fields.complain("model", "is empty");
  return finish(fields, std::move(request));
}

Json encode(const table::Plan& plan) {
  Json kernels = Json::array();
  for (const auto& kernel : plan.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"key", kernel.key},
                       {"count", kernel.count},
                       {"put_in", or_null(kernel.inserted_by_runtime)},
                       {"input_bytes", or_null(kernel.input_bytes)}});
  }
  return {{"model", plan.model},
          {"identity", plan.identity},
          {"source", plan.source},
          {"batch", plan.batch},
          {"weight_bytes", plan.weight_bytes},
          {"activation_bytes", plan.activation_bytes},
          {"kernels", std::move(kernels)}};
}

Result<table::Plan> decode_plan(const Json& json) {
  table::Plan plan;
  Fields fields(json, "plan");
  fields.text("model", plan.model, Need::Optional, 65'536);
  fields.text("identity", plan.identity, Need::Optional, 1024);
  fields.text("source", plan.source, Need::Optional, 1024);
  fields.integer("batch", plan.batch, Need::Optional, 1, kMaxDim);
  fields.number("weight_bytes", plan.weight_bytes, Need::Optional);
  fields.number("activation_bytes", plan.activation_bytes, Need::Optional);
  const Json* kernels = fields.find("kernels", Need::Required);
  if (kernels != nullptr && fields.is_list("kernels", *kernels, kMaxKernels)) {
    for (std::size_t i = 0; i < kernels->size() && !fields.error(); ++i) {
      const std::string place = fmt::format("kernels[{}]", i);
      fields.part(place.c_str(), decode_kernel((*kernels)[i]), plan.kernels.emplace_back());
    }
  }
  return finish(fields, std::move(plan));
}

Json encode(const NodeTimes& times) {
  Json nodes = Json::array();
  for (const NodeTime& time : times)
    nodes.push_back({{"node", time.node}, {"ns", {time.ns.low, time.ns.high}}});
  return {{"nodes", std::move(nodes)}};
}

Result<NodeTimes> decode_node_times(const Json& json) {
  NodeTimes times;
  Fields fields(json, "times");
  const Json* nodes = fields.find("nodes", Need::Optional);
  if (nodes == nullptr || !fields.is_list("nodes", *nodes, kMaxKernels))
    return finish(fields, std::move(times));
  for (const Json& entry : *nodes) {
    Fields inner(entry, "nodes");
    NodeTime time;
    inner.text("node", time.node, Need::Required, 65'536);
    const Json* ns = inner.find("ns", Need::Required);
    if (ns != nullptr && inner.is_list("ns", *ns, 2)) {
      if (ns->size() != 2) inner.complain("ns", "expected two numbers");
      if (!inner.error()) inner.take_number("ns", (*ns)[0], time.ns.low);
      if (!inner.error()) inner.take_number("ns", (*ns)[1], time.ns.high);
      if (time.ns.low > time.ns.high) inner.complain("ns", "begins above its end");
    }
    if (inner.error()) return fail(*inner.error());
    times.push_back(std::move(time));
  }
  return finish(fields, std::move(times));
}

Json encode(const PutRequest& request) {
  return {{"folder", request.folder}, {"name", request.name},
          {"hash", request.hash},     {"offset", request.offset},
          {"size", request.size},     {"data", base64_encode(request.bytes)}};
}

Result<PutRequest> decode_put_request(const Json& json) {
  PutRequest request;
  std::string data;
  Fields fields(json, "put");
  take_hexadecimal(fields, "folder", request.folder);
  take_hexadecimal(fields, "hash", request.hash);
  fields.text("name", request.name, Need::Required, 255);
  fields.integer("size", request.size, Need::Required, 0, kMaxBytes);
  fields.integer("offset", request.offset, Need::Required, 0, kMaxBytes);
  fields.text("data", data, Need::Required, (kMaxPieceBytes + 2) / 3 * 4);
  if (auto bytes = base64_decode(data)) {
    request.bytes = std::move(*bytes);
  } else {
    fields.complain("data", "is not base64");
  }
  const auto length = static_cast<std::int64_t>(request.bytes.size());
  if (request.offset > request.size - length) fields.complain("data", "reaches beyond \"size\"");
  return finish(fields, std::move(request));
}

Json encode(const PutOutcome& outcome) {
  return {{"complete", outcome.complete}, {"path", outcome.path}};
}

Result<PutOutcome> decode_put_outcome(const Json& json) {
  PutOutcome outcome;
  Fields fields(json, "put");
  fields.boolean("complete", outcome.complete, Need::Required);
  fields.text("path", outcome.path, outcome.complete ? Need::Required : Need::Optional, 65'536);
  return finish(fields, std::move(outcome));
}

Json encode(const OpenRequest& request) {
  Json json = {{"shapes", request.shapes},
               {"batch", or_null(request.batch)},
               {"inputs", request.inputs},
               {"setting", encode_setting(request.setting)},
               {"copies", request.copies},
               {"topology", topology_name(request.topology)},
               {"distinct_weights", request.distinct_weights},
               {"results_as_outputs", request.results_as_outputs},
               {"seed", request.seed}};
  if (request.reads > 0) json["reads"] = request.reads;
  if (!request.key.empty()) json["key"] = request.key;
  if (!request.model.empty()) json["model"] = request.model;
  return json;
}

Result<OpenRequest> decode_open_request(const Json& json) {
  OpenRequest request;
  std::string topology(topology_name(request.topology));
  Fields fields(json, "open");
  fields.text("key", request.key, Need::Optional);
  fields.text("model", request.model, Need::Optional, 65'536);
  if (request.key.empty() == request.model.empty())
    fields.complain("key", "or \"model\": exactly one must be given");
  fields.integers_map("shapes", request.shapes, 0, kMaxDim, kMaxRank);
  take_batch(fields, request.batch);
  fields.text_map("inputs", request.inputs);
  if (const Json* setting = fields.find("setting", Need::Required)) {
    fields.part("setting", decode_setting(*setting), request.setting);
  }
  fields.integer("copies", request.copies, Need::Optional, 1, kMaxCopies);
  fields.text("topology", topology, Need::Optional, 64);
  fields.boolean("distinct_weights", request.distinct_weights, Need::Optional);
  fields.boolean("results_as_outputs", request.results_as_outputs, Need::Optional);
  fields.integer("reads", request.reads, Need::Optional, 0, kMaxCopies);
  fields.unsigned_integer("seed", request.seed, Need::Optional);
  const auto* known = std::find_if(kTopologies.begin(), kTopologies.end(),
                                   [&](const auto& entry) { return entry.second == topology; });
  if (known != kTopologies.end()) {
    request.topology = known->first;
  } else {
    fields.complain("topology", "expected auto, chain, fan or single");
  }
  return finish(fields, std::move(request));
}

Json encode(const OpenOutcome& outcome) {
  if (const auto* opened = std::get_if<Opened>(&outcome)) {
    return {
        {"opened",
         {{"handle", opened->handle}, {"bytes", opened->bytes}, {"topology", opened->topology}}}};
  }
  if (const auto* refused = std::get_if<table::Unsupported>(&outcome))
    return {{"unsupported", refused->reason}};
  if (const auto* skipped = std::get_if<table::Skipped>(&outcome))
    return {{"skipped", skipped->reason}};
  return {{"failed", std::get<table::Failed>(outcome).reason}};
}

Result<OpenOutcome> decode_open_outcome(const Json& json) {
  Fields fields(json, "open");
  OpenOutcome outcome;
  if (const Json* found = fields.find("opened", Need::Optional)) {
    Opened opened;
    Fields inner(*found, "opened");
    inner.integer("handle", opened.handle, Need::Required, 0,
                  std::numeric_limits<std::int32_t>::max());
    inner.integer("bytes", opened.bytes, Need::Optional, 0, kMaxBytes);
    inner.text("topology", opened.topology, Need::Required, 64);
    const bool known =
        opened.topology == "chain" || opened.topology == "fan" || opened.topology == "single";
    if (!known) inner.complain("topology", "expected chain, fan or single");
    if (inner.error()) return fail(*inner.error());
    outcome = std::move(opened);
  } else if (fields.find("unsupported", Need::Optional) != nullptr) {
    outcome = table::Unsupported{take_reason(fields, "unsupported")};
  } else if (fields.find("skipped", Need::Optional) != nullptr) {
    outcome = table::Skipped{take_reason(fields, "skipped")};
  } else if (fields.find("failed", Need::Optional) != nullptr) {
    outcome = table::Failed{take_reason(fields, "failed")};
  } else {
    fields.complain("", "none of \"opened\", \"unsupported\", \"skipped\", \"failed\"");
  }
  return finish(fields, std::move(outcome));
}

namespace {

Json encode_cores(const measure::Cores& cores) {
  return {{"look_ns", cores.issue_ns}, {"trip_ns", cores.handoff_ns}};
}

void take_cores(Fields& fields, measure::Cores& to) {
  const Json* found = fields.find("best_cores", Need::Optional);
  if (found == nullptr) return;
  Fields inner(*found, "best_cores");
  inner.number("look_ns", to.issue_ns, Need::Optional);
  inner.number("trip_ns", to.handoff_ns, Need::Optional);
  if (inner.error()) fields.complain("best_cores", "holds something other than two times");
}

}  // namespace

Json encode(const BlockRequest& request) {
  return {{"handles", request.handles},
          {"duration_ns", static_cast<std::int64_t>(request.duration.count())},
          {"least_rounds", request.min_rounds},
          {"most_rounds", request.max_rounds},
          {"warmup_rounds", request.warmup_rounds},
          {"scrub_bytes", request.scrub_bytes},
          {"scrub_threads", request.scrub_threads},
          {"references", request.references},
          {"alone", request.core_exclusive},
          {"apart", request.cores_distinct},
          {"patience_ns", static_cast<std::int64_t>(request.max_wait.count())},
          {"best_cores", encode_cores(request.best_cores)},
          {"wake", request.wake ? Json(*request.wake) : Json(nullptr)}};
}

Result<BlockRequest> decode_block_request(const Json& json) {
  BlockRequest request;
  std::int64_t duration_ns = request.duration.count();
  std::int64_t patience_ns = request.max_wait.count();
  Fields fields(json, "block");
  fields.integers("handles", request.handles, Need::Required, 0, kAny, kMaxHandles);
  fields.integer("duration_ns", duration_ns, Need::Optional, 0, kMaxDurationNs);
  fields.integer("most_rounds", request.max_rounds, Need::Optional, 1, kMaxRounds);
  fields.integer("least_rounds", request.min_rounds, Need::Optional, 1, kMaxRounds);
  fields.integer("warmup_rounds", request.warmup_rounds, Need::Optional, 0, kMaxRounds);
  fields.integer("scrub_bytes", request.scrub_bytes, Need::Optional, 0, kMaxBytes);
  fields.integer("scrub_threads", request.scrub_threads, Need::Optional, 1, kMaxThreads);
  fields.boolean("references", request.references, Need::Optional);
  fields.boolean("alone", request.core_exclusive, Need::Optional);
  fields.integer("apart", request.cores_distinct, Need::Optional, 1, kMaxThreads);
  fields.integer("patience_ns", patience_ns, Need::Optional, 0, kMaxDurationNs);
  take_cores(fields, request.best_cores);
  if (const Json* wake = fields.find("wake", Need::Optional); wake != nullptr && !wake->is_null()) {
    fields.integer("wake", request.wake.emplace(), Need::Required, 0, kAny);
  }
  request.duration = std::chrono::nanoseconds(duration_ns);
  request.max_wait = std::chrono::nanoseconds(patience_ns);
  const auto handles = static_cast<std::int64_t>(request.handles.size());
  if (request.min_rounds > request.max_rounds)
    fields.complain("least_rounds", "is above \"most_rounds\"");
  if (handles > 0 && request.min_rounds > kMaxSamples / handles) {
    fields.complain("least_rounds",
                    fmt::format("asks for more than {} times in one answer", kMaxSamples));
  }
  return finish(fields, std::move(request));
}

Json encode(const BlockOutcome& outcome) {
  if (const auto* failed = std::get_if<table::Failed>(&outcome))
    return {{"failed", failed->reason}};
  const auto& samples = std::get<BlockSamples>(outcome);
  return {{"samples",
           {{"ns", samples.ns},
            {"reference_compute_ns", or_null(samples.reference_compute_ns)},
            {"reference_memory_ns", or_null(samples.reference_memory_ns)},
            {"faults", samples.faults},
            {"switches", samples.switches},
            {"steal_ticks", samples.steal_ticks},
            {"other_load", or_null(samples.other_load)},
            {"waited_ns", samples.waited_ns},
            {"best_cores", encode_cores(samples.best_cores)},
            {"virtual_time", samples.virtual_time}}}};
}

Result<BlockOutcome> decode_block_outcome(const Json& json, std::size_t handles) {
  Fields fields(json, "block");
  if (fields.find("failed", Need::Optional) != nullptr) {
    return finish(fields, BlockOutcome(table::Failed{take_reason(fields, "failed")}));
  }
  const Json* found = fields.find("samples", Need::Required);
  if (fields.error()) return fail(*fields.error());
  BlockSamples samples;
  Fields inner(*found, "samples");
  const Json* lists = inner.find("ns", Need::Required);
  if (lists != nullptr && inner.is_list("ns", *lists, handles)) {
    if (lists->size() != handles) {
      inner.complain("ns", fmt::format("holds {} lists for {} handles", lists->size(), handles));
    }
    for (const Json& list : *lists) {
      if (inner.error() || !inner.is_list("ns", list, static_cast<std::size_t>(kMaxSamples))) break;
      if (list.size() != lists->front().size())
        inner.complain("ns", "holds lists of different lengths");
      auto& times = samples.ns.emplace_back();
      times.reserve(list.size());
      for (const Json& time : list) inner.take_number("ns", time, times.emplace_back());
    }
    if (!inner.error() && handles > 0 && samples.ns.front().empty())
      inner.complain("ns", "holds no times");
  }
  inner.number("reference_compute_ns", samples.reference_compute_ns);
  inner.number("reference_memory_ns", samples.reference_memory_ns);
  inner.integer("faults", samples.faults, Need::Optional, 0, kAny);
  inner.integer("switches", samples.switches, Need::Optional, 0, kAny);
  inner.integer("steal_ticks", samples.steal_ticks, Need::Optional, 0, kAny);
  inner.number("other_load", samples.other_load);
  inner.integer("waited_ns", samples.waited_ns, Need::Optional, 0, kAny);
  take_cores(inner, samples.best_cores);
  inner.boolean("virtual_time", samples.virtual_time, Need::Optional);
  return finish(inner, BlockOutcome(std::move(samples)));
}

Json encode(const MemoryQuestion& question) {
  Json json = {{"pool_bytes", question.pool_bytes}};
  if (question.wait_ns) json["wait_ns"] = *question.wait_ns;
  return json;
}

Result<MemoryQuestion> decode_memory_question(const Json& json) {
  MemoryQuestion question;
  Fields fields(json, "memory");
  fields.integer("pool_bytes", question.pool_bytes, Need::Required, 0, kMaxBytes);
  if (question.pool_bytes > 0 && question.pool_bytes < kMinPoolBytes)
    fields.complain("pool_bytes", fmt::format("expected 0, or at least {}", kMinPoolBytes));
  if (fields.find("wait_ns", Need::Optional) != nullptr) {
    std::int64_t wait_ns = 0;
    fields.integer("wait_ns", wait_ns, Need::Required, 0, kMaxWaitNs);
    question.wait_ns = wait_ns;
  }
  return finish(fields, question);
}

Json encode(const MemoryOutcome& outcome) {
  if (const auto* refused = std::get_if<table::Unsupported>(&outcome))
    return {{"unsupported", refused->reason}};
  if (const auto* failed = std::get_if<table::Failed>(&outcome))
    return {{"failed", failed->reason}};
  const auto& answer = std::get<MemoryAnswer>(outcome);
  Json look = nullptr;
  if (answer.look)
    look = {{"stream_ns", answer.look->stream_ns}, {"chase_ns", answer.look->chase_ns}};
  Json json = {{"max_pool_bytes", answer.max_pool_bytes}, {"look", std::move(look)}};
  if (answer.waited_chase_ns) json["waited"] = {{"chase_ns", *answer.waited_chase_ns}};
  return json;
}

Result<MemoryOutcome> decode_memory_outcome(const Json& json, std::int64_t pool_bytes) {
  Fields fields(json, "memory");
  if (fields.find("unsupported", Need::Optional) != nullptr)
    return finish(fields, MemoryOutcome(table::Unsupported{take_reason(fields, "unsupported")}));
  if (fields.find("failed", Need::Optional) != nullptr)
    return finish(fields, MemoryOutcome(table::Failed{take_reason(fields, "failed")}));
  MemoryAnswer answer;
  fields.integer("max_pool_bytes", answer.max_pool_bytes, Need::Required, 0, kMaxBytes);
  if (const Json* found = fields.find("look", Need::Optional)) {
    Fields inner(*found, "look");
    MemoryLook look{pool_bytes, 0, 0};
    inner.number("stream_ns", look.stream_ns, Need::Required);
    inner.number("chase_ns", look.chase_ns, Need::Required);
    if (!inner.error() && !(look.stream_ns > 0 && look.chase_ns > 0))
      inner.complain("", "holds a time of 0");
    if (inner.error()) return fail(*inner.error());
    answer.look = look;
  }
  if (const Json* found = fields.find("waited", Need::Optional)) {
    Fields inner(*found, "waited");
    double chase_ns = 0;
    inner.number("chase_ns", chase_ns, Need::Required);
    if (!inner.error() && !(chase_ns > 0)) inner.complain("chase_ns", "expected more than 0");
    if (inner.error()) return fail(*inner.error());
    answer.waited_chase_ns = chase_ns;
  }
  return finish(fields, MemoryOutcome(answer));
}

Json encode_handle(Handle handle) { return {{"handle", handle}}; }

Result<Handle> decode_handle(const Json& json) {
  Handle handle = 0;
  Fields fields(json, "close");
  fields.integer("handle", handle, Need::Required, 0, kAny);
  return finish(fields, handle);
}

}  // namespace oplat::runtimes
