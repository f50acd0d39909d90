// SPDX-License-Identifier: Apache-2.0
#include "python/surveys.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "api/values.hpp"
#include "app/runtimes.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "oplat/table.hpp"
#include "python/measure.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr std::size_t kNameInText = 60;

std::optional<double> ms_of(const std::optional<double>& ns) {
  if (!ns) return std::nullopt;
  return *ns / api::kNsPerMs;
}
std::optional<double> low_of(const std::optional<base::Interval>& ns) {
  if (!ns) return std::nullopt;
  return ns->low / api::kNsPerMs;
}
std::optional<double> high_of(const std::optional<base::Interval>& ns) {
  if (!ns) return std::nullopt;
  return ns->high / api::kNsPerMs;
}

/// A count of any size: formulas give doubles.
nb::object count_of(double value) { return nb::steal(PyLong_FromDouble(value)); }

std::string name_of(const std::string& path, const std::vector<ModelFile>& files) {
  for (const ModelFile& file : files)
    if (file.path == path) return file.name;
  return path;
}

std::vector<report::Sweep::Point> chosen(const Sweep& sweep, const std::vector<bool>& is_best) {
  const auto& points = sweep.as<report::Sweep>().points;
  std::vector<report::Sweep::Point> best;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_best[i]) best.push_back(points[i]);
  return best;
}

/// "net.onnx, threads 2, batch 8".
std::string name_and_place(const report::Sweep::Point& point, std::size_t most) {
  const std::string place = point.place();
  return base::printable(point.path, most) + (place.empty() ? "" : ", " + place);
}

void bind_sweep(nb::module_& module) {
  using Point = report::Sweep::Point;
  nb::class_<Point>(module, "SweepPoint", "One model with one number of threads and one batch.")
      .def_prop_ro(
          "model",
          [](const Point& point) { return base::printable(point.path, std::string::npos); })
      .def_ro("threads", &Point::threads,
              "None only without a time, where the table would have said it.")
      .def_ro("batch", &Point::batch, "None only without a time, where the model would have.")
      .def_prop_ro(
          "ms", [](const Point& point) { return ms_of(point.latency_ns); },
          "Of one run of the whole batch; None if `error` says why there is none.")
      .def_prop_ro(
          "lo", [](const Point& point) { return low_of(point.interval); },
          "Where the interval of a prediction begins, else None.")
      .def_prop_ro(
          "hi", [](const Point& point) { return high_of(point.interval); }, "Where it ends.")
      .def_prop_ro(
          "image_ms", [](const Point& point) { return ms_of(point.image_ns()); },
          "`ms` over the batch.")
      .def_prop_ro("images_per_s", &Point::images_per_s)
      .def_ro("inferences", &Point::inferences,
              "Mean and percentiles of single inferences that were measured, else None.")
      .def_prop_ro(
          "error", [](const Point& point) { return base::printable_message(point.error); },
          "Why there is no time; empty if there is one.")
      .def("__repr__", [](const Point& point) {
        return fmt::format("<oplat.SweepPoint: {}: {}>", name_and_place(point, kNameInText),
                           point.latency_ns ? base::duration_text(*point.latency_ns) : "no time");
      });
  nb::class_<Sweep, Document>(module, "Sweep",
                              "Models over several numbers of threads and several batches.")
      .def_prop_ro("points", [](const Sweep& sweep) { return sweep.as<report::Sweep>().points; })
      .def_prop_ro(
          "fastest",
          [](const Sweep& sweep) {
            return chosen(sweep, report::best_points(sweep.as<report::Sweep>()).latency);
          },
          "Of each model that has several points, the one of the lowest latency.")
      .def_prop_ro(
          "most_images",
          [](const Sweep& sweep) {
            return chosen(sweep, report::best_points(sweep.as<report::Sweep>()).throughput);
          },
          "Likewise, the one of the most images a second.")
      .def_prop_ro(
          "measured", [](const Sweep& sweep) { return sweep.as<report::Sweep>().measured; },
          "False: predicted.")
      .def_prop_ro(
          "means", [](const Sweep& sweep) { return sweep.as<report::Sweep>().means; },
          "Whether measured times are means of single inferences. Else they are medians of blocks.")
      .def_prop_ro("level", [](const Sweep& sweep) { return sweep.as<report::Sweep>().level; })
      .def_prop_ro(
          "device",
          [](const Sweep& sweep) { return api::device_of(sweep.as<report::Sweep>().device); })
      .def_prop_ro(
          "setting",
          [](const Sweep& sweep) { return api::setting_of(sweep.as<report::Sweep>().setting); },
          "Of the points; its threads are those of the first.")
      .def_ro("refusals", &Sweep::refusals, "Why models were not measured.")
      .def("__len__", [](const Sweep& sweep) { return sweep.as<report::Sweep>().points.size(); })
      .def("__repr__", [](const Sweep& sweep) {
        return fmt::format("<oplat.Sweep: {} points>", sweep.as<report::Sweep>().points.size());
      });
}

