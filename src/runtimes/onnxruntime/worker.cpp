// SPDX-License-Identifier: Apache-2.0
/// The worker: what the protocol asks, answered with sessions of the runtime.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/name_value.hpp"
#include "base/text.hpp"
#include "formats/batch.hpp"
#include "formats/onnx.hpp"
#include "ir/catalogue.hpp"
#include "ir/key.hpp"
#include "ir/value_costs.hpp"
#include "ir/work.hpp"
#include "plan/identity.hpp"
#include "runtimes/device_facts.hpp"
#include "runtimes/memory.hpp"
#include "runtimes/onnxruntime/library.hpp"
#include "runtimes/onnxruntime/onnxruntime.hpp"
#include "runtimes/onnxruntime/planner.hpp"
#include "runtimes/onnxruntime/result_shape.hpp"
#include "runtimes/place.hpp"
#include "runtimes/probe.h"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {
namespace {

using namespace onnxruntime;
namespace onnx = formats::onnx;

constexpr std::uint64_t kPlanSeed = 1;
// A model in memory, in its session and in a copy being packed.
constexpr std::int64_t kCopiesWhileLoading = 3;

Result<SessionOptions> session_options(const table::Setting& setting) {
  SessionOptions options;
  options.level = 99;
  options.threads = setting.threads;
  if (setting.precision != "model") {
    return fail(Code::Usage,
                "onnxruntime: precision '{}': on CPU it computes in the precision of the model; "
                "use 'model'",
                base::printable(setting.precision));
  }
  for (const auto& [name, value] : setting.options) {
    if (name == "level") {
      const auto level = base::parse_int(value);
      if (!level || (*level != 0 && *level != 1 && *level != 2 && *level != 3 && *level != 99)) {
        return fail(Code::Usage, "onnxruntime: level '{}' is none of 0, 1, 2, 3, 99",
                    base::printable(value));
      }
      options.level = static_cast<int>(*level);
    } else if (name == "spinning") {
      if (value != "0" && value != "1")
        return fail(Code::Usage, "onnxruntime: spinning '{}' is neither 0 nor 1",
                    base::printable(value));
      options.spinning = value == "1";
    } else if (name !=
               "affinity") {  // the client pins the process; the runtime's one thread inherits it
      return fail(Code::Usage, "onnxruntime: no option '{}'; there are level and spinning",
                  base::printable(name));
    }
  }
  return options;
}

/// A model brought into the form that is asked for, with data for its inputs.
struct ReadyModel {
  onnx::Model model;
  std::vector<InputData> inputs;
  std::int64_t batch = 1;
  std::string made_up;  ///< what a failed run may owe to values that nobody gave; may be empty
  InputMaker further;   ///< of a model that is quicker on the data of the run before; else empty
};

/// Decisive inputs with their values. The runtime is asked for shapes of inner tensors where the
/// file's do not bound them.
std::vector<formats::DecisiveInput> decisive_of(const Api& api, const onnx::Model& model,
                                                const std::vector<onnx::InputInfo>& infos,
                                                const ir::Graph& graph,
                                                const std::map<std::string, std::string>& given) {
  std::vector<formats::DecisiveInput> decisive = formats::decisive_inputs(infos, graph);
  const bool all_known = std::all_of(decisive.begin(), decisive.end(), [&](const auto& input) {
    return given.contains(input.name) || (input.fill && !formats::decides_work(input.role)) ||
           input.role == ir::ValueRole::Trips || input.role == ir::ValueRole::Condition;
  });
  if (all_known) return decisive;
  auto shaped = graph_with_shapes(api, model);
  return shaped ? formats::decisive_inputs(infos, *shaped) : decisive;
}

/// Inputs of integers and bools that nobody gave, in the words of a message.
std::string made_up_inputs(const std::vector<onnx::InputInfo>& infos,
                           const std::vector<formats::DecisiveInput>& decisive,
                           const std::map<std::string, std::string>& given) {
  std::vector<std::string> names;
  for (const onnx::InputInfo& info : infos) {
    const bool decides = std::any_of(decisive.begin(), decisive.end(),
                                     [&](const auto& input) { return input.name == info.name; });
    if (given.contains(info.name) || (ir::is_float(info.dtype) && !decides)) continue;
    names.push_back(base::printable(info.name, 80));
  }
  if (names.empty()) return {};
  constexpr std::size_t kMaxNames = 8;
  const std::string first = names.front();
  const std::size_t more = names.size() - std::min(names.size(), kMaxNames);
  names.resize(names.size() - more);
  return fmt::format(
      "; the values of {} '{}'{} were made up by oplat; give legal ones with --input {}",
      base::one_or_many(names.size(), "input", "inputs"), base::join(names, "', '"),
      more > 0 ? fmt::format(" and {} more", more) : "", base::name_value_word(first, "FILE.npy"));
}

/// Code::Refused if so many bytes are more than what is free. `what` is the subject of the message.
Status fits_into_memory(std::string_view what, double bytes) {
  const auto available = available_memory();
  if (!available || bytes < static_cast<double>(*available)) return {};
  return fail(Code::Refused, "{} about {:.0f} MiB of memory, {} MiB are free; set a smaller size",
              what, bytes / (1 << 20), *available >> 20);
}

/// The data of a model's inputs, each of which is drawn or read whole.
Status inputs_fit_into_memory(const std::string& path, const std::vector<onnx::InputInfo>& infos) {
  double bytes = 0;
  for (const onnx::InputInfo& info : infos) {
    double elements = 1;
    for (const ir::Dim& dim : info.shape.dims) elements *= static_cast<double>(dim.value_or(1));
    bytes += elements * ir::bits(info.dtype).value_or(8) / 8;
  }
  return fits_into_memory(fmt::format("{}: the data of its inputs need", path), bytes);
}

Result<ReadyModel> ready_model(const Api& api, const base::Source& source,
                               const formats::ShapeOptions& shapes,
                               const std::map<std::string, std::string>& inputs,
                               std::uint64_t seed) {
  const std::string& path = source.name();
  OPLAT_TRY(reader, formats::reader_for(source));
  if (reader->name() != "onnx")
    return fail(Code::Input, "{}: a {} model; onnxruntime runs ONNX models", path, reader->name());
  OPLAT_TRY(model, onnx::Model::load(source));
  OPLAT_CHECK(model.specialise(shapes));
  OPLAT_TRY(infos, model.inputs());
  OPLAT_CHECK(inputs_fit_into_memory(path, infos));
  OPLAT_TRY(graph, model.graph());
  const std::vector<formats::DecisiveInput> decisive =
      decisive_of(api, model, infos, graph, inputs);
  OPLAT_TRY(data, model_inputs(infos, decisive, inputs, seed));
  std::vector<formats::FedInput> fed;
  for (const InputData& input : data) fed.push_back({input.name, input.dims});
  const std::int64_t batch = model.named_batch().value_or(formats::leading_dimension(graph, fed));
  if (const auto nothing = formats::nothing_to_run(graph, fed, batch))
    return fail(Code::Input, "{}: {}", path, *nothing);
  ReadyModel ready{std::move(model),
                   std::move(data),
                   std::max<std::int64_t>(1, batch),
                   made_up_inputs(infos, decisive, inputs),
                   {}};
  if (ir::is_quicker_on_repeated_data(graph))
    ready.further = [infos, decisive, inputs](std::uint64_t other_seed) {
      return model_inputs(infos, decisive, inputs, other_seed);
    };
  return ready;
}

/// Bytes that one kernel with its operands and results needs, and so many copies of its weights: a
/// few bytes of key can ask for any amount.
std::int64_t kernel_bytes(const ir::Key& key, std::int64_t copies_of_weights) {
  const ir::Work work = ir::work(key, ir::Catalogue::own());
  const auto further = static_cast<double>(std::max<std::int64_t>(0, copies_of_weights - 1));
  constexpr double kMax = 1e18;
  return static_cast<std::int64_t>(std::min(work.bytes() + further * work.bytes_weights, kMax));
}

/// Whether `bytes` of model fit into memory while they are loaded.
std::optional<table::Skipped> too_large(std::int64_t bytes) {
  const auto available = available_memory();
  if (!available || bytes < *available / kCopiesWhileLoading) return std::nullopt;
  return table::Skipped{fmt::format("needs about {} MiB of memory, {} MiB are free",
                                    (bytes >> 20) * kCopiesWhileLoading, *available >> 20)};
}

/// Data of a batch of `from` as data of a batch of `to`: its first images, again and again where
/// there are fewer. Empty if the data do not divide into images.
std::string repeated_images(const std::string& bytes, std::int64_t from, std::int64_t to) {
  const auto images = static_cast<std::size_t>(from);
  if (bytes.size() % images != 0) return {};
  const std::size_t image = bytes.size() / images;
  std::string data;
  for (std::int64_t i = 0; i < to; ++i)
    data.append(bytes, static_cast<std::size_t>(i % from) * image, image);
  return data;
}

/// The model as its file has it, with the data of the rewritten one. A file of input data holds the
/// batch that is asked for, which is another than that of the model.
Result<ReadyModel> original_model(const Api& api, const base::Source& source,
                                  const ReadyModel& rewritten, const PlanRequest& request,
                                  std::int64_t fixed) {
  std::map<std::string, std::string> specified = request.inputs;
  std::erase_if(specified, [](const auto& input) { return is_data_file(input.second); });
  OPLAT_TRY(original, ready_model(api, source, {request.shapes, fixed}, specified, kPlanSeed));
  for (InputData& input : original.inputs) {
    const auto given = request.inputs.find(input.name);
    if (given == request.inputs.end() || !is_data_file(given->second)) continue;
    for (const InputData& whole : rewritten.inputs) {
      if (whole.name != input.name) continue;
      std::string data = repeated_images(whole.bytes, *request.batch, fixed);
      if (data.size() == input.bytes.size()) input.bytes = std::move(data);
    }
  }
  return std::move(original);
}

/// Code::Usage where a model whose batch was rewritten computes something else than before, as far
/// as the sizes of its results tell; Code::Refused where it needs more memory than is free.
Status check_rewritten(const Api& api, const base::Source& source, const ReadyModel& ready,
                       const PlanRequest& request, const SessionOptions& options) {
  const std::optional<std::int64_t> fixed = ready.model.fixed_batch();
  if (!fixed || !request.batch) return {};
  OPLAT_TRY(original, original_model(api, source, ready, request, *fixed));
  OPLAT_TRY(before, run_as_it_is(api, original.model, original.inputs, options));
  const double growth = static_cast<double>(*request.batch) / static_cast<double>(*fixed);
  const double needed = static_cast<double>(ready.model.data_bytes()) + growth * peak_bytes(before);
  OPLAT_CHECK(fits_into_memory(fmt::format("with --batch {} it needs", *request.batch), needed));
  auto after = run_as_it_is(api, ready.model, ready.inputs, options);
  if (!after)
    return fail(
        Code::Usage,
        "--batch {} cannot be set: the model fixes its batch to {}, and the runtime refuses "
        "another one: {}",
        *request.batch, *fixed, after.error().message);
  return check_batch(before, *after, *fixed, *request.batch);
}

class OnnxRuntimeWorker final : public Worker {
 public:
  explicit OnnxRuntimeWorker(const Api& api) : api_(api) {}

