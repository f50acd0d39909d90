// SPDX-License-Identifier: Apache-2.0
#include "python/documents.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "api/values.hpp"
#include "base/counted.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/registry.hpp"
#include "ir/label.hpp"
#include "predict/diagnosis.hpp"
#include "python/errors.hpp"
#include "python/models.hpp"
#include "report/html_documents.hpp"
#include "report/renderer.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr std::size_t kNameInRepr = 60;

std::vector<std::string> printable_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> printable;
  for (const std::string& text : texts) printable.push_back(base::printable_message(text));
  return printable;
}

void add_mismatches(const std::vector<predict::Mismatch>& found,
                    std::vector<std::string>& warnings) {
  for (const predict::Mismatch& one : found)
    warnings.push_back(fmt::format("mismatch: {}: asked for {}, rows have {}", one.field,
                                   base::printable(one.asked), base::printable(one.used)));
}

double milliseconds(double ns) { return ns / api::kNsPerMs; }

/// An interval that is not known holds everything.
double low_ms(const std::optional<base::Interval>& ns) { return ns ? milliseconds(ns->low) : 0.0; }
double high_ms(const std::optional<base::Interval>& ns) {
  return ns ? milliseconds(ns->high) : std::numeric_limits<double>::infinity();
}

std::string range_text(const std::optional<base::Interval>& ns, double level) {
  if (!ns) return "interval unknown";
  return fmt::format("{} to {}, {:.0f} %", base::duration_text(ns->low),
                     base::duration_text(ns->high), 100 * level);
}

std::string warnings_text(const Document& document) {
  const std::size_t count = document.warnings.size();
  if (count == 0) return "";
  return "; " + base::counted(count, "warning");
}

std::map<std::string, double> coverage_of(const Prediction& prediction) {
  std::map<std::string, double> shares;
  for (const auto& [source, share] : prediction.of().coverage.time)
    shares[std::string(source_name(api::source_of(source)))] = share;
  return shares;
}

std::vector<KernelTime> kernels_of(const Prediction& prediction) {
  std::vector<KernelTime> kernels;
  for (const predict::KernelPrediction& kernel : prediction.of().kernels) {
    kernels.push_back(api::kernel_time_of(kernel, prediction.of().level));
    kernels.back().name = base::printable(kernel.name, std::string::npos);
  }
  return kernels;
}

std::string page_part(const Prediction& prediction) {
  std::ostringstream out;
  report::write_page_part(prediction.as<report::PredictionReport>(), prediction.model.options, out);
  return out.str();
}

std::string prediction_text(const Prediction& prediction) {
  const predict::Prediction& p = prediction.of();
  return fmt::format("<oplat.Prediction: {}: {} ({}){}>", base::printable(p.model, kNameInRepr),
                     base::duration_text(*p.latency_ns), range_text(p.interval, p.level),
                     warnings_text(prediction));
}

void bind_operator_time(nb::module_& module) {
  using Sum = predict::OperatorSum;
  nb::class_<Sum>(module, "OperatorTime", "All kernels of one operator in a prediction.")
      .def_prop_ro(
          "type", [](const Sum& sum) { return base::printable(sum.type, std::string::npos); },
          "'Conv', 'Conv depthwise': the first words of the kernels' labels.")
      .def_ro("calls", &Sum::calls, "Executions per run of the model.")
      .def_ro("kernels", &Sum::kernels, "Distinct ones.")
      .def_ro("missing", &Sum::missing, "Of these, those without a time.")
      .def_prop_ro(
          "ms", [](const Sum& sum) { return milliseconds(sum.time_ns); }, "Of one run.")
      .def_ro("share", &Sum::time_share, "Of the latency; None if it is not known.")
      .def_ro("gflops_per_s", &Sum::gflops_per_s,
              "Of the kernels whose operations and time are known, else None.")
      .def_ro("gbytes_per_s", &Sum::gbytes_per_s, "Likewise of bytes.")
      .def_prop_ro(
          "bound",
          [](const Sum& sum) -> std::optional<std::string> {
            if (!sum.bound) return std::nullopt;
            return std::string(predict::name(*sum.bound));
          },
          nb::sig("def bound(self) -> typing.Literal['compute', 'memory', 'overhead'] | None"),
          "What holds up most of their time; None if it is not known.")
      .def("__repr__", [](const Sum& sum) {
        return fmt::format("<oplat.OperatorTime: {}: {} calls, {}{}>",
                           base::printable(sum.type, kNameInRepr), sum.calls,
                           base::duration_text(sum.time_ns),
                           sum.time_share ? fmt::format(", {:.1f} %", 100 * *sum.time_share) : "");
      });
}

