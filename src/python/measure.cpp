// SPDX-License-Identifier: Apache-2.0
#include "python/measure.hpp"

#include <dlfcn.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "api/program.hpp"
#include "app/inspect.hpp"
#include "app/measure_models.hpp"
#include "app/plan.hpp"
#include "app/profile.hpp"
#include "app/rules_plan.hpp"
#include "app/sweep.hpp"
#include "base/counted.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "python/arguments.hpp"
#include "python/documents.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/fork_gate.hpp"
#include "python/models.hpp"
#include "python/surveys.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr const char* kDefault = "onnxruntime";

/// What the command line prints when a budget ended early.
void warn_of_budget(const measure::Summary& summary, std::vector<std::string>& warnings) {
  const std::int64_t left = summary.kernels.left + summary.models.left;
  const std::int64_t few = summary.kernels.few + summary.models.few;
  if (!summary.budget_ended || left + few == 0) return;
  warnings.push_back(
      fmt::format("the budget ended with {} unmeasured and {} with fewer blocks than the "
                  "minimum; call it again with the same table to resume",
                  base::counted(left, summary.kernels.total > 0 ? "row" : "model"), few));
}

void add_refusals(const measure::Summary& summary, std::vector<std::string>& warnings) {
  for (const measure::Refusal& refusal : summary.refusals)
    warnings.push_back(base::printable_message(
        fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason)));
}

/// A path, or an oplat.Table, which has one.
std::string table_path(const nb::object& table) {
  Path path;
  if (nb::try_cast(table, path)) return path.text;
  if (nb::hasattr(table, "path") && nb::try_cast(table.attr("path"), path)) return path.text;
  throw nb::type_error(
      fmt::format("table: expected a path or an oplat.Table, found {}", found_text(table)).c_str());
}

/// Keys, or a single one, as the file that profile() reads.
std::optional<ModelFile> keys_file(const nb::object& keys) {
  if (keys.is_none()) return std::nullopt;
  std::string text;
  for (const std::string& key : key_texts(keys)) text += key + "\n";
  if (text.empty()) return std::nullopt;
  auto folder = value_of(base::TemporaryFolder::create("oplat-keys"));
  const std::string path = (folder.path() / "keys.txt").string();
  check(base::write_file(path, text));
  return ModelFile{path, "keys", std::move(folder)};
}

std::string unlike_warning(const measure::UnlikeKernel& kernel) {
  return base::printable_message(fmt::format(
      "unlike_in_model: {}: {} takes up to {} inside the model ({:.0f} % of it) and up to {} by "
      "itself",
      kernel.model, kernel.name, base::duration_text(kernel.in_model_ns.high), 100 * kernel.share,
      base::duration_text(kernel.by_itself_ns.high)));
}

/// What all calls that measure know, and those that measure kernels.
constexpr std::array<std::string_view, 5> kMeasuring = {"threads", "batch", "seed", "blocks",
                                                        "target_error"};
constexpr std::array<std::string_view, 10> kProfiling = {
    "threads", "batch", "seed", "blocks",        "target_error",
    "keys",    "space", "like", "retry_refused", "retry_loaded"};
constexpr std::array<std::string_view, 1> kInspecting = {"batch"};
constexpr std::array<std::string_view, 2> kPlanning = {"threads", "batch"};

/// `threads` and `batches` of a sweep.
app::SweepAxes take_axes(nb::kwargs& given) {
  refuse(given, {"batch"});
  app::SweepAxes axes;
  axes.threads = take_numbers(given, "threads", kMaxThreads);
  axes.batches = take_numbers(given, "batches", kMaxBatch);
  return axes;
}

/// What profile() and profile_sweep() ask for.
struct Profiling {
  Profiling(const nb::object& models, const nb::object& table, const std::string& runtime,
            const nb::object& budget, const nb::kwargs& given, const char* record)
      : files(model_files(models)),
        arguments(measuring_arguments(runtime, budget, given, kProfiling)),
        listed(keys_file(arguments.keys)) {
    request.models = paths_of(files);
    request.inputs = arguments.inputs.of_model;
    if (listed) request.keys_file = listed->path;
    request.space = arguments.space;
    request.like = arguments.like;
    request.table = table_path(table);
    request.runtime = arguments.runtime;
    request.campaign = arguments.campaign;
    request.campaign.record = record;
  }
  std::vector<ModelFile> files;
  MeasuringArguments arguments;
  std::optional<ModelFile> listed;
  app::ProfileRequest request;
};