  Result<Hello> hello() override {
    Hello hello;
    hello.runtime = "onnxruntime";
    hello.version = api_.version();
    hello.build = api_.build();
    hello.options = {{"level", {{"0", "1", "2", "3", "99"}, "99"}},
                     {"spinning", {{"0", "1"}, "1"}}};
    hello.precisions = {"model"};
    hello.rewrites_batch = true;
    table::Device device = this_device();
    hello.max_threads = device.cores;
    hello.device = std::move(device);
    return hello;
  }

  Result<table::Plan> plan(const PlanRequest& request) override {
    OPLAT_TRY(options, session_options(request.setting));
    const formats::ShapeOptions shapes{request.shapes, request.batch};
    OPLAT_TRY(opened, base::Source::open(request.model));
    auto source = std::optional(std::move(opened));
    OPLAT_TRY(ready, ready_model(api_, *source, shapes, request.inputs, kPlanSeed));
    if (auto same = check_rewritten(api_, *source, ready, request, options); !same)
      return fail_in(request.model, std::move(same).error());
    OPLAT_TRY(hash, plan::model_hash(*source));
    OPLAT_TRY(resolved, plan::resolve_shapes(*source, shapes));
    source.reset();  // its bytes are not kept while the model runs
    if (auto skipped = too_large(ready.model.data_bytes()))
      return fail(Code::Refused, "{}: {}", request.model, skipped->reason);
    auto made = make_plan(api_, ready.model, ready.inputs, ready.made_up, options);
    // Whatever the runtime says of a model, the message names the file.
    if (!made) return fail_in(request.model, std::move(made).error());
    table::Plan& plan = *made;
    OPLAT_TRY(inputs, plan::resolve_inputs(request.inputs));
    plan.identity = plan::identity(hash, resolved, request.setting, this_device().isa, inputs);
    plan.model = std::filesystem::path(request.model).filename().string();
    plan.batch = ready.batch;
    return std::move(plan);
  }