void bind_prediction(nb::module_& module) {
  nb::class_<Prediction, Document>(
      module, "Prediction",
      "How long one model takes. `str()` of it is what `oplat predict` prints.\n\n"
      "Times are milliseconds of one run of the whole batch.")
      .def_prop_ro(
          "model",
          [](const Prediction& p) { return base::printable(p.of().model, std::string::npos); })
      .def_prop_ro(
          "ms", [](const Prediction& p) { return milliseconds(*p.of().latency_ns); }, "The median.")
      .def_prop_ro(
          "lo", [](const Prediction& p) { return low_ms(p.of().interval); },
          "Where the interval begins.")
      .def_prop_ro(
          "hi", [](const Prediction& p) { return high_ms(p.of().interval); },
          "Where the interval ends.")
      .def_prop_ro(
          "level", [](const Prediction& p) { return p.of().level; },
          "Probability that a run's time is inside `lo` to `hi`.")
      .def_prop_ro(
          "measured_ms",
          [](const Prediction& p) -> std::optional<double> {
            const auto& measured = p.of().measured;
            return measured ? std::optional(milliseconds(measured->median_ns)) : std::nullopt;
          },
          "The model's own time, where the table holds a measurement of it, else None.")
      .def_prop_ro("batch", [](const Prediction& p) { return p.of().batch; })
      .def_prop_ro("coverage", coverage_of,
                   "Share of the time by source. With `overhead`, the shares sum to 1.")
      .def_prop_ro(
          "overhead", [](const Prediction& p) { return p.of().coverage.overhead.value_or(0); },
          "Share of what runs between kernels; may be below 0.")
      .def_prop_ro(
          "image_ms",
          [](const Prediction& p) {
            return milliseconds(*p.of().latency_ns) / static_cast<double>(p.of().batch);
          },
          "`ms` over the batch.")
      .def_prop_ro("kernels", kernels_of, "The kernels, in order of execution.")
      .def_prop_ro(
          "by_operator",
          [](const Prediction& p) { return p.as<report::PredictionReport>().diagnosis.operators; },
          "The kernels of each operator together, those that take the most time first.")
      .def_prop_ro(
          "missing", [](const Prediction& p) { return p.of().missing; },
          "Distinct keys that nothing answers, which count as zero (`missing='zero'`).")
      .def_prop_ro(
          "device", [](const Prediction& p) { return api::device_of(p.of().device); },
          "Of the rows that answered.")
      .def_prop_ro(
          "setting", [](const Prediction& p) { return api::setting_of(p.of().setting); },
          "Of the rows that answered.")
      .def_prop_ro(
          "plan", [](const Prediction& p) { return p.of().plan_source; },
          "Where the kernels come from: 'cached', 'runtime', 'rules:NAME'.")
      .def(
          "html", [](const Prediction& p) { return p.rendered("html"); },
          "A self-contained page, as `oplat predict --format html` writes it.")
      .def("_repr_html_", page_part)
      .def("__repr__", prediction_text);
}

void bind_estimates(nb::module_& module) {
  const auto of = [](const Estimates& e) -> const report::EstimateListing& {
    return e.as<report::EstimateListing>();
  };
  nb::class_<Estimates, Document>(module, "Estimates",
                                  "Times of kernels that were given by their keys.")
      .def_prop_ro(
          "kernels",
          [of](const Estimates& e) {
            std::vector<KernelTime> kernels;
            for (const auto& kernel : of(e).kernels)
              kernels.push_back(api::kernel_time_of(kernel, of(e).level));
            return kernels;
          },
          "In the order of the keys.")
      .def_prop_ro("level", [of](const Estimates& e) { return of(e).level; })
      .def_prop_ro("device", [of](const Estimates& e) { return api::device_of(of(e).device); })
      .def_prop_ro("setting", [of](const Estimates& e) { return api::setting_of(of(e).setting); })
      .def("__len__", [of](const Estimates& e) { return of(e).kernels.size(); })
      .def("__repr__", [of](const Estimates& e) {
        return fmt::format("<oplat.Estimates: {} kernels{}>", of(e).kernels.size(),
                           warnings_text(e));
      });
}

