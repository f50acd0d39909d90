// SPDX-License-Identifier: Apache-2.0
#include "python/table.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "api/values.hpp"
#include "app/fit.hpp"
#include "app/predict.hpp"
#include "app/validate.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "oplat/key.hpp"
#include "predict/prediction.hpp"
#include "python/columns.hpp"
#include "python/documents.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/fork_gate.hpp"
#include "python/measure.hpp"
#include "python/models.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

OpenTable::OpenTable(Table opened, std::vector<std::string> said)
    : process(::getpid()), table(std::move(opened)), warnings(std::move(said)) {}

void OpenTable::refuse_nested_use() {
  raise({Code::Refused,
         "the table is in use by a call of this very thread, which a signal's handler or the like "
         "interrupted; open another oplat.Table there"});
}

namespace {

/// The path itself if the current folder is gone.
std::string made_absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

}  // namespace

TableHandle::TableHandle(std::string path, OpenOptions options)
    : path_(std::move(path)),
      absolute_(made_absolute(path_)),
      options_(std::move(options)),
      opened_(open()) {}

TableHandle::~TableHandle() { forget(); }

std::string TableHandle::path() const {
  return made_absolute(path_) == absolute_ ? path_ : absolute_;
}

void TableHandle::check_open() const {
  if (!opened_) throw nb::value_error("the table is closed");
}

namespace {

/// Keeps what is said while a table is opened.
class KeptWarnings final : public oplat::Events {
 public:
  void warn(std::string_view text) override { texts.emplace_back(text); }
  std::vector<std::string> texts;
};

}  // namespace

std::shared_ptr<OpenTable> TableHandle::open() const {
  check_forked_child();
  KeptWarnings said;
  auto table = without_gil(CallLength::Short, [&] { return Table::open(path(), options_, &said); });
  if (!table) raise(table.error());
  return std::make_shared<OpenTable>(*std::move(table), std::move(said.texts));
}

void TableHandle::forget() {
  // The parent's connection stays as it is: neither used nor closed.
  if (opened_ && opened_->process != ::getpid())
    static_cast<void>(new std::shared_ptr<OpenTable>(std::move(opened_)));
  opened_.reset();
}

std::shared_ptr<OpenTable> TableHandle::opened() {
  check_open();
  if (opened_->process != ::getpid()) reopen();
  return opened_;
}

void TableHandle::reopen() {
  auto fresh = open();
  forget();
  opened_ = std::move(fresh);
}

void TableHandle::close() { forget(); }