  Result<NodeTimes> node_times(const PlanRequest& request) override {
    OPLAT_TRY(options, session_options(request.setting));
    OPLAT_TRY(source, base::Source::open(request.model));
    OPLAT_TRY(ready, ready_model(api_, source, {request.shapes, request.batch}, request.inputs,
                                 kPlanSeed));
    if (auto skipped = too_large(ready.model.data_bytes()))
      return fail(Code::Refused, "{}: {}", request.model, skipped->reason);
    auto times = time_nodes(api_, ready.model, ready.inputs, ready.further, options);
    if (!times) return fail_in(request.model, std::move(times).error());
    return times;
  }

  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    return request.key.empty() ? open_model(request) : open_kernel(request);
  }

  Result<double> run(measure::Handle handle) override {
    const auto at = sessions_.find(handle);
    if (at == sessions_.end()) return fail(Code::Usage, "no open handle {}", handle);
    Session& session = *at->second;
    const std::int64_t begin = oplat_probe_now_ns();
    OPLAT_CHECK(session.run());
    return static_cast<double>(oplat_probe_now_ns() - begin);
  }

  Status close(measure::Handle handle) override {
    sessions_.erase(handle);
    return {};
  }

 private:
  Result<measure::OpenOutcome> open_model(const measure::OpenRequest& request) {
    OPLAT_TRY(options, session_options(request.setting));
    OPLAT_TRY(source, base::Source::open(request.model));
    OPLAT_TRY(ready, ready_model(api_, source, {request.shapes, request.batch}, request.inputs,
                                 request.seed));
    OPLAT_TRY(bytes, ready.model.bytes());
    options.data_folder = ready.model.data_folder();
    OPLAT_TRY(outcome,
              open_session(bytes, options, std::move(ready.inputs), Session::Place::Callers,
                           "single", ready.model.data_bytes(), ready.made_up));
    const auto* opened = std::get_if<measure::Opened>(&outcome);
    if (opened != nullptr && ready.further)
      vary_inputs(*sessions_.at(opened->handle), ready.further, request.seed);
    return outcome;
  }

