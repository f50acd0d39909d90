// SPDX-License-Identifier: Apache-2.0
#include "python/values.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/registry.hpp"
#include "ir/label.hpp"
#include "oplat/key.hpp"
#include "oplat/predict.hpp"
#include "oplat/table.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr double kNsPerMs = 1e6;

ir::KernelLabel label_of(std::string_view key) { return ir::label_of(key, compat::catalogue()); }

/// Pickling and copying, by a tuple of what `pack` makes of a value and `unpack` makes a value of.
template <class Class, class Pack, class Unpack>
void def_state(Class& bound, Pack pack, Unpack unpack) {
  using Value = typename Class::Type;
  using State = decltype(pack(std::declval<const Value&>()));
  bound
      .def(
          "__getstate__", [pack](const Value& value) { return pack(value); },
          nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def(
          "__setstate__",
          [unpack](Value* self, State state) { new (self) Value(unpack(std::move(state))); },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));
}

/// The same, of values whose members are all values of Python.
template <class Class, class... Members>
void def_members(Class& bound, Members Class::Type::*... members) {
  using Value = typename Class::Type;
  using State = std::tuple<Members...>;
  def_state(
      bound, [members...](const Value& value) { return State(value.*members...); },
      [members...](State state) {
        Value made{};
        std::apply([&](auto&... parts) { ((made.*members = std::move(parts)), ...); }, state);
        return made;
      });
}