ProfileResult profile(const nb::object& models, const nb::object& table, const std::string& runtime,
                      const nb::object& budget, const nb::kwargs& given) {
  const Profiling asked(models, table, runtime, budget, given, "oplat.profile");
  PythonEvents events(asked.arguments.progress);
  warn_of_models(asked.files, events);
  auto made = events.run([&] { return app::profile(asked.request, events); }, CallLength::Long);
  if (made.every_kernel_failed()) {
    std::vector<std::string> reasons;
    add_refusals(made.summary, reasons);
    raise({Code::Runtime, fmt::format("every kernel failed; the reasons are in the table: {}",
                                      reasons.empty() ? "none" : reasons.front())});
  }
  ProfileResult result(report::ProfileReport{made.table, made.summary, made.unlike, made.space});
  result.models = std::move(made.measured.models);
  result.model.warnings = events.warnings;
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
  add_refusals(made.summary, result.warnings);
  for (const measure::UnlikeKernel& kernel : made.unlike)
    result.warnings.push_back(unlike_warning(kernel));
  // Of a space the budget is what ends it.
  if (!made.space) warn_of_budget(made.summary, result.warnings);
  return result;
}

Sweep profile_sweep(const nb::object& models, const nb::object& table, const std::string& runtime,
                    const nb::object& budget, nb::kwargs given) {
  const app::SweepAxes axes = take_axes(given);
  const Profiling asked(models, table, runtime, budget, given, "oplat.profile_sweep");
  check_given(asked.files);
  PythonEvents events(asked.arguments.progress);
  warn_of_models(asked.files, events);
  std::int64_t failed = 0;
  auto made = events.run(
      [&] {
        return app::profile_sweep(asked.request, axes, events, [&](const app::ProfileResult& one) {
          if (one.every_kernel_failed()) ++failed;
        });
      },
      CallLength::Long);
  if (failed > 0)
    events.warn(
        fmt::format("every kernel failed in {} settings; the reasons are in the table", failed));
  return sweep_document(std::move(made), asked.files, events);
}

/// What measure() and measure_sweep() ask for.
struct Measuring {
  Measuring(const nb::object& models, const std::string& runtime, const nb::object& budget,
            const nb::object& table, const nb::kwargs& given, const char* record)
      : files(model_files(models)),
        arguments(measuring_arguments(runtime, budget, given, kMeasuring)) {
    check_given(files);
    request.models = paths_of(files);
    request.inputs = arguments.inputs.of_model;
    if (!table.is_none()) request.table = table_path(table);
    request.runtime = arguments.runtime;
    request.campaign = arguments.campaign;
    request.campaign.record = record;
  }
  std::vector<ModelFile> files;
  MeasuringArguments arguments;
  app::MeasureRequest request;
};

Measurement measure_all(const nb::object& models, const std::string& runtime,
                        const nb::object& budget, const nb::object& table,
                        const nb::kwargs& given) {
  const Measuring asked(models, runtime, budget, table, given, "oplat.measure");
  PythonEvents events(asked.arguments.progress);
  warn_of_models(asked.files, events);
  auto made =
      events.run([&] { return app::measure_models(asked.request, events); }, CallLength::Long);
  std::vector<std::string> warnings = std::move(events.warnings);
  const auto& failed = made.measurement.failed;
  for (const auto& one : failed) warnings.push_back(base::printable_message(one.error.message));
  if (made.measurement.models.empty()) {
    const Code code = failed.empty() ? Code::Runtime : failed.front().error.code;
    raise({code, fmt::format("no model could be measured{}{}", warnings.empty() ? "" : ": ",
                             warnings.empty() ? "" : warnings.back())});
  }
  Measurement result(std::move(made.measurement), made.summary);
  result.model.warnings = warnings;
  result.warnings = std::move(warnings);
  result.notes = std::move(events.notes);
  warn_of_budget(made.summary, result.warnings);
  return result;
}