namespace {

/// With the GIL. Throws MissingKernels if kernels have no time and the request does not allow that.
std::unique_ptr<Prediction> predict_one(TableHandle& handle, const app::PredictRequest& request,
                                        const ModelFile& model, PythonEvents& events) {
  const auto opened = handle.opened();
  app::PredictResult result = opened->use(
      events, [&] { return app::predict(request, opened->table.impl().opened, events); });
  result.prediction.model = model.name;
  result.prediction.warnings.insert(result.prediction.warnings.end(), model.warnings.begin(),
                                    model.warnings.end());
  if (const Status complete = predict::require_complete(result.prediction); !complete)
    raise_missing(complete.error(), result.prediction.missing);
  auto prediction = std::make_unique<Prediction>(std::move(result), opened->warnings);
  prediction->notes = std::exchange(events.notes, {});
  return prediction;
}

/// What a call asks for besides models.
struct Question {
  app::PredictRequest request;
  std::shared_ptr<base::TemporaryFolder> arrays;  ///< of GivenInputs
  nb::kwargs given;                               ///< the arguments that say it
};

std::unique_ptr<Prediction> predict_model(TableHandle& handle, nb::handle model,
                                          app::PredictRequest request) {
  const ModelFile file = model_file(model);
  request.model = file.path;
  PythonEvents events;
  return predict_one(handle, request, file, events);
}

std::vector<std::unique_ptr<Prediction>> predict_models(TableHandle& handle, nb::handle models,
                                                        app::PredictRequest request) {
  std::vector<std::unique_ptr<Prediction>> predictions;
  PythonEvents events;
  const auto predict = [&](nb::handle model) {
    const ModelFile file = model_file(model);
    request.model = file.path;
    predictions.push_back(predict_one(handle, request, file, events));
  };
  if (is_one_model(models)) {
    predict(models);
    return predictions;
  }
  for (const nb::handle model : nb::iter(models)) {
    // Between two models of a list Python itself looks for no signal.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    predict(model);
  }
  return predictions;
}

/// A callable for search libraries: one number of a prediction.
struct Objective {
  nb::object table;
  Question question;
  std::string bound;
};

/// The number leaves nothing to read warnings from, so Python says them.
void say_warnings(const Prediction& prediction) {
  if (prediction.warnings.empty()) return;
  const nb::object category = nb::module_::import_("oplat.errors").attr("PredictionWarning");
  for (const std::string& text : prediction.warnings) {
    const std::string said = fmt::format("{}: {}", base::printable(prediction.of().model), text);
    if (PyErr_WarnEx(category.ptr(), said.c_str(), 1) != 0) throw nb::python_error();
  }
}

double objective_value(const Objective& objective, nb::handle model) {
  const auto prediction =
      predict_model(nb::cast<TableHandle&>(objective.table), model, objective.question.request);
  say_warnings(*prediction);
  const predict::Prediction& p = prediction->of();
  if (objective.bound == "ms") return *p.latency_ns / api::kNsPerMs;
  if (!p.interval) raise({Code::Internal, "a prediction without an interval"});
  return (objective.bound == "lo" ? p.interval->low : p.interval->high) / api::kNsPerMs;
}

/// The value of an argument, or a TypeError.
template <class T>
T argument(const std::string& name, nb::handle value, const char* expected) {
  T converted{};
  if (!nb::try_cast(value, converted))
    throw nb::type_error(
        fmt::format("{}: expected {}, found {}", base::printable(name), expected, found_text(value))
            .c_str());
  return converted;
}

/// What a call asks for by its further arguments. By hand: a search makes thousands of calls that
/// give few of them, and nanobind converts the defaults of the others anew in each.
Question question_of(const nb::kwargs& given) {
  Question question{{}, {}, given};
  app::PredictRequest& request = question.request;
  request.plan.program = program();
  if (given.size() == 0) return question;
  constexpr const char* kText = "str";
  Shapes shapes;
  nb::object data = nb::none();
  std::optional<std::int64_t> batch;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto text = [&name, &value = value] { return argument<std::string>(name, value, kText); };
    std::optional<std::string>* row_text = name == "device"      ? &request.rows.device
                                           : name == "runtime"   ? &request.rows.runtime
                                           : name == "version"   ? &request.rows.version
                                           : name == "precision" ? &request.rows.precision
                                                                 : nullptr;
    if (row_text != nullptr) {
      *row_text = argument<std::optional<std::string>>(name, value, kText);
    } else if (name == "threads") {
      request.rows.threads = argument<std::optional<std::int64_t>>(name, value, "int");
    } else if (name == "shapes") {
      shapes = argument<Shapes>(name, value, "dict[str, Sequence[int]]");
    } else if (name == "batch") {
      batch = argument<std::optional<std::int64_t>>(name, value, "int");
    } else if (name == "inputs") {
      data = nb::borrow(value);
    } else if (name == "options") {
      if (auto options = argument<Texts>(name, value, "dict[str, str]"))
        request.rows.options = *std::move(options);
    } else if (name == "allow_setting_mismatch") {
      request.rows.allow_setting_mismatch = argument<bool>(name, value, "bool");
    } else if (name == "plan") {
      std::string with_program = std::move(request.plan.program);
      request.plan = value_of(app::parse_plan_source(text()));
      request.plan.program = std::move(with_program);
    } else if (name == "level") {
      request.options.level = argument<double>(name, value, "float");
    } else if (name == "missing") {
      request.options.missing = value_of(predict::parse_missing_policy(text()));
    } else if (name == "estimator") {
      const std::string estimator = text();
      const auto profile = estimate::parse_profile(estimator);
      if (!profile)
        raise({Code::Usage,
               fmt::format("estimator {}: expected accurate or fast", base::printable(estimator))});
      request.options.estimator = *profile;
    } else {
      throw nb::type_error(
          fmt::format("unexpected keyword argument '{}'", base::printable(name)).c_str());
    }
  }
  GivenInputs inputs = model_inputs(shapes, batch, data);
  request.inputs = std::move(inputs.of_model);
  question.arrays = std::move(inputs.arrays);
  return question;
}

/// Defines a method whose further arguments say how to predict: `method(self, subject, question)`.
template <class Class, class Method, class... Extra>
void def_predicting(Class& bound, const char* name, Method method, const Extra&... extra) {
  bound.def(
      name,
      [method](nb::handle self, nb::handle subject, const nb::kwargs& given) {
        return method(self, subject, question_of(given));
      },
      extra..., "further"_a);
}