void bind_validation(nb::module_& module) {
  using Model = predict::ValidatedModel;
  nb::class_<Model>(module, "ValidatedModel", "A model, predicted and measured.")
      .def_prop_ro(
          "name", [](const Model& model) { return base::printable(model.name, std::string::npos); })
      .def_prop_ro(
          "predicted_ms",
          [](const Model& model) -> std::optional<double> {
            if (!model.predicted_ns) return std::nullopt;
            return milliseconds(*model.predicted_ns);
          },
          "None if kernels are missing.")
      .def_prop_ro("lo", [](const Model& model) { return low_ms(model.interval); })
      .def_prop_ro("hi", [](const Model& model) { return high_ms(model.interval); })
      .def_prop_ro("measured", [](const Model& model) { return api::timing_of(model.measured); })
      .def_prop_ro("error", &Model::signed_error, "predicted / measured - 1.")
      .def_prop_ro("inside", &Model::inside, "Whether the measured median is inside the interval.")
      .def_ro("missing", &Model::missing)
      .def("__repr__", [](const Model& model) {
        return fmt::format(
            "<oplat.ValidatedModel: {}: predicted {}, measured {}>",
            base::printable(model.name, kNameInRepr),
            model.predicted_ns ? base::duration_text(*model.predicted_ns) : "nothing",
            base::duration_text(model.measured.median_ns));
      });
  const auto summary = [](const Validation& v) {
    return predict::summarise(v.as<predict::Validation>().models);
  };
  nb::class_<Validation, Document>(module, "Validation",
                                   "Models predicted and measured, side by side.")
      .def_prop_ro("models", [](const Validation& v) { return v.as<predict::Validation>().models; })
      .def_prop_ro(
          "mape", [summary](const Validation& v) { return summary(v).mape; },
          "Mean absolute error, as a fraction of 1; None if nothing was predicted.")
      .def_prop_ro(
          "bias", [summary](const Validation& v) { return summary(v).bias; }, "Mean signed error.")
      .def_prop_ro(
          "inside", [summary](const Validation& v) { return summary(v).interval_coverage; },
          "Share of the models whose measured median is inside the interval.")
      .def_ro("refusals", &Validation::refusals, "Why models were not measured.")
      .def("html", [](const Validation& v) { return v.rendered("html"); })
      .def("__repr__", [summary](const Validation& v) {
        const auto of_all = summary(v);
        return fmt::format("<oplat.Validation: {} of {} models predicted{}{}>", of_all.predicted,
                           of_all.models,
                           of_all.mape ? fmt::format(", MAPE {:.1f} %", 100 * *of_all.mape) : "",
                           warnings_text(v));
      });
}

void bind_campaigns(nb::module_& module) {
  nb::class_<measure::Refusal>(module, "Refusal", "A kernel or a model that has no time.")
      .def_ro("what", &measure::Refusal::key, "The key, or the model's name.")
      .def_ro("outcome", &measure::Refusal::outcome, "'failed', 'unsupported' or 'skipped'.")
      .def_prop_ro("reason",
                   [](const measure::Refusal& r) { return base::printable_message(r.reason); })
      .def("__repr__", [](const measure::Refusal& r) {
        return fmt::format("<oplat.Refusal: {}: {}: {}>", base::printable(r.key, kNameInRepr),
                           r.outcome, base::printable(r.reason, 200));
      });
  const auto of = [](const ProfileResult& r) -> const measure::Summary& {
    return r.as<report::ProfileReport>().summary;
  };
  nb::class_<ProfileResult, Document>(module, "ProfileResult", "What became of a campaign.")
      .def_prop_ro("table",
                   [](const ProfileResult& r) { return Path{r.as<report::ProfileReport>().table}; })
      .def_prop_ro(
          "kernels", [of](const ProfileResult& r) { return of(r).kernels.total; },
          "Rows of kernels that were asked for.")
      .def_prop_ro(
          "measured", [of](const ProfileResult& r) { return of(r).kernels.measured(); },
          "Of them, rows with a time, earlier campaigns included.")
      .def_prop_ro("seconds", [of](const ProfileResult& r) { return of(r).seconds; })
      .def_prop_ro(
          "budget_ended", [of](const ProfileResult& r) { return of(r).budget_ended; },
          "Whether the budget ended before all rows were precise.")
      .def_ro("models", &ProfileResult::models, "The models themselves, those that have a time.")
      .def_prop_ro("refusals", [of](const ProfileResult& r) { return of(r).refusals; })
      .def_prop_ro(
          "expected_error",
          [](const ProfileResult& r) -> std::optional<double> {
            const auto& space = r.as<report::ProfileReport>().space;
            if (!space || !space->expected) return std::nullopt;
            return space->expected->mean;
          },
          "Mean of |predicted / measured - 1| to expect of models never seen, of a profile of a\n"
          "space; None where too little is known.")
      .def("__repr__", [of](const ProfileResult& r) {
        return fmt::format("<oplat.ProfileResult: {} of {} rows measured in {}{}>",
                           of(r).kernels.measured(), of(r).kernels.total,
                           base::clock_text(of(r).seconds), warnings_text(r));
      });
}

