// SPDX-License-Identifier: Apache-2.0
#include "python/table.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "api/values.hpp"
#include "app/advise.hpp"
#include "app/compare.hpp"
#include "app/estimate.hpp"
#include "app/fit.hpp"
#include "app/predict.hpp"
#include "app/sweep.hpp"
#include "app/table_source.hpp"
#include "app/validate.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "oplat/key.hpp"
#include "predict/prediction.hpp"
#include "python/arguments.hpp"
#include "python/columns.hpp"
#include "python/documents.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/fork_gate.hpp"
#include "python/measure.hpp"
#include "python/models.hpp"
#include "python/surveys.hpp"
#include "python/without_gil.hpp"

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
  app::PredictResult result = opened->use(events, [&] {
    Table::Impl& table = opened->table.impl();
    return app::predict(request, table.opened, table.memo, events);
  });
  result.prediction.model = model.name;
  result.prediction.warnings.insert(result.prediction.warnings.end(), model.warnings.begin(),
                                    model.warnings.end());
  if (const Status complete = predict::require_complete(result.prediction); !complete)
    raise_missing(complete.error(), result.prediction.missing);
  auto prediction = std::make_unique<Prediction>(std::move(result), opened->warnings);
  prediction->notes = std::exchange(events.notes, {});
  return prediction;
}

std::unique_ptr<Prediction> predict_model(TableHandle& handle, nb::handle model,
                                          app::PredictRequest request) {
  const ModelFile file = model_file(model);
  request.model = file.path;
  PythonEvents events;
  return predict_one(handle, request, file, events);
}

enum class OnError { Raise, Return };

/// What all models would fail of alike raises, whatever is wanted of a model's own error.
void check_rows(TableHandle& handle, const app::PredictRequest& request, PythonEvents& events) {
  const auto opened = handle.opened();
  opened->use(events, [&]() -> Result<bool> {
    const app::OpenedTable& table = opened->table.impl().opened;
    const auto selection = app::select_stated(table.table(), request.rows);
    if (!selection) return fail(app::with_path(table, selection.error()));
    return true;
  });
}

/// Whether an exception is one of oplat that is about a model.
bool is_of_model(const nb::python_error& error) {
  const nb::module_ errors = nb::module_::import_("oplat.errors");
  return error.matches(errors.attr("Error")) && !error.matches(errors.attr("Interrupted")) &&
         !error.matches(errors.attr("InternalError"));
}

nb::list predict_models(TableHandle& handle, nb::handle models, app::PredictRequest request,
                        OnError on_error) {
  nb::list answers;
  PythonEvents events;
  if (on_error == OnError::Return) check_rows(handle, request, events);
  const auto predict = [&](nb::handle model) {
    try {
      const ModelFile file = model_file(model);
      request.model = file.path;
      answers.append(predict_one(handle, request, file, events));
    } catch (nb::python_error& error) {
      if (on_error == OnError::Raise || !is_of_model(error)) throw;
      answers.append(error.value());
      events.notes.clear();
    }
  };
  if (is_one_model(models)) {
    predict(models);
    return answers;
  }
  for (const nb::handle model : nb::iter(models)) {
    // Between two models of a list Python itself looks for no signal.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    predict(model);
  }
  return answers;
}

constexpr const char* kOnError = "on_error";
constexpr const char* kReturn = "return";

bool is_return(const nb::kwargs& given) {
  PyObject* word = PyDict_GetItemString(given.ptr(), kOnError);
  return word != nullptr && PyUnicode_Check(word) &&
         PyUnicode_CompareWithASCIIString(word, kReturn) == 0;
}

nb::list predict_many(TableHandle& handle, nb::handle models, nb::kwargs given) {
  const OnError on_error = is_return(given) ? OnError::Return : OnError::Raise;
  if (const nb::object word = take(given, kOnError); word.is_valid()) {
    const auto text = argument<std::string>(kOnError, word, "str");
    if (text != kReturn && text != "raise")
      raise({Code::Usage,
             fmt::format("on_error {}: expected raise or return", base::printable(text))});
  }
  const Question question = question_of(given);
  return predict_models(handle, models, question.request, on_error);
}

Sweep predict_sweep(TableHandle& handle, nb::handle models, nb::kwargs given) {
  refuse(given, {"batch"});
  app::SweepAxes axes;
  axes.threads = take_numbers(given, "threads", kMaxThreads);
  axes.batches = take_numbers(given, "batches", kMaxBatch);
  const Question question = question_of(given);
  const auto files = model_files(nb::borrow(models));
  check_given(files);
  PythonEvents events;
  warn_of_models(files, events);
  const auto opened = handle.opened();
  auto made = opened->use(events, [&] {
    return app::predict_sweep(question.request, paths_of(files), axes, opened->table.impl().opened,
                              events);
  });
  for (const std::string& text : opened->warnings) events.warnings.push_back(text);
  return sweep_document(std::move(made), files, events);
}

