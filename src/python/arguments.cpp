// SPDX-License-Identifier: Apache-2.0
#include "python/arguments.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "app/plan_source.hpp"
#include "base/units.hpp"
#include "base/without_repeats.hpp"
#include "oplat/key.hpp"
#include "python/errors.hpp"
#include "runtimes/worker_command.hpp"

namespace oplat::python {

namespace nb = nanobind;

namespace {

constexpr const char* kText = "str";
constexpr const char* kNumber = "int";
// As on the command line.
constexpr std::int64_t kMinBlocks = 5;
constexpr std::int64_t kMaxBlocks = 1000;
constexpr std::int64_t kMaxCpu = 4095;

void check_range(const char* name, const std::optional<std::int64_t>& value, std::int64_t min,
                 std::int64_t max) {
  if (value && (*value < min || *value > max))
    raise({Code::Usage, fmt::format("{}: {} is not from {} to {}", name, *value, min, max)});
}

/// Seconds as a number, or "4m".
std::optional<double> budget_seconds(nb::handle budget) {
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

/// The words of a command: as a list, or as a shell would split a text.
std::vector<std::string> worker_command(nb::handle worker) {
  if (!PyUnicode_Check(worker.ptr())) {
    auto words = argument<std::vector<std::string>>("worker", worker, "str or a list of words");
    if (words.empty()) raise({Code::Usage, "worker: the command is empty"});
    return words;
  }
  auto words = runtimes::split_command(nb::cast<std::string>(worker));
  if (!words) raise({Code::Usage, fmt::format("worker: {}", words.error().message)});
  return *std::move(words);
}

}  // namespace

void raise_unexpected(std::string_view name) {
  throw nb::type_error(
      fmt::format("unexpected keyword argument '{}'", base::printable(name)).c_str());
}

nb::object take(nb::kwargs& given, const char* name) {
  PyObject* found = PyDict_GetItemString(given.ptr(), name);
  if (found == nullptr) return {};
  nb::object value = nb::borrow(found);
  if (PyDict_DelItemString(given.ptr(), name) != 0) throw nb::python_error();
  return value;
}

void refuse(const nb::kwargs& given, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (given.contains(name)) raise_unexpected(name);
}

std::vector<std::int64_t> take_numbers(nb::kwargs& given, const char* name, std::int64_t max) {
  const nb::object value = take(given, name);
  std::vector<std::int64_t> numbers;
  if (!value.is_valid() || value.is_none()) return numbers;
  std::int64_t single = 0;
  if (nb::try_cast(value, single)) {
    numbers.push_back(single);
  } else {
    numbers = argument<std::vector<std::int64_t>>(name, value, "a list of int");
  }
  for (const std::int64_t number : numbers) check_range(name, number, 1, max);
  return base::without_repeats(numbers);
}

std::vector<std::string> key_texts(nb::handle keys) {
  if (nb::isinstance<Key>(keys) || PyUnicode_Check(keys.ptr())) return {key_text(keys)};
  std::vector<std::string> texts;
  for (const nb::handle key : nb::iter(keys)) texts.push_back(key_text(key));
  return texts;
}

Question question_of(const nb::kwargs& given) {
  Question question{{}, {}, given};
  app::PredictRequest& request = question.request;
  request.plan.program = program();
  if (given.size() == 0) return question;
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
      request.rows.threads = argument<std::optional<std::int64_t>>(name, value, kNumber);
      check_range("threads", request.rows.threads, 1, kMaxThreads);
    } else if (name == "shapes") {
      shapes = argument<Shapes>(name, value, "dict[str, Sequence[int]]");
    } else if (name == "batch") {
      batch = argument<std::optional<std::int64_t>>(name, value, kNumber);
      check_range("batch", batch, 1, kMaxBatch);
    } else if (name == "inputs") {
      data = nb::borrow(value);
    } else if (name == "options") {
      if (auto options = argument<Texts>(name, value, "dict[str, str]"))
        request.rows.options = *std::move(options);
    } else if (name == "allow_setting_mismatch") {
      request.rows.allow_setting_mismatch = argument<bool>(name, value, "bool");
    } else if (name == "unfitted") {
      request.rows.fitted = !argument<bool>(name, value, "bool");
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
      raise_unexpected(name);
    }
  }
  GivenInputs inputs = model_inputs(shapes, batch, data);
  request.inputs = std::move(inputs.of_model);
  question.arrays = std::move(inputs.arrays);
  return question;
}