void bind_advice(nb::module_& module) {
  using Choice = report::AdviceReport::Choice;
  const auto is_met = [](const Choice& choice) {
    return choice.meets == report::Meets::Yes || choice.meets == report::Meets::Likely;
  };
  nb::class_<Choice>(module, "AdviceChoice", "A model in one setting of a table with one batch.")
      .def_prop_ro(
          "model",
          [](const Choice& choice) { return base::printable(choice.model, std::string::npos); })
      .def_prop_ro("setting", [](const Choice& choice) { return api::setting_of(choice.setting); })
      .def_prop_ro("threads", [](const Choice& choice) { return choice.setting.threads; })
      .def_ro("batch", &Choice::batch, "None if it is not known.")
      .def_prop_ro(
          "ms", [](const Choice& choice) { return ms_of(choice.latency_ns); },
          "Of one run of the whole batch; None if `why` says why there is none.")
      .def_prop_ro("lo", [](const Choice& choice) { return low_of(choice.interval); })
      .def_prop_ro("hi", [](const Choice& choice) { return high_of(choice.interval); })
      .def_prop_ro(
          "image_ms", [](const Choice& choice) { return ms_of(choice.per_image_ns()); },
          "`ms` over the batch.")
      .def_prop_ro(
          "meets", [](const Choice& choice) { return report::name(choice.meets); },
          nb::sig("def meets(self) -> typing.Literal['yes', 'likely', 'no', 'unknown']"),
          "'yes': even the upper end of the interval is within the target; 'likely': the latency\n"
          "is, the upper end is not.")
      .def_prop_ro(
          "why", [](const Choice& choice) { return base::printable_message(choice.why); },
          "Why there is no latency, or only a part of it; empty otherwise.")
      .def_prop_ro(
          "command", [](const Choice& choice) { return base::printable_message(choice.command); },
          "For a shell: what measures the missing part; empty if nothing is known to.")
      .def("__repr__", [](const Choice& choice) {
        return fmt::format("<oplat.AdviceChoice: {}, threads {}, batch {}: {}, meets: {}>",
                           base::printable(choice.model, kNameInText), choice.setting.threads,
                           choice.batch ? std::to_string(*choice.batch) : "unknown",
                           choice.latency_ns ? base::duration_text(*choice.latency_ns) : "no time",
                           report::name(choice.meets));
      });
  nb::class_<Advice, Document>(module, "Advice",
                               "Which settings of a table meet a latency, best first.")
      .def_prop_ro("choices",
                   [](const Advice& advice) { return advice.as<report::AdviceReport>().choices; })
      .def_prop_ro(
          "best",
          [is_met](const Advice& advice) -> std::optional<Choice> {
            const auto& choices = advice.as<report::AdviceReport>().choices;
            if (choices.empty() || !is_met(choices.front())) return std::nullopt;
            return choices.front();
          },
          "The first choice, if it meets the target ('yes' or 'likely'), else None.")
      .def_prop_ro("max_ms",
                   [](const Advice& advice) {
                     return advice.as<report::AdviceReport>().max_latency_ns / api::kNsPerMs;
                   })
      .def_prop_ro("level",
                   [](const Advice& advice) { return advice.as<report::AdviceReport>().level; })
      .def_prop_ro("device",
                   [](const Advice& advice) {
                     return api::device_of(advice.as<report::AdviceReport>().device);
                   })
      .def("__len__",
           [](const Advice& advice) { return advice.as<report::AdviceReport>().choices.size(); })
      .def("__repr__", [is_met](const Advice& advice) {
        const auto& made = advice.as<report::AdviceReport>();
        return fmt::format("<oplat.Advice: {} of {} choices meet {}>",
                           std::count_if(made.choices.begin(), made.choices.end(), is_met),
                           made.choices.size(), base::duration_text(made.max_latency_ns));
      });
}