Estimates estimate_keys(TableHandle& handle, nb::handle keys, nb::kwargs given) {
  refuse(given, {"batch", "inputs", "plan", "shapes"});
  const nb::object reuse = take(given, "reuse_bytes");
  app::EstimateRequest request;
  if (reuse.is_valid())
    request.reuse_bytes = argument<std::optional<double>>("reuse_bytes", reuse, "float");
  const Question question = question_of(given);
  request.keys = key_texts(keys);
  if (request.keys.empty()) raise({Code::Usage, "keys: the list is empty"});
  request.rows = question.request.rows;
  request.options = question.request.options;
  PythonEvents events;
  const auto opened = handle.opened();
  const app::EstimateResult made = opened->use(events, [&]() -> Result<app::EstimateResult> {
    const app::OpenedTable& table = opened->table.impl().opened;
    auto result = app::estimate(request, table.table());
    if (!result) return fail(app::with_path(table, result.error()));
    return result;
  });
  if (const Status complete = app::require_estimates(made, request.options.missing); !complete) {
    std::vector<std::string> missing;
    for (const predict::KernelPrediction& kernel : made.kernels)
      if (!kernel.latency_ns) missing.push_back(kernel.key);
    raise_missing(complete.error(), missing);
  }
  report::EstimateListing listing;
  listing.kernels = made.kernels;
  listing.level = request.options.level;
  listing.device = made.selection.device;
  listing.setting = made.selection.setting;
  listing.mismatch = made.selection.mismatch;
  listing.warnings = made.selection.warnings;
  Estimates result(std::move(listing));
  result.warnings.insert(result.warnings.end(), opened->warnings.begin(), opened->warnings.end());
  return result;
}

Comparison compare_models(TableHandle& handle, nb::handle first, nb::handle second,
                          const nb::kwargs& given) {
  const Question question = question_of(given);
  const std::array<ModelFile, 2> files = {model_file(first), model_file(second)};
  app::CompareRequest request;
  request.models = {files[0].path, files[1].path};
  request.inputs = question.request.inputs;
  request.rows = question.request.rows;
  request.plan = question.request.plan;
  request.options = question.request.options;
  PythonEvents events;
  const auto opened = handle.opened();
  std::optional<Error> missing;
  auto made = opened->use(events, [&]() -> Result<app::CompareResult> {
    const app::OpenedTable& table = opened->table.impl().opened;
    auto result = app::compare(request, table.table(), events);
    if (result) return result;
    Error error = app::with_path(table, result.error());
    if (error.code != Code::Missing) return fail(std::move(error));
    missing = std::move(error);
    return app::CompareResult{};
  });
  if (missing) {
    app::PredictRequest each = question.request;
    each.options.missing = predict::MissingPolicy::Error;
    for (const ModelFile& file : files) {
      each.model = file.path;
      predict_one(handle, each, file, events);  // raises, with the keys
    }
    raise(*missing);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    predict::Prediction& one = made.models[i];
    one.model = files[i].name;
    one.warnings.insert(one.warnings.end(), files[i].warnings.begin(), files[i].warnings.end());
    one.warnings.insert(one.warnings.end(), opened->warnings.begin(), opened->warnings.end());
  }
  Comparison result(std::move(made));
  result.notes = std::move(events.notes);
  return result;
}