void bind_measurement(nb::module_& module) {
  using Times = table::InferenceTimes;
  nb::class_<Times>(module, "InferenceTimes",
                    "Times of single inferences, one run of the whole batch each.")
      .def_ro("count", &Times::count, "Inferences.")
      .def_ro("blocks", &Times::blocks, "Blocks that they are from.")
      .def_prop_ro("mean_ms", [](const Times& times) { return milliseconds(times.mean_ns); })
      .def_prop_ro("p50_ms", [](const Times& times) { return milliseconds(times.p50_ns); })
      .def_prop_ro("p90_ms", [](const Times& times) { return milliseconds(times.p90_ns); })
      .def_prop_ro(
          "p99_ms",
          [](const Times& times) {
            return times.p99_ns ? std::optional(milliseconds(*times.p99_ns)) : std::nullopt;
          },
          "None for fewer than 100 inferences.")
      .def_prop_ro("max_ms", [](const Times& times) { return milliseconds(times.max_ns); })
      .def("__repr__", [](const Times& times) {
        return fmt::format(
            "<oplat.InferenceTimes: {} inferences, mean {}, p50 {}, p90 {}, p99 {}, "
            "max {}>",
            times.count, base::duration_text(times.mean_ns), base::duration_text(times.p50_ns),
            base::duration_text(times.p90_ns),
            times.p99_ns ? base::duration_text(*times.p99_ns) : "unknown",
            base::duration_text(times.max_ns));
      });
  using Line = report::Measurement::Line;
  nb::class_<Line>(module, "MeasuredModel", "A model with its measured time.")
      .def_prop_ro("path", [](const Line& line) { return Path{line.path}; })
      .def_ro("batch", &Line::batch)
      .def_prop_ro("timing", [](const Line& line) { return api::timing_of(line.timing); })
      .def_prop_ro(
          "ms", [](const Line& line) { return milliseconds(line.timing.median_ns); },
          "The median over blocks of each block's lower quartile: what predictions are of.")
      .def_ro("inferences", &Line::inferences,
              "Mean and percentiles of single inferences; None where they are not known.")
      .def_prop_ro("inferences_per_s", &Line::inferences_per_s, "One after the other.")
      .def_prop_ro("images_per_s", &Line::images_per_s, "`inferences_per_s` times the batch.")
      .def_prop_ro(
          "image_ms", [](const Line& line) { return milliseconds(line.image_ns()); },
          "The mean over the batch.")
      .def_ro("flags", &Line::flags, "'under_load', 'ci_not_reached', ...: sorted.")
      .def("__repr__", [](const Line& line) {
        return fmt::format("<oplat.MeasuredModel: {}: {}>", base::printable(line.path, kNameInRepr),
                           base::duration_text(line.timing.median_ns));
      });
  nb::class_<Measurement, Document>(module, "Measurement", "Models measured end to end.")
      .def_prop_ro("models",
                   [](const Measurement& m) { return m.as<report::Measurement>().models; })
      .def_prop_ro(
          "device",
          [](const Measurement& m) { return api::device_of(m.as<report::Measurement>().device); })
      .def_prop_ro(
          "setting",
          [](const Measurement& m) { return api::setting_of(m.as<report::Measurement>().setting); })
      .def_prop_ro("refusals", [](const Measurement& m) { return m.summary.refusals; })
      .def("__repr__", [](const Measurement& m) {
        return fmt::format("<oplat.Measurement: {} models{}>",
                           m.as<report::Measurement>().models.size(), warnings_text(m));
      });
}

