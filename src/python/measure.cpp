// SPDX-License-Identifier: Apache-2.0
#include "python/measure.hpp"

#include <dlfcn.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "api/program.hpp"
#include "app/measure_models.hpp"
#include "app/plan.hpp"
#include "app/profile.hpp"
#include "app/rules_plan.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "oplat/key.hpp"
#include "python/documents.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/fork_gate.hpp"
#include "python/models.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Seconds as a number, or "4m".
std::optional<double> budget_seconds(const nb::object& budget) {
  if (budget.is_none()) return std::nullopt;
  if (PyUnicode_Check(budget.ptr()))
    return value_of(base::parse_duration_ns(nb::cast<std::string>(budget))) / 1e9;
  double seconds = 0;
  if (!nb::try_cast(budget, seconds))
    throw nb::type_error(fmt::format("budget: expected seconds, or a text such as '4m', found {}",
                                     found_text(budget))
                             .c_str());
  if (!(seconds > 0))
    raise({Code::Usage, fmt::format("budget {}: expected seconds above 0, or '4m'", seconds)});
  return seconds;
}

/// What the command line prints when a budget ended early.
void warn_of_budget(const measure::Summary& summary, std::vector<std::string>& warnings) {
  const std::int64_t left = summary.kernels.left + summary.models.left;
  const std::int64_t few = summary.kernels.few + summary.models.few;
  if (!summary.budget_ended || left + few == 0) return;
  warnings.push_back(
      fmt::format("the budget ended with {} {} unmeasured and {} with fewer blocks than the "
                  "minimum; call it again with the same table to resume",
                  left, summary.kernels.total > 0 ? "rows" : "models", few));
}

void add_refusals(const measure::Summary& summary, std::vector<std::string>& warnings) {
  for (const measure::Refusal& refusal : summary.refusals)
    warnings.push_back(base::printable_message(
        fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason)));
}

std::vector<std::string> paths_of(const std::vector<ModelFile>& files) {
  std::vector<std::string> paths;
  for (const ModelFile& file : files) paths.push_back(file.path);
  return paths;
}

/// A path, or an oplat.Table, which has one.
std::string table_path(const nb::object& table) {
  Path path;
  if (nb::try_cast(table, path)) return path.text;
  if (nb::hasattr(table, "path") && nb::try_cast(table.attr("path"), path)) return path.text;
  throw nb::type_error(
      fmt::format("table: expected a path or an oplat.Table, found {}", found_text(table)).c_str());
}

/// Of a text or an oplat.Key. Throws UsageError for what is not one.
std::string key_text(nb::handle key) {
  if (nb::isinstance<Key>(key)) return nb::cast<Key&>(key).text();
  std::string text;
  if (!nb::try_cast(key, text))
    throw nb::type_error(
        fmt::format("keys: expected texts or oplat.Key, found {}", found_text(key)).c_str());
  check(Key::parse(text).map([](const Key&) {}).map_error([&](Error error) {
    error.message = fmt::format("keys: {}: {}", base::printable(text, 200), error.message);
    return error;
  }));
  return text;
}