Sweep measure_sweep(const nb::object& models, const std::string& runtime, const nb::object& budget,
                    const nb::object& table, nb::kwargs given) {
  const app::SweepAxes axes = take_axes(given);
  const Measuring asked(models, runtime, budget, table, given, "oplat.measure_sweep");
  PythonEvents events(asked.arguments.progress);
  warn_of_models(asked.files, events);
  auto made =
      events.run([&] { return app::measure_sweep(asked.request, axes, events); }, CallLength::Long);
  const auto& points = made.sweep.points;
  if (std::none_of(points.begin(), points.end(),
                   [](const auto& point) { return point.latency_ns.has_value(); }))
    raise({Code::Runtime, fmt::format("no model could be measured{}{}", points.empty() ? "" : ": ",
                                      points.empty() ? "" : points.front().error)});
  return sweep_document(std::move(made), asked.files, events);
}

Inspection inspect(const nb::object& model, const nb::kwargs& given_arguments) {
  nb::kwargs given = given_arguments;
  app::InspectRequest request;
  const nb::object runtime = take(given, "runtime");
  const nb::object depth = take(given, "depth");
  refuse(given, {"precision", "options", "device", "cpu"});
  const bool is_asked = runtime.is_valid() && !runtime.is_none();
  const MeasuringArguments arguments =
      measuring_arguments(is_asked ? argument<std::string>("runtime", runtime, "str") : "",
                          nb::none(), given, kInspecting);
  const ModelFile file = model_file(model);
  request.model = file.path;
  request.inputs = arguments.inputs.of_model;
  request.runtime = arguments.runtime;
  // ONNX Runtime finds sizes where nothing else is named, in processes of the program oplat.
  if (!is_asked && !request.runtime.remote)
    request.runtime.worker_command = {program(), "worker", kDefault};
  constexpr std::int64_t kMaxDepth = 16;
  if (depth.is_valid()) request.depth = argument<std::int64_t>("depth", depth, "int");
  if (request.depth < 0 || request.depth > kMaxDepth)
    raise({Code::Usage, fmt::format("depth: {} is not from 0 to {}", request.depth, kMaxDepth)});
  PythonEvents events(arguments.progress);
  for (const std::string& text : file.warnings) events.warn(text);
  auto made = events.run([&] { return app::inspect(request, events); }, CallLength::Long);
  made.model = file.name;
  Inspection result(std::move(made));
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
  return result;
}

void add_texts(Plan& plan, PythonEvents& events) {
  plan.model.warnings = events.warnings;
  plan.warnings = std::move(events.warnings);
  plan.notes = std::move(events.notes);
}

Plan plan_by_rules(const ModelFile& file, const std::string& rules,
                   const MeasuringArguments& arguments, PythonEvents& events) {
  const std::string name = "rules:" + rules;
  auto made = events.run([&]() -> Result<app::RulesPlan> {
    OPLAT_TRY(asked, app::rules_asked(name, arguments.runtime.precision));
    OPLAT_TRY(of_machine, app::add_machine(asked));
    OPLAT_CHECK(app::check_model_file(file.path));
    OPLAT_TRY(read, app::read_rules_model(file.path, arguments.inputs.of_model.shapes));
    OPLAT_TRY(derived, app::plan_model_by_rules(read, asked.set, asked.options));
    for (const std::string& text : {app::not_compared_note(read, asked.set), of_machine})
      if (!text.empty()) events.warn(text);
    return std::move(derived);
  });
  return Plan(std::move(made.plan));
}