  Result<measure::OpenOutcome> open_kernel(const measure::OpenRequest& request) {
    OPLAT_TRY(options, session_options(request.setting));
    options.level = 0;  // the key is what remains after the optimisations
    options.shared_pool = true;
    OPLAT_TRY(key, ir::parse(request.key));
    if (auto skipped = too_large(kernel_bytes(key, request.distinct_weights ? request.copies : 1)))
      return measure::OpenOutcome(std::move(*skipped));
    onnx::KernelModelOptions wanted;
    wanted.copies = request.copies;
    wanted.distinct_weights = request.distinct_weights;
    wanted.distinct_operands = ir::is_quicker_on_repeated_data(key);
    wanted.force_fan = request.topology == measure::Topology::Fan;
    wanted.results_as_outputs = request.results_as_outputs;
    wanted.reads = request.reads;
    wanted.seed = request.seed;
    auto kernel = onnx::write_kernel_model(key, wanted);
    // Not the runtime lacks something, but the key.
    if (!kernel) return measure::OpenOutcome(table::Skipped{kernel.error().message});
    auto inputs = kernel_inputs(kernel->inputs, request.seed);
    if (!inputs) return measure::OpenOutcome(table::Skipped{inputs.error().message});
    const char* wiring = kernel->wiring == onnx::Wiring::Chain ? "chain"
                         : kernel->wiring == onnx::Wiring::Fan ? "fan"
                                                               : "single";
    OPLAT_TRY(outcome, open_session(kernel->bytes, options, std::move(*inputs),
                                    Session::Place::Runtimes, wiring));
    const auto* opened = std::get_if<measure::Opened>(&outcome);
    if (opened == nullptr) return outcome;
    Session& session = *sessions_.at(opened->handle);
    const auto vary = [&](const std::function<bool()>& is_good) {
      if (!ir::is_quicker_on_repeated_data(key)) return;
      vary_inputs(
          session, [&](std::uint64_t seed) { return kernel_inputs(kernel->inputs, seed); },
          request.seed, kMaxFurtherInputs, is_good);
    };
    // A view that is copied is itself the output; bodies that are made up give results of theirs.
    if (key.tag(ir::kCopiedTag) != nullptr || onnx::has_made_up_bodies(key) ||
        request.results_as_outputs) {
      vary({});
      return outcome;
    }
    // The output of a kernel model is the shape of its last copy's first result.
    OPLAT_TRY(shape, session.first_output());
    const std::vector<std::size_t> results = present_results(key);
    auto wrong = wrong_result(key, results.front(), shape);
    if (!wrong && results.size() > 1 && checked_.insert(request.key).second) {
      OPLAT_TRY(other, wrong_other_result(key, results, options, request.seed));
      wrong = std::move(other);
    }
    if (!wrong) {
      vary([&] {
        const auto further_shape = session.first_output();
        return further_shape && !wrong_result(key, results.front(), *further_shape);
      });
      return outcome;
    }
    checked_.erase(request.key);
    sessions_.erase(opened->handle);
    return measure::OpenOutcome(table::Failed{*wrong});
  }