void bind_key(nb::module_& module) {
  nb::class_<Tensor> tensor_class(module, "Tensor", "An operand or a result of a kernel.");
  tensor_class.def_ro("dtype", &Tensor::dtype, "'f32', 'i64', 'u8', as keys write it.")
      .def_ro("constant", &Tensor::constant, "Whether it is a weight.")
      .def_ro("ranked", &Tensor::ranked, "False: not even the number of dimensions is known.")
      .def_ro("dims", &Tensor::dims,
              "Sizes in elements, outermost first; None where a size is unknown.")
      .def(
          "__eq__", [](const Tensor& a, const Tensor& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const Tensor& tensor) {
        std::string sizes;
        for (const auto& size : tensor.dims)
          sizes += (sizes.empty() ? "" : ",") + (size ? std::to_string(*size) : "?");
        return fmt::format("<oplat.Tensor: {}{}[{}]>", tensor.constant ? "constant " : "",
                           tensor.dtype, tensor.ranked ? sizes : "*");
      });
  def_members(tensor_class, &Tensor::dtype, &Tensor::constant, &Tensor::ranked, &Tensor::dims);
  nb::class_<Key>(module, "Key",
                  "The text that names one kernel (docs/reference/keys.md). Immutable.")
      .def(
          "__init__",
          [](Key* self, std::string_view text) { new (self) Key(value_of(Key::parse(text))); },
          "text"_a, "Reads the text of a key. UsageError says where it is not one.")
      .def_prop_ro("text", &Key::text, "The canonical text, one line.")
      .def_prop_ro("op", &Key::op, "'Conv'; of another domain 'com.microsoft:FusedConv'.")
      .def_prop_ro("operands", &Key::operands, "In order; None where an optional one is left out.")
      .def_prop_ro("results", &Key::results, "In order; None where nobody uses one.")
      .def_prop_ro(
          "label", [](const Key& key) { return label_of(key.text()).text; },
          "The kernel described for people: 'Conv 3x3 s2, 16 ch, 1x3x224x224 -> 1x16x112x112'.\n"
          "Different keys may have the same.")
      .def_prop_ro("flops", &Key::flops,
                   "Operations of one execution; None if the operator or a size is unknown.")
      .def("__str__", &Key::text)
      .def("__hash__", [](const Key& key) { return std::hash<std::string>()(key.text()); })
      .def(
          "__eq__", [](const Key& a, const Key& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(
          "__reduce__",
          [](nb::handle self) {
            return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self)));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"))
      .def("__repr__", [](const Key& key) { return fmt::format("oplat.Key({:?})", key.text()); });
}

void bind_context(nb::module_& module) {
  nb::class_<Device> device_class(module, "Device", "A machine that rows were measured on.");
  device_class.def_ro("name", &Device::name)
      .def_ro("cpu", &Device::cpu)
      .def_ro("architecture", &Device::architecture)
      .def_ro("cores", &Device::cores, "0 if it is not known.")
      .def_ro("memory_bytes", &Device::memory_bytes, "0 if it is not known.")
      .def("__repr__", [](const Device& device) {
        return fmt::format("<oplat.Device: {}>", base::printable(device.name));
      });
  def_members(device_class, &Device::name, &Device::cpu, &Device::architecture, &Device::cores,
              &Device::memory_bytes);
  nb::class_<Setting> setting_class(module, "Setting", "What decided which code ran.");
  setting_class.def_ro("runtime", &Setting::runtime)
      .def_ro("version", &Setting::version)
      .def_ro("precision", &Setting::precision, "'model': the precision that the model states.")
      .def_ro("threads", &Setting::threads)
      .def_ro("options", &Setting::options, "Of the runtime.")
      .def("__repr__", [](const Setting& setting) {
        return fmt::format("<oplat.Setting: {} {}, {} threads, precision {}>",
                           base::printable(setting.runtime), base::printable(setting.version),
                           setting.threads, base::printable(setting.precision));
      });
  def_members(setting_class, &Setting::runtime, &Setting::version, &Setting::precision,
              &Setting::threads, &Setting::options);
  nb::class_<Context> context_class(module, "Context",
                                    "A device and a setting that rows were measured under.");
  context_class.def_ro("device", &Context::device)
      .def_ro("setting", &Context::setting)
      .def_ro("rows", &Context::rows)
      .def_ro("rows_with_time", &Context::rows_with_time)
      .def("__repr__", [](const Context& context) {
        return fmt::format(
            "<oplat.Context: {}, {} {}, {} threads: {} rows>", base::printable(context.device.name),
            base::printable(context.setting.runtime), base::printable(context.setting.version),
            context.setting.threads, context.rows);
      });
  def_members(context_class, &Context::device, &Context::setting, &Context::rows,
              &Context::rows_with_time);
}

void bind_timing(nb::module_& module) {
  nb::class_<Timing> timing_class(module, "Timing", "A measured time, in milliseconds.");
  timing_class.def_ro("ms", &Timing::median_ms, "The median.")
      .def_ro("lo", &Timing::low_ms, "Where its 95 % confidence interval begins.")
      .def_ro("hi", &Timing::high_ms, "Where it ends.")
      .def_ro("blocks", &Timing::blocks, "Separate blocks of measurements behind it.")
      .def("__repr__", [](const Timing& timing) {
        return fmt::format("<oplat.Timing: {} ({} to {}), {} blocks>",
                           base::duration_text(timing.median_ms * kNsPerMs),
                           base::duration_text(timing.low_ms * kNsPerMs),
                           base::duration_text(timing.high_ms * kNsPerMs), timing.blocks);
      });
  def_members(timing_class, &Timing::median_ms, &Timing::low_ms, &Timing::high_ms, &Timing::blocks);
}

void bind_kernel_time(nb::module_& module) {
  nb::class_<KernelTime> kernel_class(module, "KernelTime",
                                      "One kernel of a model, with its time.");
  kernel_class.def_ro("name", &KernelTime::name, "Of the node; empty if it has none.")
      .def_ro("key", &KernelTime::key)
      .def_prop_ro(
          "label", [](const KernelTime& kernel) { return label_of(kernel.key).text; },
          "The kernel described for people.")
      .def_prop_ro(
          "type", [](const KernelTime& kernel) { return label_of(kernel.key).type; },
          "What `Prediction.by_operator` sums by: 'Conv', 'Conv depthwise'.")
      .def_ro("count", &KernelTime::count, "Executions per run of the model.")
      .def_ro("ms", &KernelTime::median_ms, "Of one execution; None if nothing answers.")
      .def_prop_ro(
          "lo",
          [](const KernelTime& kernel) { return kernel.interval ? kernel.interval->low_ms : 0.0; },
          "Where the interval of one execution begins, by itself.")
      .def_prop_ro(
          "hi",
          [](const KernelTime& kernel) {
            return kernel.interval ? kernel.interval->high_ms
                                   : std::numeric_limits<double>::infinity();
          },
          "Where it ends; infinite if it is not known.")
      .def_prop_ro(
          "source", [](const KernelTime& kernel) { return source_name(kernel.source); },
          "'measured', 'interpolated', 'learned', 'roofline', 'free' or 'missing'.")
      .def_prop_ro(
          "why",
          [](const KernelTime& kernel) { return base::printable(kernel.why, std::string::npos); },
          "Which rows answered, and what was assumed.")
      .def("__repr__", [](const KernelTime& kernel) {
        return fmt::format(
            "<oplat.KernelTime: {} x {}, {}: {}>", kernel.count,
            kernel.median_ms ? base::duration_text(*kernel.median_ms * kNsPerMs) : "no time",
            source_name(kernel.source), base::printable(label_of(kernel.key).text, 200));
      });
  using Range = std::optional<std::tuple<double, double>>;
  using State = std::tuple<std::string, std::string, std::int64_t, std::optional<double>, Range,
                           int, std::string>;
  def_state(
      kernel_class,
      [](const KernelTime& kernel) {
        Range range;
        if (kernel.interval) range.emplace(kernel.interval->low_ms, kernel.interval->high_ms);
        return State(kernel.name, kernel.key, kernel.count, kernel.median_ms, range,
                     static_cast<int>(kernel.source), kernel.why);
      },
      [](const State& state) {
        const auto& [name, key, count, median_ms, range, source, why] = state;
        KernelTime kernel;
        kernel.name = name;
        kernel.key = key;
        kernel.count = count;
        kernel.median_ms = median_ms;
        if (range) kernel.interval = Interval{std::get<0>(*range), std::get<1>(*range)};
        if (source < 0 || source > static_cast<int>(Source::Missing))
          throw nb::value_error("the source of a kernel's time is not one");
        kernel.source = static_cast<Source>(source);
        kernel.why = why;
        return kernel;
      });
}

void bind_progress(nb::module_& module) {
  nb::class_<Progress>(module, "Progress", "How far a call is.")
      .def_ro("done", &Progress::done)
      .def_ro("total", &Progress::total, "0 if it is not known yet.")
      .def_ro("eta_s", &Progress::eta_s, "Seconds until the end; None if not known yet.")
      .def_ro("what", &Progress::what, "The step that is running: 'measuring', 'fitting'.")
      .def_ro("item", &Progress::item, "What it works on: a key, a file; may be empty.")
      .def("__repr__", [](const Progress& progress) {
        return fmt::format("<oplat.Progress: {} {} of {}>", progress.what, progress.done,
                           progress.total);
      });
}

}  // namespace

void bind_values(nb::module_& module) {
  bind_key(module);
  bind_context(module);
  bind_timing(module);
  bind_kernel_time(module);
  bind_progress(module);
}

}  // namespace oplat::python