Advice advise_table(TableHandle& handle, nb::handle models, double max_ms, nb::kwargs given) {
  refuse(given, {"batch", "allow_setting_mismatch", "unfitted"});
  if (!(max_ms > 0) || !std::isfinite(max_ms))
    raise({Code::Usage, fmt::format("max_ms: {} is not a time above 0", max_ms)});
  app::AdviseRequest request;
  request.threads = take_numbers(given, "threads", kMaxThreads);
  request.batches = take_numbers(given, "batches", kMaxBatch);
  const nb::object progress = take(given, "progress");
  const Question question = question_of(given);
  const auto files = model_files(nb::borrow(models));
  check_given(files);
  request.models = paths_of(files);
  request.inputs = question.request.inputs;
  request.table = handle.path();
  request.rows = question.request.rows;
  request.max_latency_ns = max_ms * api::kNsPerMs;
  request.plan = question.request.plan;
  request.options = question.request.options;
  PythonEvents events(progress.is_valid() ? progress : nb::none());
  warn_of_models(files, events);
  const auto opened = handle.opened();
  if (opened->table.impl().opened.foreign)
    raise({Code::Usage, fmt::format("{}: not a table of oplat; convert it with oplat import",
                                    base::printable(handle.path(), 400))});
  auto made = opened->use(
      events, [&] { return app::advise(request, opened->table.impl().opened, events); });
  for (const std::string& text : opened->warnings) events.warnings.push_back(text);
  return advice_document(std::move(made), files, events);
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
                    const nb::object& progress, const Texts& options,
                    std::optional<double> max_half_width) {
  app::FitRequest request;
  request.table = handle.path();
  request.rows.device = std::move(device);
  request.rows.runtime = std::move(runtime);
  request.rows.version = std::move(version);
  request.rows.precision = std::move(precision);
  request.rows.threads = threads;
  request.composition = composition;
  request.kernels = kernels;
  if (options) request.rows.options = *options;
  if (groups) {
    request.how.groups = *groups;
    request.keep_groups = false;
  }
  if (max_half_width) {
    if (!(*max_half_width >= 0 && *max_half_width <= 1))
      raise({Code::Usage, fmt::format("max_half_width: {} is not from 0 to 1", *max_half_width)});
    request.how.max_half_width = *max_half_width;
  }
  request.how.level = level;
  if (jobs < 0)
    raise({Code::Usage, fmt::format("jobs: {}; expected 0, which takes all cores, or more", jobs)});
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

constexpr std::array<std::string_view, 5> kValidating = {"threads", "batch", "level", "measure",
                                                         "unfitted"};

Validation validate_table(TableHandle& handle, const nb::object& models, const std::string& runtime,
                          const nb::kwargs& given) {
  const auto files = model_files(models);
  check_given(files);
  const MeasuringArguments arguments = measuring_arguments(runtime, nb::none(), given, kValidating);
  app::ValidateRequest request;
  request.models = paths_of(files);
  request.inputs = arguments.inputs.of_model;
  request.table = handle.path();
  request.runtime = arguments.runtime;
  request.level = arguments.level;
  request.fitted = !arguments.unfitted;
  request.measure_anew = arguments.measure;
  request.record = "oplat.Table.validate";
  PythonEvents events(arguments.progress);
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

void bind_objective(nb::module_& module) {
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
}

/// Opening, pickling and closing.
void def_life(nb::class_<TableHandle>& table) {
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
      .def(
          "reopen",
          [](TableHandle& handle) {
            handle.check_open();
            handle.reopen();
          },
          "Sees what other processes wrote since.")
      .def("close", &TableHandle::close, "Later calls are a ValueError.")
      .def(
          "__enter__",
          [](const nb::object& self) {
            nb::cast<TableHandle&>(self).check_open();
            return self;
          },
          nb::sig("def __enter__(self) -> Table"))
      .def(
          "__exit__", [](TableHandle& handle, const nb::args&) { handle.close(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

/// What it holds.
void def_content(nb::class_<TableHandle>& table) {
  table
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
}

/// Predictions of whole models.
void def_models(nb::class_<TableHandle>& table) {
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
      "leaves open, by `shapes`, `batch` and `inputs`. `unfitted`: without what fit() learned of\n"
      "whole models. MissingKernels names kernels that nothing answers.");
  // Two forms for type checkers, of one function.
  table.def(
      "predict_many",
      [](TableHandle& handle, nb::handle models, nb::kwargs given) {
        if (is_return(given)) throw nb::next_overload();
        return predict_many(handle, models, std::move(given));
      },
      "models"_a, "further"_a,
      nb::sig("def predict_many(self, models: oplat._types.Models, " OPLAT_PREDICTING
              ", on_error: typing.Literal['raise'] = 'raise') -> list[Prediction]"),
      "Predicts each model, in order. The first that cannot be predicted raises;\n"
      "`on_error='return'`: its error is in its place.");
  table.def("predict_many", predict_many, "models"_a, "further"_a,
            nb::sig("def predict_many(self, models: oplat._types.Models, " OPLAT_PREDICTING
                    ", on_error: typing.Literal['return']) -> list[Prediction | "
                    "oplat.errors.Error]"));
  table.def("predict_sweep", predict_sweep, "models"_a, "further"_a,
            nb::sig("def predict_sweep(self, models: oplat._types.Models, *, threads: "
                    "collections.abc.Sequence[int] | int | None = None, batches: "
                    "collections.abc.Sequence[int] | int | None = None, " OPLAT_PREDICTING_OPTIONS
                    ") -> Sweep"),
            "Predicts each model with every number of threads and every batch. A point that\n"
            "cannot be predicted has an error; if none can, the first raises.");
  table.def("compare", compare_models, "first"_a, "second"_a, "further"_a,
            nb::sig("def compare(self, first: oplat._types.Model, second: "
                    "oplat._types.Model, " OPLAT_PREDICTING ") -> Comparison"),
            "Predicts two models from the same rows, and says which is faster. A kernel that\n"
            "nothing answers is an error, whatever `missing` says.");
}

/// Single kernels, settings, and functions for searches.
void def_questions(nb::class_<TableHandle>& table) {
  table.def("estimate", estimate_keys, "keys"_a, "further"_a,
            nb::sig("def estimate(self, keys: collections.abc.Iterable[str | Key] | str | Key, *, "
                    "reuse_bytes: float | None = None, threads: int | None = None, device: str | "
                    "None = None, runtime: str | None = None, version: str | None = None, "
                    "precision: str | None = None, options: dict[str, str] | None = None, "
                    "allow_setting_mismatch: bool = False, unfitted: bool = False, level: float = "
                    "0.9, missing: typing.Literal['error', 'roofline', 'zero'] = 'error', "
                    "estimator: typing.Literal['accurate', 'fast'] = 'accurate') -> Estimates"),
            "How long single kernels take. `reuse_bytes`: touched between two uses of a weight;\n"
            "None: caches are hot. MissingKernels names those that nothing answers.");
  table.def("advise", advise_table, "models"_a, "max_ms"_a, "further"_a,
            nb::sig("def advise(self, models: oplat._types.Models, max_ms: float, *, threads: "
                    "collections.abc.Sequence[int] | int | None = None, batches: "
                    "collections.abc.Sequence[int] | int | None = None, " OPLAT_PREDICTING_MODEL
                    ", progress: collections.abc.Callable[[Progress], object] | None = None) -> "
                    "Advice"),
            "Which settings of the table and which batches meet a latency. `models` are variants\n"
            "of one network, such as fp32 and int8. By default all settings of the table are\n"
            "tried, with the models' own batch.");
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
}

/// Learning from the table, and comparing with what is measured.
void def_learning(nb::class_<TableHandle>& table) {
  table
      .def("fit", fit_table, nb::kw_only(), "composition"_a = true, "kernels"_a = true,
           "groups"_a = nb::none(), "device"_a = nb::none(), "runtime"_a = nb::none(),
           "version"_a = nb::none(), "precision"_a = nb::none(), "threads"_a = nb::none(),
           "seed"_a = 1, "jobs"_a = 0, "calibrate"_a = true, "exclude_suspects"_a = false,
           "level"_a = 0.9, "store"_a = true, "progress"_a = nb::none(), "options"_a = nb::none(),
           "max_half_width"_a = nb::none(),
           nb::sig("def fit(self, *, composition: bool = True, kernels: bool = True, groups: "
                   "dict[str, str] | None = None, device: str | None = None, runtime: str | None = "
                   "None, version: str | None = None, precision: str | None = None, threads: int | "
                   "None = None, seed: int = 1, jobs: int = 0, calibrate: bool = True, "
                   "exclude_suspects: bool = False, level: float = 0.9, store: bool = True, "
                   "progress: collections.abc.Callable[[Progress], object] | None = None, options: "
                   "dict[str, str] | None = None, max_half_width: float | None = None) -> "
                   "FitResult"),
           "Learns how kernels add up, and how long unmeasured ones take; stores it in the file\n"
           "and reopens the table. Ctrl-C stores what is finished. `groups`: from the name of a "
           "model\n"
           "file to its group, kept with the fit; {} forgets them. `max_half_width`: models whose\n"
           "relative confidence interval is wider teach nothing; 0.1 is 10 %.")
      .def("validate", validate_table, "models"_a, "runtime"_a = "onnxruntime", "further"_a,
           nb::sig("def validate(self, models: oplat._types.Models, runtime: str = 'onnxruntime', "
                   "*, threads: int = 1, batch: int | None = None, level: float = 0.9, measure: "
                   "bool = False, unfitted: bool = False, " OPLAT_RUN_OPTIONS ") -> Validation"),
           "Predicts models and measures them where the table lacks their time; `measure`: all\n"
           "of them; `unfitted`: without what fit() learned of whole models.");
}

}  // namespace

void bind_table(nb::module_& module) {
  bind_objective(module);
  nb::class_<TableHandle> table(
      module, "Table",
      "An open table of measured latencies, or another system's file as one.\n\n"
      "Any number of threads may use it; one call at a time works on it. A forked child opens\n"
      "the file again by itself. What a query answered once it answers again as long as the\n"
      "table is open.");
  def_life(table);
  def_content(table);
  def_models(table);
  def_questions(table);
  def_learning(table);
}

}  // namespace oplat::python