void bind_inspection(nb::module_& module) {
  using Part = report::InspectionReport::Part;
  nb::class_<Part>(module, "InspectionPart", "Some of a model's nodes, or all: one run of them.")
      .def_prop_ro(
          "name", [](const Part& part) { return base::printable(part.name, std::string::npos); },
          "Operator or module; empty: nodes without a module, and the total.")
      .def_ro("depth", &Part::depth, "Of a module: parts of its name.")
      .def_ro("calls", &Part::calls, "Executions.")
      .def_ro("uncounted", &Part::uncounted, "Of them, those of operators without a formula.")
      .def_prop_ro(
          "flops", [](const Part& part) { return count_of(part.flops); },
          nb::sig("def flops(self) -> int"), "Of the others; a multiply-add counts as two.")
      .def_prop_ro(
          "parameters", [](const Part& part) { return count_of(part.parameters); },
          nb::sig("def parameters(self) -> int"))
      .def_prop_ro(
          "parameter_bytes", [](const Part& part) { return count_of(part.parameter_bytes); },
          nb::sig("def parameter_bytes(self) -> int"))
      .def_prop_ro(
          "activation_bytes", [](const Part& part) { return count_of(part.activation_bytes); },
          nb::sig("def activation_bytes(self) -> int"), "Of all results.")
      .def("__repr__", [](const Part& part) {
        return fmt::format("<oplat.InspectionPart: {}{}{} calls, {:.4g} FLOPs, {:.4g} parameters>",
                           base::printable(part.name, kNameInText), part.name.empty() ? "" : ": ",
                           part.calls, part.flops, part.parameters);
      });
  const auto of = [](const Inspection& one) -> const report::InspectionReport& {
    return one.as<report::InspectionReport>();
  };
  nb::class_<Inspection, Document>(module, "Inspection",
                                   "The work and the memory of a model, on any device.")
      .def_prop_ro(
          "model",
          [of](const Inspection& one) { return base::printable(of(one).model, std::string::npos); })
      .def_prop_ro("batch", [of](const Inspection& one) { return of(one).batch; })
      .def_prop_ro("total", [of](const Inspection& one) { return of(one).total; })
      .def_prop_ro(
          "operators", [of](const Inspection& one) { return of(one).operators; },
          "Most operations first.")
      .def_prop_ro(
          "modules", [of](const Inspection& one) { return of(one).modules; },
          "By the beginnings of the nodes' names, in order of execution.")
      .def_prop_ro(
          "peak_activation_bytes",
          [of](const Inspection& one) -> nb::object {
            if (!of(one).peak_activation_bytes) return nb::none();
            return count_of(*of(one).peak_activation_bytes);
          },
          nb::sig("def peak_activation_bytes(self) -> int | None"),
          "Inputs and results alive together at most; None if a size is not known.")
      .def_prop_ro(
          "peak_node",
          [of](const Inspection& one) {
            return base::printable(of(one).peak_node, std::string::npos);
          },
          "During which; empty if it has no name.")
      .def_prop_ro(
          "sizes_from", [of](const Inspection& one) { return of(one).sizes_from; },
          "'the file', or the runtime that ran the model once.")
      .def_prop_ro(
          "fused", [of](const Inspection& one) { return of(one).fused; },
          "Whether nodes are those that the runtime made of the file's.")
      .def("__repr__", [of](const Inspection& one) {
        return fmt::format("<oplat.Inspection: {}: {:.4g} FLOPs, {:.4g} parameters>",
                           base::printable(of(one).model, kNameInText), of(one).total.flops,
                           of(one).total.parameters);
      });
}