  /// Whether any of several results has another shape than the key says, seen in a model that is
  /// not timed: there each is read.
  Result<std::optional<std::string>> wrong_other_result(const ir::Key& key,
                                                        const std::vector<std::size_t>& results,
                                                        const SessionOptions& options,
                                                        std::uint64_t seed) {
    onnx::KernelModelOptions wanted;
    wanted.consume_results = true;
    wanted.seed = seed;
    std::optional<std::string> wrong;
    auto kernel = onnx::write_kernel_model(key, wanted);
    if (!kernel) return wrong;  // a result that cannot be read says nothing
    OPLAT_TRY(inputs, kernel_inputs(kernel->inputs, seed));
    const auto unchecked = [](const Error& error) {
      return std::optional("its other results could not be checked: " + error.message);
    };
    auto session = Session::create(api_, kernel->bytes, options);
    if (!session) return unchecked(session.error().error);
    if (auto status = (*session)->bind(std::move(inputs)); !status)
      return unchecked(status.error());
    if (auto status = (*session)->run(); !status) return unchecked(status.error());
    std::vector<std::string> names;
    // As write_kernel_model() names them in a model of one copy.
    for (const std::size_t result : results) names.push_back(fmt::format("shape0_{}", result));
    OPLAT_TRY(shapes, (*session)->integer_outputs(names));
    for (std::size_t i = 0; i < results.size() && !wrong; ++i)
      if (shapes[i]) wrong = wrong_result(key, results[i], *shapes[i]);
    return wrong;
  }

  Result<measure::OpenOutcome> open_session(const std::string& bytes, const SessionOptions& options,
                                            std::vector<InputData> inputs, Session::Place place,
                                            const char* topology, std::int64_t data_bytes = 0,
                                            std::string_view made_up = {}) {
    const auto size = static_cast<std::int64_t>(bytes.size()) + data_bytes;
    if (auto skipped = too_large(size)) return measure::OpenOutcome(std::move(*skipped));
    leave_place();  // the session, or the first one of all, makes threads
    auto session = Session::create(api_, bytes, options);
    if (!session) {
      if (session.error().not_implemented)
        return measure::OpenOutcome(table::Unsupported{session.error().error.message});
      return measure::OpenOutcome(table::Failed{session.error().error.message});
    }
    if (options.shared_pool && options.threads > 1) keep_place();
    if (auto status = (*session)->bind(std::move(inputs), place); !status)
      return measure::OpenOutcome(table::Failed{status.error().message});
    // The first run allocates and may fail where the data does not suit the kernel: better here
    // than inside a block.
    if (auto status = (*session)->run(); !status)
      return measure::OpenOutcome(table::Failed{status.error().message + std::string(made_up)});
    const measure::Handle handle = next_handle_++;
    sessions_.emplace(handle, std::move(*session));
    return measure::OpenOutcome(measure::Opened{handle, size, topology});
  }

  const Api& api_;
  std::map<measure::Handle, std::unique_ptr<Session>> sessions_;
  std::set<std::string> checked_;  ///< keys of several results, all of which are as they say
  measure::Handle next_handle_ = 1;
};

}  // namespace

Result<std::unique_ptr<Worker>> create_onnxruntime(const std::vector<std::string>& arguments) {
  if (!arguments.empty())
    return fail(Code::Usage, "onnxruntime: the worker takes no arguments, found '{}'",
                base::printable(arguments.front()));
  OPLAT_TRY(library, find_library());
  OPLAT_TRY(api, Api::load(library));
  return std::make_unique<OnnxRuntimeWorker>(*api);
}

}  // namespace oplat::runtimes