/// The part of a signature that def_predicting() adds.
#define OPLAT_PREDICTING                                                                           \
  "*, threads: int | None = None, shapes: oplat._types.Shapes | None = None, batch: int | None = " \
  "None, "                                                                                         \
  "inputs: oplat._types.Inputs | None = None, device: str | None = None, runtime: str | None = "   \
  "None, version: str | None = None, precision: str | None = None, options: dict[str, str] | "     \
  "None = None, allow_setting_mismatch: bool = False, plan: str = 'auto', level: float = 0.9, "    \
  "missing: typing.Literal['error', 'roofline', 'zero'] = 'error', estimator: "                    \
  "typing.Literal['accurate', 'fast'] = 'accurate'"

std::string flags_text(const std::vector<std::string>& flags) { return base::join(flags, ","); }

std::string options_text(const Setting& setting) {
  std::vector<std::string> words;
  for (const auto& [name, value] : setting.options) words.push_back(name + "=" + value);
  return base::join(words, " ");
}

/// Without the GIL. A signal ends it early, and run() of `events` raises.
Result<Columns> row_columns(const Table& table, const RowFilter& filter, PythonEvents& events) {
  using Kind = Column::Kind;
  Column id("id", Kind::Int64), key("key", Kind::Text), device("device", Kind::Text),
      runtime("runtime", Kind::Text), version("version", Kind::Text),
      precision("precision", Kind::Text), threads("threads", Kind::Int64),
      options("options", Kind::Text), reuse("reuse_bytes", Kind::Float64),
      median("median_ms", Kind::Float64), low("low_ms", Kind::Float64),
      high("high_ms", Kind::Float64), blocks("blocks", Kind::Int64), reason("reason", Kind::Text),
      flags("flags", Kind::Text);
  std::int64_t length = 0;
  const auto number = [](const std::optional<Timing>& timing, double Timing::*member) {
    return timing ? std::optional(*timing.*member) : std::nullopt;
  };
  const auto text = [](const std::string& value) { return std::optional<std::string_view>(value); };
  const Status status = table.each_row(filter, [&](const Row& row) {
    ++length;
    id.add(row.id);
    key.add(text(row.key));
    device.add(text(row.device));
    runtime.add(text(row.setting.runtime));
    version.add(text(row.setting.version));
    precision.add(text(row.setting.precision));
    threads.add(row.setting.threads);
    options.add(text(options_text(row.setting)));
    reuse.add(row.reuse_bytes);
    median.add(number(row.timing, &Timing::median_ms));
    low.add(number(row.timing, &Timing::low_ms));
    high.add(number(row.timing, &Timing::high_ms));
    blocks.add(row.timing ? row.timing->blocks : std::int64_t{0});
    reason.add(row.timing ? std::nullopt : text(row.reason));
    flags.add(text(flags_text(row.flags)));
    return !events.cancelled();
  });
  if (!status) return fail(status.error());
  Columns columns;
  columns.length = length;
  for (Column* one : {&id, &key, &device, &runtime, &version, &precision, &threads, &options,
                      &reuse, &median, &low, &high, &blocks, &reason, &flags})
    columns.columns.push_back(std::move(*one));
  return columns;
}

/// Likewise: the distinct keys of the rows, in order of first appearance.
Result<Columns> kernel_columns(const Table& table, const RowFilter& filter, PythonEvents& events) {
  struct Kernel {
    std::string key;
    std::int64_t rows = 0;
    std::int64_t timed = 0;
    std::optional<double> min_ms, max_ms;  ///< over cache states and settings
  };
  std::vector<Kernel> kernels;
  std::unordered_map<std::string, std::size_t> index;
  const Status status = table.each_row(filter, [&](const Row& row) {
    const auto [at, added] = index.emplace(row.key, kernels.size());
    if (added) kernels.push_back({row.key, 0, 0, {}, {}});
    Kernel& kernel = kernels[at->second];
    ++kernel.rows;
    if (!row.timing) return !events.cancelled();
    ++kernel.timed;
    const double ms = row.timing->median_ms;
    kernel.min_ms = std::min(kernel.min_ms.value_or(ms), ms);
    kernel.max_ms = std::max(kernel.max_ms.value_or(ms), ms);
    return !events.cancelled();
  });
  if (!status) return fail(status.error());
  using Kind = Column::Kind;
  Column key("key", Kind::Text), op("op", Kind::Text), rows("rows", Kind::Int64),
      timed("rows_with_time", Kind::Int64), flops("flops", Kind::Float64),
      min("min_ms", Kind::Float64), max("max_ms", Kind::Float64);
  for (const Kernel& kernel : kernels) {
    const auto parsed = Key::parse(kernel.key);  // another system's row may have another text
    key.add(std::optional<std::string_view>(kernel.key));
    op.add(parsed ? std::optional<std::string_view>(parsed->op()) : std::nullopt);
    rows.add(kernel.rows);
    timed.add(kernel.timed);
    flops.add(parsed ? parsed->flops() : std::nullopt);
    min.add(kernel.min_ms);
    max.add(kernel.max_ms);
  }
  Columns columns;
  columns.length = static_cast<std::int64_t>(kernels.size());
  for (Column* one : {&key, &op, &rows, &timed, &flops, &min, &max})
    columns.columns.push_back(std::move(*one));
  return columns;
}