void bind_runtimes(nb::module_& module) {
  using Runtime = report::RuntimeList::Runtime;
  using Option = report::RuntimeList::Option;
  nb::class_<Option>(module, "RuntimeOption", "An option of a runtime.")
      .def_ro("values", &Option::values, "Those that it accepts; empty: any.")
      .def_ro("default", &Option::default_value)
      .def("__repr__", [](const Option& option) {
        return fmt::format("<oplat.RuntimeOption: {}, default {}>",
                           option.values.empty() ? "any" : base::join(option.values, "|"),
                           base::printable(option.default_value, kNameInText));
      });
  nb::class_<Runtime>(module, "Runtime", "A runtime that oplat knows.")
      .def_ro("name", &Runtime::name, "For the argument `runtime` of other calls.")
      .def_ro("description", &Runtime::description)
      .def_ro("available", &Runtime::available, "Whether its worker answered here.")
      .def_ro("version", &Runtime::version, "Empty if it is not available.")
      .def_ro("build", &Runtime::build)
      .def_ro("options", &Runtime::options, "For the argument `options`, by name.")
      .def_ro("install", &Runtime::install, "The command that installs it.")
      .def_prop_ro(
          "why", [](const Runtime& one) { return base::printable_message(one.why); },
          "Why it is not available, or what it needs; empty if nothing.")
      .def("__repr__", [](const Runtime& one) {
        return fmt::format("<oplat.Runtime: {}{}{}>", one.name, one.version.empty() ? "" : " ",
                           one.available ? base::printable(one.version, kNameInText)
                                         : std::string(", not available"));
      });
  const auto of = [](const Runtimes& list) -> const std::vector<Runtime>& {
    return list.as<report::RuntimeList>().runtimes;
  };
  nb::class_<Runtimes, Document>(module, "Runtimes", "The runtimes that oplat knows.")
      .def_prop_ro("runtimes", [of](const Runtimes& list) { return of(list); })
      .def_prop_ro(
          "available",
          [of](const Runtimes& list) {
            std::vector<std::string> names;
            for (const Runtime& one : of(list))
              if (one.available) names.push_back(one.name);
            return names;
          },
          "The names of those that answered.")
      .def("__len__", [of](const Runtimes& list) { return of(list).size(); })
      .def("__repr__", [of](const Runtimes& list) {
        return fmt::format("<oplat.Runtimes: {}>", of(list).size());
      });
}

Runtimes runtimes() {
  app::RuntimesRequest request;
  request.executable = program();
  PythonEvents events;
  Runtimes list(events.run([&] { return app::list_runtimes(request, events); }, CallLength::Long));
  list.warnings = std::move(events.warnings);
  list.notes = std::move(events.notes);
  return list;
}

}  // namespace

Sweep sweep_document(app::SweepResult made, const std::vector<ModelFile>& files,
                     PythonEvents& events) {
  for (auto& point : made.sweep.points) point.path = name_of(point.path, files);
  Sweep result(std::move(made.sweep), std::move(made.refusals));
  result.warnings = std::move(events.warnings);
  result.notes = std::move(events.notes);
  for (const measure::Refusal& refusal : result.refusals)
    result.warnings.push_back(base::printable_message(
        fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason)));
  result.model.warnings = result.warnings;  // points have their errors
  for (const auto& point : result.as<report::Sweep>().points)
    if (!point.error.empty())
      result.warnings.push_back(base::printable_message(
          fmt::format("{}: {}", name_and_place(point, std::string::npos), point.error)));
  return result;
}

Advice advice_document(report::AdviceReport made, const std::vector<ModelFile>& files,
                       PythonEvents& events) {
  for (auto& choice : made.choices) choice.model = name_of(choice.model, files);
  for (std::string& model : made.models) model = name_of(model, files);
  Advice result(std::move(made));
  for (const std::string& text : result.as<report::AdviceReport>().warnings)
    result.warnings.push_back(base::printable_message(text));
  result.warnings.insert(result.warnings.end(), events.warnings.begin(), events.warnings.end());
  result.notes = std::move(events.notes);
  return result;
}

void bind_surveys(nb::module_& module) {
  bind_sweep(module);
  bind_advice(module);
  bind_inspection(module);
  bind_runtimes(module);
  module.def(
      "runtimes", runtimes,
      "The runtimes that oplat knows. Each one's worker is started and asked: only an answer\n"
      "proves that the runtime is there.");
}

}  // namespace oplat::python