Plan plan(const nb::object& model, const nb::kwargs& given_arguments) {
  nb::kwargs given = given_arguments;
  const auto text = [&given](const char* name) -> std::optional<std::string> {
    const nb::object value = take(given, name);
    if (!value.is_valid() || value.is_none()) return std::nullopt;
    return argument<std::string>(name, value, "str");
  };
  const std::optional<std::string> runtime = text("runtime");
  const std::optional<std::string> rules = text("rules");
  const MeasuringArguments arguments =
      measuring_arguments(runtime.value_or(""), nb::none(), given, kPlanning);
  const bool is_asked = runtime.has_value() || arguments.runtime.remote;
  if (is_asked == rules.has_value())
    raise({Code::Usage, "plan: give either runtime (or worker) or rules"});
  const ModelFile file = model_file(model);
  PythonEvents events(arguments.progress);
  for (const std::string& said : file.warnings) events.warn(said);
  if (rules) {
    Plan result = plan_by_rules(file, *rules, arguments, events);
    add_texts(result, events);
    return result;
  }
  app::RuntimePlanRequest request;
  request.model = file.path;
  request.inputs = arguments.inputs.of_model;
  request.runtime = arguments.runtime;
  auto made = events.run([&] { return app::runtime_plan(request, events); }, CallLength::Long);
  Plan result(std::move(made));
  add_texts(result, events);
  return result;
}

}  // namespace

namespace {

/// Removed by the process that made it: a forked child has a copy of whatever holds it.
std::shared_ptr<base::TemporaryFolder> folder_of_arrays() {
  auto folder = std::make_unique<base::TemporaryFolder>(
      value_of(base::TemporaryFolder::create("oplat-inputs")));
  return {folder.release(), [owner = ::getpid()](base::TemporaryFolder* made) {
            if (::getpid() == owner) delete made;
          }};
}

/// As runtimes read it: elements one after the other, in the machine's byte order.
void save_array(nb::handle value, const std::string& path) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(value);
  const nb::object dtype = array.attr("dtype").attr("newbyteorder")("=");
  numpy.attr("save")(path, array.attr("astype")(dtype, "order"_a = "C"), "allow_pickle"_a = false);
}

bool is_array(nb::handle value) {
  return nb::hasattr(value, "__array__") || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

}  // namespace

GivenInputs model_inputs(const Shapes& shapes, std::optional<std::int64_t> batch, nb::handle data) {
  GivenInputs given;
  if (shapes) given.of_model.shapes.shapes = *shapes;
  given.of_model.shapes.batch = batch;
  if (data.is_none()) return given;
  std::map<std::string, nb::object> values;
  if (!nb::try_cast(data, values))
    throw nb::type_error(
        fmt::format("inputs: expected a dict from names to data, found {}", found_text(data))
            .c_str());
  for (const auto& [name, value] : values) {
    Path path;
    if (!nb::try_cast(value, path)) {
      if (!is_array(value))
        throw nb::type_error(fmt::format("inputs: {}: expected an array, the path of a .npy file, "
                                         "'zeros', 'ones' or 'uniform:LO:HI', found {}",
                                         base::printable(name), found_text(value))
                                 .c_str());
      if (!given.arrays) given.arrays = folder_of_arrays();
      const std::string file = fmt::format("{}.npy", given.of_model.data.size());
      path.text = (given.arrays->path() / file).string();
      save_array(value, path.text);
    }
    given.of_model.data[name] = path.text;
  }
  return given;
}

namespace {

std::string find_program() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&program), &self) != 0 && self.dli_fname != nullptr) {
    const std::filesystem::path packed =
        std::filesystem::path(self.dli_fname).parent_path() / "bin" / "oplat";
    if (::access(packed.c_str(), X_OK) == 0) return packed.string();
  }
  return api::program();
}

}  // namespace

std::string program() {
  if (const char* given = std::getenv("OPLAT_PROGRAM"); given != nullptr && *given != '\0')
    return given;
  static const std::string found = find_program();  // every prediction asks
  return found;
}