/// Defines rows() or kernels().
template <class Class, class Read>
void def_columns(Class& bound, const char* name, Read read, const char* documentation) {
  bound.def(
      name,
      [read](TableHandle& handle, std::optional<std::string> key, std::optional<std::string> device,
             std::optional<std::string> runtime, std::optional<std::string> version,
             std::optional<std::string> precision, std::optional<std::int64_t> threads,
             bool with_time) {
        const RowFilter filter{
            std::move(device), std::move(runtime), std::move(version), std::move(precision),
            threads,           std::move(key),     with_time};
        const auto opened = handle.opened();
        PythonEvents events;
        return Rows{std::make_shared<const Columns>(
            opened->use(events, [&] { return read(opened->table, filter, events); }))};
      },
      nb::kw_only(), "key"_a = nb::none(), "device"_a = nb::none(), "runtime"_a = nb::none(),
      "version"_a = nb::none(), "precision"_a = nb::none(), "threads"_a = nb::none(),
      "with_time"_a = false, documentation);
}

/// A signal that came while the fit was being stored raises now; the exception says what happened.
void say_that_it_is_stored(const std::string& path) {
  if (PyErr_CheckSignals() == 0) return;
  nb::python_error raised;
  const nb::object exception = nb::borrow(raised.value());
  if (nb::hasattr(exception, "add_note"))
    exception.attr("add_note")(fmt::format("the fit had been stored in {}", base::printable(path)));
  throw raised;
}

FitResult fit_table(TableHandle& handle, bool composition, bool kernels, const Texts& groups,
                    std::optional<std::string> device, std::optional<std::string> runtime,
                    std::optional<std::string> version, std::optional<std::string> precision,
                    std::optional<std::int64_t> threads, std::uint64_t seed, int jobs,
                    bool calibrate, bool exclude_suspects, double level, bool store,
                    const nb::object& progress) {
  app::FitRequest request;
  request.table = handle.path();
  request.rows.device = std::move(device);
  request.rows.runtime = std::move(runtime);
  request.rows.version = std::move(version);
  request.rows.precision = std::move(precision);
  request.rows.threads = threads;
  request.composition = composition;
  request.kernels = kernels;
  if (groups) request.how.groups = *groups;
  request.how.level = level;
  request.learn = {seed, jobs, calibrate, exclude_suspects};
  request.store = store;
  PythonEvents events(progress);
  auto made = events.run([&] { return app::fit(request, events); }, CallLength::Long);
  FitResult result(app::fit_report(request, std::move(made)));
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
  if (store) {
    handle.reopen();
    say_that_it_is_stored(handle.path());
  }
  return result;
}