void bind_comparison(nb::module_& module) {
  nb::class_<predict::Prediction>(module, "ComparedModel", "One of two models.")
      .def_prop_ro(
          "model",
          [](const predict::Prediction& p) { return base::printable(p.model, std::string::npos); })
      .def_prop_ro("batch", [](const predict::Prediction& p) { return p.batch; })
      .def_prop_ro(
          "ms", [](const predict::Prediction& p) { return milliseconds(*p.latency_ns); },
          "Of one run of the whole batch.")
      .def_prop_ro("lo", [](const predict::Prediction& p) { return low_ms(p.interval); })
      .def_prop_ro("hi", [](const predict::Prediction& p) { return high_ms(p.interval); })
      .def("__repr__", [](const predict::Prediction& p) {
        return fmt::format("<oplat.ComparedModel: {}: {} ({})>",
                           base::printable(p.model, kNameInRepr),
                           base::duration_text(*p.latency_ns), range_text(p.interval, p.level));
      });
  const auto of = [](const Comparison& one) -> const report::Comparison& {
    return one.as<report::Comparison>();
  };
  nb::class_<Comparison, Document>(module, "Comparison",
                                   "Two models, predicted from the same rows.")
      .def_prop_ro(
          "models",
          [of](const Comparison& one) {
            const auto& models = of(one).models;
            return std::vector<predict::Prediction>(models.begin(), models.end());
          },
          "The first and the second.")
      .def_prop_ro(
          "ratio", [of](const Comparison& one) { return of(one).ratio(); },
          "Latency of the second over that of the first.")
      .def_prop_ro(
          "intervals_apart", [of](const Comparison& one) { return of(one).intervals_apart(); },
          "Whether the intervals do not overlap. If they do, the order is uncertain.")
      .def("__repr__", [of](const Comparison& one) {
        return fmt::format("<oplat.Comparison: the second takes {:.3f} times as long{}>",
                           of(one).ratio().value_or(0), warnings_text(one));
      });
}

const table::Plan& plan_of(const Plan& plan) {
  const auto* by_rules = std::get_if<report::RulesPlan>(&plan.model.subject);
  return by_rules != nullptr ? by_rules->plan : plan.as<table::Plan>();
}

void bind_plan(nb::module_& module) {
  nb::class_<table::PlanKernel>(module, "PlanKernel", "A kernel of a plan.")
      .def_ro("name", &table::PlanKernel::name, "Of the node.")
      .def_ro("key", &table::PlanKernel::key)
      .def_ro("count", &table::PlanKernel::count, "Executions per run of the model.")
      .def_ro("input_bytes", &table::PlanKernel::input_bytes,
              "Of the model's inputs, bytes that it is the first to read, in all its executions; "
              "None: not known.")
      .def_prop_ro(
          "label",
          [](const table::PlanKernel& kernel) {
            return ir::label_of(kernel.key, compat::catalogue()).text;
          },
          "The kernel described for people.")
      .def("__repr__", [](const table::PlanKernel& kernel) {
        return fmt::format(
            "<oplat.PlanKernel: {} x {}>", kernel.count,
            base::printable(ir::label_of(kernel.key, compat::catalogue()).text, 200));
      });
  nb::class_<Plan, Document>(module, "Plan", "The kernels that a runtime executes for a model.")
      .def_prop_ro(
          "model",
          [](const Plan& plan) { return base::printable(plan_of(plan).model, std::string::npos); })
      .def_prop_ro(
          "source", [](const Plan& plan) { return plan_of(plan).source; },
          "'runtime' or 'rules:NAME'.")
      .def_prop_ro("batch", [](const Plan& plan) { return plan_of(plan).batch; })
      .def_prop_ro("weight_bytes", [](const Plan& plan) { return plan_of(plan).weight_bytes; })
      .def_prop_ro("activation_bytes",
                   [](const Plan& plan) { return plan_of(plan).activation_bytes; })
      .def_prop_ro("kernels", [](const Plan& plan) { return plan_of(plan).kernels; })
      .def("__len__", [](const Plan& plan) { return plan_of(plan).kernels.size(); })
      .def("__repr__", [](const Plan& plan) {
        return fmt::format("<oplat.Plan: {}: {} kernels from {}{}>",
                           base::printable(plan_of(plan).model, kNameInRepr),
                           plan_of(plan).kernels.size(), base::printable(plan_of(plan).source),
                           warnings_text(plan));
      });
}