void bind_measure(nb::module_& module) {
  module.def(
      "profile", profile, "models"_a, "table"_a, "runtime"_a = kDefault, "budget"_a = nb::none(),
      "further"_a,
      nb::sig("def profile(models: oplat._types.Models, table: str | os.PathLike[str] | Table, "
              "runtime: str = 'onnxruntime', budget: float | str | None = None, *, threads: int = "
              "1, batch: int | None = None, keys: collections.abc.Iterable[str | Key] | str | Key "
              "| None = None, space: str = '', like: str = '', " OPLAT_RETRY_OPTIONS
                  OPLAT_CAMPAIGN_OPTIONS ") -> ProfileResult"),
      "Measures the kernels of models, and the models themselves, into a table.\n\n"
      "`budget` is in seconds, or a text such as '4m'; None: until every row is precise.\n"
      "Rows that are precise are left alone, so that a call goes on where an earlier one\n"
      "stopped. Ctrl-C, and an exception of `progress`, stop it; what was measured is kept.\n"
      "`worker` is the command of a worker elsewhere: 'ssh phone oplat worker onnxruntime'.\n\n"
      "With `space`, a name such as 'general-cpu' or a file, or `like`, a folder of models,\n"
      "kernels are chosen for models that are not known yet, and `target_error` is the error of\n"
      "such models at which to stop; `models` may be [].");
  module.def(
      "profile_sweep", profile_sweep, "models"_a, "table"_a, "runtime"_a = kDefault,
      "budget"_a = nb::none(), "further"_a,
      nb::sig(
          "def profile_sweep(models: oplat._types.Models, table: str | os.PathLike[str] | Table, "
          "runtime: str = 'onnxruntime', budget: float | str | None = None, *, threads: "
          "collections.abc.Sequence[int] | int | None = None, batches: "
          "collections.abc.Sequence[int] | int | None = None, " OPLAT_RETRY_OPTIONS
              OPLAT_CAMPAIGN_OPTIONS ") -> Sweep"),
      "profile() with every number of threads and every batch. `budget` is that of all.");
  module.def(
      "measure", measure_all, "models"_a, "runtime"_a = kDefault, "budget"_a = nb::none(),
      "table"_a = nb::none(), "further"_a,
      nb::sig("def measure(models: oplat._types.Models, runtime: str = 'onnxruntime', budget: "
              "float | str | None = None, table: str | os.PathLike[str] | Table | None = None, *, "
              "threads: int = 1, batch: int | None = None, " OPLAT_CAMPAIGN_OPTIONS
              ") -> Measurement"),
      "Measures whole models end to end. A model that fails is in `refusals`.");
  module.def(
      "measure_sweep", measure_sweep, "models"_a, "runtime"_a = kDefault, "budget"_a = nb::none(),
      "table"_a = nb::none(), "further"_a,
      nb::sig("def measure_sweep(models: oplat._types.Models, runtime: str = 'onnxruntime', "
              "budget: float | str | None = None, table: str | os.PathLike[str] | Table | None = "
              "None, *, threads: collections.abc.Sequence[int] | int | None = None, batches: "
              "collections.abc.Sequence[int] | int | None = None, " OPLAT_CAMPAIGN_OPTIONS
              ") -> Sweep"),
      "measure() with every number of threads and every batch. `budget` is that of all. A point\n"
      "that could not be measured has an error.");
  module.def(
      "plan", plan, "model"_a, "further"_a,
      nb::sig("def plan(model: oplat._types.Model, *, runtime: str | None = None, rules: str | "
              "None = None, threads: int = 1, batch: int | None = None, " OPLAT_RUN_OPTIONS
              ") -> Plan"),
      "The kernels of a model: asked of a runtime, or by the fusion rules of a name. `worker` is\n"
      "the command of a worker elsewhere, which says itself which runtime it is.");
  module.def(
      "inspect", inspect, "model"_a, "further"_a,
      nb::sig("def inspect(model: oplat._types.Model, *, depth: int = 2, runtime: str | None = "
              "None, batch: int | None = None, shapes: oplat._types.Shapes | None = None, inputs: "
              "oplat._types.Inputs | None = None, worker: str | collections.abc.Sequence[str] | "
              "None = None, worker_arguments: collections.abc.Sequence[str] = (), progress: "
              "collections.abc.Callable[[Progress], object] | None = None) -> Inspection"),
      "Counts a model's operations, parameters and memory, without a table. `depth`: parts of a\n"
      "node's name that make a module. Sizes that the file does not say are those of one run\n"
      "under `runtime`, by default ONNX Runtime.");
}

}  // namespace oplat::python