/// Keys, or a single one, as the file that profile() reads.
std::optional<ModelFile> keys_file(const nb::object& keys) {
  if (keys.is_none()) return std::nullopt;
  std::string text;
  if (nb::isinstance<Key>(keys) || PyUnicode_Check(keys.ptr())) {
    text = key_text(keys) + "\n";
  } else {
    for (const nb::handle key : nb::iter(keys)) text += key_text(key) + "\n";
  }
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

struct CampaignArguments {
  nb::object budget;
  std::uint64_t seed = 1;
  std::optional<double> target_error;
  bool retry_refused = false;
};

app::CampaignOptions campaign_options(const CampaignArguments& from, const char* record) {
  app::CampaignOptions to;
  to.budget_s = budget_seconds(from.budget);
  to.seed = from.seed;
  to.target_error = from.target_error;
  to.retry_refused = from.retry_refused;
  to.record = record;
  return to;
}

ProfileResult profile(const nb::object& models, const nb::object& table, const std::string& runtime,
                      const nb::object& budget, std::int64_t threads, const std::string& precision,
                      const Texts& options, const std::string& device, const Shapes& shapes,
                      std::optional<std::int64_t> batch, const nb::object& inputs,
                      const nb::object& keys, std::uint64_t seed,
                      std::optional<double> target_error, bool retry_refused, bool retry_loaded,
                      const std::vector<std::string>& worker_arguments,
                      const nb::object& progress) {
  const auto files = model_files(models);
  const auto listed = keys_file(keys);
  app::ProfileRequest request;
  request.models = paths_of(files);
  const GivenInputs given = model_inputs(shapes, batch, inputs);
  request.inputs = given.of_model;
  if (listed) request.keys_file = listed->path;
  request.table = table_path(table);
  request.runtime = runtime_request(runtime, threads, precision, options, device, worker_arguments);
  request.campaign = campaign_options({budget, seed, target_error, retry_refused}, "oplat.profile");
  request.campaign.retry_loaded = retry_loaded;
  PythonEvents events(progress);
  warn_of_models(files, events);
  auto made = events.run([&] { return app::profile(request, events); }, CallLength::Long);
  if (made.every_kernel_failed()) {
    std::vector<std::string> reasons;
    add_refusals(made.summary, reasons);
    raise({Code::Runtime, fmt::format("every kernel failed; the reasons are in the table: {}",
                                      reasons.empty() ? "none" : reasons.front())});
  }
  ProfileResult result(report::ProfileReport{made.table, made.summary, made.unlike});
  result.model.warnings = events.warnings;
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
  add_refusals(made.summary, result.warnings);
  for (const measure::UnlikeKernel& kernel : made.unlike)
    result.warnings.push_back(unlike_warning(kernel));
  warn_of_budget(made.summary, result.warnings);
  return result;
}

Measurement measure_all(const nb::object& models, const std::string& runtime,
                        const nb::object& budget, const nb::object& table, std::int64_t threads,
                        const std::string& precision, const Texts& options,
                        const std::string& device, const Shapes& shapes,
                        std::optional<std::int64_t> batch, const nb::object& inputs,
                        std::uint64_t seed, std::optional<double> target_error,
                        const std::vector<std::string>& worker_arguments,
                        const nb::object& progress) {
  const auto files = model_files(models);
  check_given(files);
  app::MeasureRequest request;
  request.models = paths_of(files);
  const GivenInputs given = model_inputs(shapes, batch, inputs);
  request.inputs = given.of_model;
  if (!table.is_none()) request.table = table_path(table);
  request.runtime = runtime_request(runtime, threads, precision, options, device, worker_arguments);
  request.campaign = campaign_options({budget, seed, target_error, false}, "oplat.measure");
  PythonEvents events(progress);
  warn_of_models(files, events);
  auto made = events.run([&] { return app::measure_models(request, events); }, CallLength::Long);
  std::vector<std::string> warnings = std::move(events.warnings);
  add_refusals(made.summary, warnings);
  if (made.summary.models.measured() == 0)
    raise(
        {Code::Runtime, fmt::format("no model could be measured{}{}", warnings.empty() ? "" : ": ",
                                    warnings.empty() ? "" : warnings.back())});
  Measurement result(std::move(made.measurement), made.summary);
  result.model.warnings = warnings;
  result.warnings = std::move(warnings);
  result.notes = std::move(events.notes);
  warn_of_budget(made.summary, result.warnings);
  return result;
}

Plan plan(const nb::object& model, const std::optional<std::string>& runtime,
          const std::optional<std::string>& rules, std::int64_t threads,
          const std::string& precision, const Texts& options, const Shapes& shapes,
          std::optional<std::int64_t> batch, const nb::object& inputs,
          const std::vector<std::string>& worker_arguments) {
  if (runtime.has_value() == rules.has_value())
    raise({Code::Usage, "plan: give either runtime or rules"});
  const ModelFile file = model_file(model);
  const GivenInputs given = model_inputs(shapes, batch, inputs);
  PythonEvents events;
  if (rules) {
    const std::string name = "rules:" + *rules;
    auto made = events.run([&]() -> Result<app::RulesPlan> {
      OPLAT_TRY(asked, app::rules_asked(name, precision));
      OPLAT_CHECK(app::check_model_file(file.path));
      OPLAT_TRY(read, app::read_rules_model(file.path, given.of_model.shapes));
      return app::plan_model_by_rules(read, asked.set, asked.options);
    });
    return Plan(std::move(made.plan));
  }
  app::RuntimePlanRequest request;
  request.model = file.path;
  request.inputs = given.of_model;
  request.runtime = runtime_request(*runtime, threads, precision, options, "", worker_arguments);
  for (const std::string& text : file.warnings) events.warn(text);
  auto made = events.run([&] { return app::runtime_plan(request, events); });
  Plan result(std::move(made));
  result.model.warnings = events.warnings;
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
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

app::RuntimeRequest runtime_request(const std::string& runtime, std::int64_t threads,
                                    const std::string& precision, const Texts& options,
                                    const std::string& device,
                                    const std::vector<std::string>& worker_arguments) {
  app::RuntimeRequest request;
  request.runtime = runtime;
  request.worker_command = {program(), "worker", runtime};
  request.worker_arguments = worker_arguments;
  request.threads = threads;
  request.precision = precision;
  if (options) request.options = *options;
  request.device = device;
  return request;
}

void bind_measure(nb::module_& module) {
  module.def(
      "profile", profile, "models"_a, "table"_a, "runtime"_a = "onnxruntime",
      "budget"_a = nb::none(), nb::kw_only(), "threads"_a = 1, "precision"_a = "",
      "options"_a = nb::none(), "device"_a = "", "shapes"_a = nb::none(), "batch"_a = nb::none(),
      "inputs"_a = nb::none(), "keys"_a = nb::none(), "seed"_a = 1, "target_error"_a = nb::none(),
      "retry_refused"_a = false, "retry_loaded"_a = false,
      "worker_arguments"_a = std::vector<std::string>(), "progress"_a = nb::none(),
      nb::sig(
          "def profile(models: oplat._types.Models, table: str | os.PathLike[str] | Table, "
          "runtime: str = 'onnxruntime', budget: float | str | None = None, *, "
          "threads: int = 1, precision: str = '', options: dict[str, str] | None = None, "
          "device: str = '', shapes: oplat._types.Shapes | None = None, batch: int | None = None, "
          "inputs: oplat._types.Inputs | None = None, keys: collections.abc.Iterable[str | Key] | "
          "str | "
          "Key | None = None, "
          "seed: int = 1, target_error: float | None = None, retry_refused: bool = "
          "False, retry_loaded: bool = False, worker_arguments: list[str] = [], "
          "progress: collections.abc.Callable[[Progress], object] | None = None) -> "
          "ProfileResult"),
      "Measures the kernels of models, and the models themselves, into a table.\n\n"
      "`budget` is in seconds, or a text such as '4m'; None: until every row is precise.\n"
      "Rows that are precise are left alone, so that a call goes on where an earlier one\n"
      "stopped. Ctrl-C, and an exception of `progress`, stop it; what was measured is kept.");
  module.def(
      "measure", measure_all, "models"_a, "runtime"_a = "onnxruntime", "budget"_a = nb::none(),
      "table"_a = nb::none(), nb::kw_only(), "threads"_a = 1, "precision"_a = "",
      "options"_a = nb::none(), "device"_a = "", "shapes"_a = nb::none(), "batch"_a = nb::none(),
      "inputs"_a = nb::none(), "seed"_a = 1, "target_error"_a = nb::none(),
      "worker_arguments"_a = std::vector<std::string>(), "progress"_a = nb::none(),
      nb::sig(
          "def measure(models: oplat._types.Models, runtime: str = 'onnxruntime', budget: float | "
          "str "
          "| None = None, table: str | os.PathLike[str] | Table | None = None, *, "
          "threads: int = 1, precision: str = '', options: dict[str, str] | None = None, "
          "device: str = '', shapes: oplat._types.Shapes | None = None, batch: int | None = None, "
          "inputs: oplat._types.Inputs | None = None, seed: int = 1, target_error: float | "
          "None = None, worker_arguments: list[str] = [], progress: "
          "collections.abc.Callable[[Progress], object] | None = None) -> Measurement"),
      "Measures whole models end to end. A model that fails is in `refusals`.");
  module.def(
      "plan", plan, "model"_a, nb::kw_only(), "runtime"_a = nb::none(), "rules"_a = nb::none(),
      "threads"_a = 1, "precision"_a = "", "options"_a = nb::none(), "shapes"_a = nb::none(),
      "batch"_a = nb::none(), "inputs"_a = nb::none(),
      "worker_arguments"_a = std::vector<std::string>(),
      nb::sig(
          "def plan(model: oplat._types.Model, *, runtime: str | None = None, rules: str | None = "
          "None, threads: int = 1, precision: str = '', options: dict[str, str] | None = "
          "None, shapes: oplat._types.Shapes | None = None, batch: int | None = None, inputs: "
          "oplat._types.Inputs | None = None, worker_arguments: list[str] = []) -> Plan"),
      "The kernels of a model: asked of a runtime, or by the fusion rules of a name.");
}

}  // namespace oplat::python