void bind_fit(nb::module_& module) {
  nb::class_<FitResult, Document>(module, "FitResult",
                                  "What a table's rows taught; `str()` of it says how well.")
      .def_prop_ro("stored", [](const FitResult& r) { return r.as<report::FitReport>().stored; })
      .def_prop_ro(
          "composition",
          [](const FitResult& r) { return r.as<report::FitReport>().composition.has_value(); },
          "Whether it was learned how kernels add up.")
      .def_prop_ro(
          "kernels",
          [](const FitResult& r) { return r.as<report::FitReport>().learned.has_value(); },
          "Whether it was learned how long unmeasured kernels take.")
      .def_prop_ro(
          "mape",
          [](const FitResult& r) -> std::optional<double> {
            const auto& composition = r.as<report::FitReport>().composition;
            return composition ? composition->left_out.mape : std::nullopt;
          },
          "Mean absolute error of whole models, each predicted from a fit without its group; None "
          "without a composition.")
      .def("__repr__", [](const FitResult& r) {
        const auto& fit = r.as<report::FitReport>();
        return fmt::format("<oplat.FitResult: composition {}, kernels {}{}{}>",
                           fit.composition ? "fitted" : "not fitted",
                           fit.learned ? "fitted" : "not fitted", fit.stored ? ", stored" : "",
                           warnings_text(r));
      });
}

}  // namespace

std::string Document::rendered(std::string_view form) const {
  std::ostringstream out;
  check(report::render(form, model, out));
  return out.str();
}

Prediction::Prediction(app::PredictResult&& result, const std::vector<std::string>& of_table) {
  model.options.measures_here = result.measures_here;
  // In place: a search makes thousands.
  auto& made = model.subject
                   .emplace<report::PredictionReport>(report::PredictionReport{
                       std::move(result.prediction), std::move(result.diagnosis)})
                   .prediction;
  made.warnings.insert(made.warnings.end(), of_table.begin(), of_table.end());
  add_mismatches(made.mismatch, warnings);
  for (std::string& text : printable_texts(made.warnings)) warnings.push_back(std::move(text));
  if (!made.missing.empty())
    warnings.push_back(
        fmt::format("{} distinct kernels have no time and count as zero", made.missing.size()));
  if (!made.interval)
    warnings.emplace_back("the spread is not known, so the interval is unbounded");
}

Comparison::Comparison(app::CompareResult made)
    : Document(report::Comparison{std::move(made.models)}) {
  add_mismatches(made.mismatch, warnings);
  for (const predict::Prediction& p : as<report::Comparison>().models)
    for (std::string& text : printable_texts(p.warnings))
      if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
        warnings.push_back(std::move(text));
}

Estimates::Estimates(report::EstimateListing listing) : Document(std::move(listing)) {
  const auto& made = as<report::EstimateListing>();
  add_mismatches(made.mismatch, warnings);
  for (std::string& text : printable_texts(made.warnings)) warnings.push_back(std::move(text));
}

Validation::Validation(app::ValidateResult result)
    : Document(std::move(result.validation)), refusals(std::move(result.refusals)) {
  warnings = printable_texts(as<predict::Validation>().warnings);
  for (const measure::Refusal& refusal : refusals)
    warnings.push_back(base::printable_message(
        fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason)));
  if (result.unmeasured > 0)
    warnings.push_back(
        fmt::format("{} models could not be measured and are left out", result.unmeasured));
  if (result.incomplete > 0)
    warnings.push_back(fmt::format("{} models have kernels that the table lacks; profile them",
                                   result.incomplete));
}

void bind_documents(nb::module_& module) {
  nb::class_<Document> bound(module, "Document",
                             "A result. `str()` of it is what the command line prints.");
  def_result(bound);
  bound
      .def_ro("warnings", &Document::warnings,
              "Everything that the command line would warn of, one sentence each.")
      .def_ro("notes", &Document::notes, "What may be of interest but needs no action.")
      .def(
          "to_dict",
          [](const Document& document) {
            return nb::module_::import_("json").attr("loads")(document.rendered("json"));
          },
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "The JSON document of the command line (docs/reference/json.md).")
      .def(
          "csv", [](const Document& document) { return document.rendered("csv"); },
          "The CSV of the command line.")
      .def("__str__", [](const Document& document) { return document.rendered("text"); });
  bind_operator_time(module);
  bind_prediction(module);
  bind_estimates(module);
  bind_validation(module);
  bind_campaigns(module);
  bind_measurement(module);
  bind_comparison(module);
  bind_plan(module);
  bind_fit(module);
}

}  // namespace oplat::python