MeasuringArguments measuring_arguments(const std::string& runtime, const nb::object& budget,
                                       const nb::kwargs& given,
                                       std::span<const std::string_view> others) {
  MeasuringArguments made;
  made.runtime.runtime = runtime;
  made.runtime.worker_command = {program(), "worker", runtime};
  made.campaign.budget_s = budget_seconds(budget);
  Shapes shapes;
  nb::object data = nb::none();
  std::optional<std::int64_t> batch;
  for (const auto& [key, each] : given) {
    const auto name = nb::cast<std::string>(key);
    const nb::handle value = each;
    const auto is_known = [&](std::string_view word) {
      return name == word && std::find(others.begin(), others.end(), word) != others.end();
    };
    if (is_known("threads")) {
      made.runtime.threads = argument<std::int64_t>(name, value, kNumber);
      check_range("threads", made.runtime.threads, 1, kMaxThreads);
    } else if (is_known("batch")) {
      batch = argument<std::optional<std::int64_t>>(name, value, kNumber);
      check_range("batch", batch, 1, kMaxBatch);
    } else if (is_known("keys")) {
      made.keys = nb::borrow(value);
    } else if (is_known("space")) {
      made.space = argument<std::string>(name, value, kText);
    } else if (is_known("like")) {
      made.like = argument<std::string>(name, value, kText);
    } else if (is_known("retry_refused")) {
      made.campaign.retry_refused = argument<bool>(name, value, "bool");
    } else if (is_known("retry_loaded")) {
      made.campaign.retry_loaded = argument<bool>(name, value, "bool");
    } else if (is_known("seed")) {
      made.campaign.seed = argument<std::uint64_t>(name, value, "int from 0");
    } else if (is_known("blocks")) {
      made.campaign.min_blocks = argument<std::optional<std::int64_t>>(name, value, kNumber);
      check_range("blocks", made.campaign.min_blocks, kMinBlocks, kMaxBlocks);
    } else if (is_known("target_error")) {
      made.campaign.target_error = argument<std::optional<double>>(name, value, "float");
    } else if (is_known("level")) {
      made.level = argument<double>(name, value, "float");
    } else if (is_known("measure")) {
      made.measure = argument<bool>(name, value, "bool");
    } else if (is_known("unfitted")) {
      made.unfitted = argument<bool>(name, value, "bool");
    } else if (name == "precision") {
      made.runtime.precision = argument<std::string>(name, value, kText);
    } else if (name == "options") {
      if (auto options = argument<Texts>(name, value, "dict[str, str]"))
        made.runtime.options = *std::move(options);
    } else if (name == "device") {
      made.runtime.device = argument<std::string>(name, value, kText);
    } else if (name == "shapes") {
      shapes = argument<Shapes>(name, value, "dict[str, Sequence[int]]");
    } else if (name == "inputs") {
      data = nb::borrow(value);
    } else if (name == "cpu") {
      made.runtime.cpu = argument<std::optional<int>>(name, value, kNumber);
      check_range("cpu", made.runtime.cpu, 0, kMaxCpu);
    } else if (name == "worker") {
      if (value.is_none()) continue;
      made.runtime.worker_command = worker_command(value);
      made.runtime.remote = true;
    } else if (name == "worker_arguments") {
      made.runtime.worker_arguments =
          argument<std::vector<std::string>>(name, value, "a list of str");
    } else if (name == "progress") {
      made.progress = nb::borrow(value);
    } else {
      raise_unexpected(name);
    }
  }
  made.inputs = model_inputs(shapes, batch, data);
  return made;
}

}  // namespace oplat::python
