// SPDX-License-Identifier: Apache-2.0
/// Documents: results of use cases, which print as the command line prints them.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/compare.hpp"
#include "app/measure_models.hpp"
#include "app/predict.hpp"
#include "app/validate.hpp"
#include "report/report_model.hpp"

namespace oplat::python {

/// What the report layer renders, and what was said while it was made.
struct Document {
  Document() = default;
  template <class Subject>
  explicit Document(Subject subject) {
    model.subject = std::move(subject);
  }
  report::ReportModel model;
  std::vector<std::string> warnings;  ///< printable
  std::vector<std::string> notes;     ///< printable
  /// In one of the report's forms: "text", "json", "csv", "html".
  [[nodiscard]] std::string rendered(std::string_view form) const;
  template <class Subject>
  [[nodiscard]] const Subject& as() const {
    return std::get<Subject>(model.subject);
  }
};

/// Of a model; complete, so it has a latency.
struct Prediction : Document {
  Prediction(app::PredictResult&& result, const std::vector<std::string>& of_table);
  [[nodiscard]] const predict::Prediction& of() const {
    return as<report::PredictionReport>().prediction;
  }
};

struct Validation : Document {
  explicit Validation(app::ValidateResult result);
  std::vector<measure::Refusal> refusals;
};

struct FitResult : Document {
  using Document::Document;
};

struct ProfileResult : Document {
  using Document::Document;
  std::vector<report::Measurement::Line> models;  ///< those that have a time
};

struct Measurement : Document {
  Measurement(report::Measurement measured, measure::Summary of_campaign)
      : Document(std::move(measured)), summary(std::move(of_campaign)) {}
  measure::Summary summary;
};

struct Plan : Document {
  using Document::Document;
};

/// Of two models.
struct Comparison : Document {
  explicit Comparison(app::CompareResult made);
};

/// Of kernels that were given by their keys.
struct Estimates : Document {
  explicit Estimates(report::EstimateListing listing);
};

/// Copies of what never changes are itself: configurations that hold one are copied by search
/// libraries.
template <class Class>
void def_immutable(Class& bound) {
  namespace nb = nanobind;
  using namespace nb::literals;
  bound
      .def(
          "__copy__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __copy__(self) -> typing.Any"))
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a,
          nb::sig("def __deepcopy__(self, memo: object) -> typing.Any"));
}

/// Likewise, and what has no form that another process could read says what has.
template <class Class>
void def_result(Class& bound) {
  namespace nb = nanobind;
  def_immutable(bound);
  bound.def(
      "__reduce__",
      [](nb::handle self) -> nb::object {
        throw nb::type_error(
            fmt::format("{} cannot be pickled; give another process what it needs of it: numbers, "
                        "texts, or {}()",
                        nb::type_name(self.type()).c_str(),
                        nb::hasattr(self, "to_numpy") ? "to_numpy" : "to_dict")
                .c_str());
      },
      nb::sig("def __reduce__(self) -> tuple[object, ...]"));
}

void bind_documents(nanobind::module_& module);

}  // namespace oplat::python