Validation validate_table(TableHandle& handle, const nb::object& models, const std::string& runtime,
                          std::int64_t threads, const std::string& precision, const Texts& options,
                          const std::string& device, const Shapes& shapes,
                          std::optional<std::int64_t> batch, const nb::object& inputs, double level,
                          bool measure_anew, const std::vector<std::string>& worker_arguments,
                          const nb::object& progress) {
  const auto files = model_files(models);
  check_given(files);
  app::ValidateRequest request;
  for (const ModelFile& file : files) request.models.push_back(file.path);
  const GivenInputs given = model_inputs(shapes, batch, inputs);
  request.inputs = given.of_model;
  request.table = handle.path();
  request.runtime = runtime_request(runtime, threads, precision, options, device, worker_arguments);
  request.level = level;
  request.measure_anew = measure_anew;
  request.record = "oplat.Table.validate";
  PythonEvents events(progress);
  warn_of_models(files, events);
  auto made = events.run([&] { return app::validate(request, events); }, CallLength::Long);
  Validation result(std::move(made));
  if (result.as<predict::Validation>().models.empty())
    raise({Code::Runtime,
           fmt::format("no model could be measured{}{}", result.refusals.empty() ? "" : ": ",
                       result.refusals.empty() ? "" : result.refusals.front().reason)});
  result.warnings.insert(result.warnings.end(), events.warnings.begin(), events.warnings.end());
  result.notes = std::move(events.notes);
  return result;
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<Objective>(module, "Objective",
                        "A callable for search libraries: model to milliseconds. Warnings of its\n"
                        "predictions are Python warnings of the class `oplat.PredictionWarning`.")
      .def("__call__", objective_value, "model"_a,
           nb::sig("def __call__(self, model: oplat._types.Model) -> float"))
      .def_prop_ro("level", [](const Objective& o) { return o.question.request.options.level; })
      .def_ro("bound", &Objective::bound)
      .def(
          "__reduce__",
          [](const Objective& objective) {
            const nb::object make = nb::module_::import_("operator")
                                        .attr("methodcaller")("as_objective", objective.bound,
                                                              **objective.question.given);
            return nb::make_tuple(make, nb::make_tuple(objective.table));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"),
          "Pickled, it opens its table again.")
      .def("__repr__", [](const Objective& objective) {
        return fmt::format("<oplat.Objective: {} at {:.0f} %>", objective.bound,
                           100 * objective.question.request.options.level);
      });

  nb::class_<TableHandle> table(
      module, "Table",
      "An open table of measured latencies, or another system's file as one.\n\n"
      "Any number of threads may use it; one call at a time works on it. A forked child opens\n"
      "the file again by itself. What a query answered once it answers again as long as the\n"
      "table is open.");
  table
      .def(
          "__init__",
          [](TableHandle* self, Path path, std::optional<std::int64_t> threads,
             std::optional<std::string> precision, bool skip_bad_rows) {
            new (self)
                TableHandle(std::move(path.text), {threads, std::move(precision), skip_bad_rows});
          },
          "path"_a, nb::kw_only(), "threads"_a = nb::none(), "precision"_a = nb::none(),
          "skip_bad_rows"_a = false,
          "Opens it for reading. `threads`, `precision` and `skip_bad_rows` are of another\n"
          "system's file, where it does not say them.")
      .def(
          "__getstate__",
          [](const TableHandle& handle) {
            handle.check_open();
            const OpenOptions& options = handle.options();
            return std::tuple(Path{handle.absolute_path()}, options.threads, options.precision,
                              options.skip_bad_rows);
          },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"),
          "Pickled, it is its path: another process opens the file for itself.")
      .def("__setstate__",
           [](TableHandle* self,
              std::tuple<Path, std::optional<std::int64_t>, std::optional<std::string>, bool>
                  state) {
             new (self) TableHandle(
                 std::get<0>(std::move(state)).text,
                 {std::get<1>(state), std::get<2>(std::move(state)), std::get<3>(state)});
           })
      .def_prop_ro(
          "path", [](const TableHandle& handle) { return Path{handle.path()}; },
          "As it was given; absolute once the current folder is another one.")
      .def_prop_ro(
          "contexts",
          [](TableHandle& handle) {
            const auto opened = handle.opened();
            PythonEvents events;
            return opened->use(events, [&] { return opened->table.contexts(); });
          },
          "Every device and setting with rows.")
      .def_prop_ro(
          "warnings", [](TableHandle& handle) { return handle.opened()->warnings; },
          "What was said when it was opened; every prediction repeats it.")
      .def("reopen", &TableHandle::reopen, "Sees what other processes wrote since.")
      .def("close", &TableHandle::close, "Later calls are a ValueError.")
      .def(
          "__enter__", [](const nb::object& self) { return self; },
          nb::sig("def __enter__(self) -> Table"))
      .def(
          "__exit__", [](TableHandle& handle, const nb::args&) { handle.close(); },
          nb::sig("def __exit__(self, *exception: object) -> None"))
      .def("__len__",
           [](TableHandle& handle) {
             const auto opened = handle.opened();
             PythonEvents events;
             return opened->use(events, [&] { return opened->table.count(); });
           })
      .def("__repr__", [](const TableHandle& handle) {
        return fmt::format("<oplat.Table: {}>", base::printable(handle.path(), 400));
      });
  def_columns(table, "rows", row_columns,
              "The rows, in order of id, as columns. Times are milliseconds of one execution; a\n"
              "row without a time has a reason.");
  def_columns(table, "kernels", kernel_columns,
              "The distinct kernels of the rows, with the number of their rows and the range of\n"
              "their medians over cache states and settings.");
  def_predicting(
      table, "predict",
      [](nb::handle self, nb::handle model, Question&& question) {
        return predict_model(nb::cast<TableHandle&>(self), model, std::move(question.request));
      },
      "model"_a,
      nb::sig("def predict(self, model: oplat._types.Model, " OPLAT_PREDICTING ") -> Prediction"),
      "How long a model takes. `model` is a path, the bytes of an ONNX model, an\n"
      "`onnx.ModelProto` or an `oplat.torch.Graph`. What a table leaves open is chosen by\n"
      "`threads`, `device`, `runtime`, `version`, `precision` and `options`; what the model\n"
      "leaves open, by `shapes`, `batch` and `inputs`. MissingKernels names kernels that nothing\n"
      "answers.");
  def_predicting(
      table, "predict_many",
      [](nb::handle self, nb::handle models, Question&& question) {
        return predict_models(nb::cast<TableHandle&>(self), models, std::move(question.request));
      },
      "models"_a,
      nb::sig("def predict_many(self, models: "
              "oplat._types.Models, " OPLAT_PREDICTING ") -> list[Prediction]"),
      "Predicts each model, in order. The first that cannot be predicted raises.");
  def_predicting(
      table, "as_objective",
      [](nb::handle self, nb::handle bound, Question&& question) {
        const auto word = argument<std::string>("bound", bound, "str");
        if (word != "hi" && word != "ms" && word != "lo")
          raise(
              {Code::Usage, fmt::format("bound {}: expected hi, ms or lo", base::printable(word))});
        return Objective{nb::borrow(self), std::move(question), word};
      },
      "bound"_a = "hi",
      nb::sig(
          "def as_objective(self, bound: typing.Literal['hi', 'ms', 'lo'] = 'hi', " OPLAT_PREDICTING
          ") -> Objective"),
      "A function from a model to the upper end of its interval, for constraints ('hi'), to its\n"
      "median ('ms') or to the lower end ('lo'), in milliseconds.");
  table
      .def("fit", fit_table, nb::kw_only(), "composition"_a = true, "kernels"_a = true,
           "groups"_a = nb::none(), "device"_a = nb::none(), "runtime"_a = nb::none(),
           "version"_a = nb::none(), "precision"_a = nb::none(), "threads"_a = nb::none(),
           "seed"_a = 1, "jobs"_a = 0, "calibrate"_a = true, "exclude_suspects"_a = false,
           "level"_a = 0.9, "store"_a = true, "progress"_a = nb::none(),
           nb::sig("def fit(self, *, composition: bool = True, kernels: bool = True, groups: "
                   "dict[str, str] | None = None, device: str | None = None, runtime: str | None = "
                   "None, version: str | None = None, precision: str | None = None, threads: int | "
                   "None = None, seed: int = 1, jobs: int = 0, calibrate: bool = True, "
                   "exclude_suspects: bool = False, level: float = 0.9, store: bool = True, "
                   "progress: collections.abc.Callable[[Progress], object] | None = None) -> "
                   "FitResult"),
           "Learns how kernels add up, and how long unmeasured ones take; stores it in the file\n"
           "and reopens the table. Ctrl-C stores what is finished.")
      .def("validate", validate_table, "models"_a, "runtime"_a = "onnxruntime", nb::kw_only(),
           "threads"_a = 1, "precision"_a = "", "options"_a = nb::none(), "device"_a = "",
           "shapes"_a = nb::none(), "batch"_a = nb::none(), "inputs"_a = nb::none(),
           "level"_a = 0.9, "measure"_a = false, "worker_arguments"_a = std::vector<std::string>(),
           "progress"_a = nb::none(),
           nb::sig("def validate(self, models: oplat._types.Models, runtime: str = 'onnxruntime', "
                   "*, threads: "
                   "int = 1, precision: str = '', options: dict[str, str] | None = None, device: "
                   "str = '', shapes: oplat._types.Shapes | None = None, batch: int | None = None, "
                   "inputs: "
                   "oplat._types.Inputs | None = None, level: float = 0.9, measure: bool = False, "
                   "worker_arguments: list[str] = [], progress: "
                   "collections.abc.Callable[[Progress], object] | None = None) -> Validation"),
           "Predicts models and measures them where the table lacks their time; `measure`: all\n"
           "of them.");
}

}  // namespace oplat::python
