// SPDX-License-Identifier: Apache-2.0
#include "python/compat.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/lut.hpp"
#include "app/paddleslim.hpp"
#include "app/tinynas.hpp"
#include "base/message.hpp"
#include "compat/mobile_vision/lut_edit.hpp"
#include "compat/paddleslim/prediction_text.hpp"
#include "compat/tinynas/op_profiler.hpp"
#include "python/documents.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/models.hpp"
#include "report/foreign_document.hpp"

namespace oplat::python {
namespace {

using namespace nb::literals;

/// With the warnings of the call, which the command line prints.
Document with_warnings(Document document, const PythonEvents& events) {
  for (const std::string& text : events.warnings)
    document.warnings.push_back(base::printable_message(text));
  return document;
}

Prediction paddleslim(const Path& model, const Path& params, const std::string& table,
                      const std::string& hardware, std::optional<std::string> dtype,
                      std::int64_t threads, bool estimate, double level) {
  app::PaddleslimRequest request;
  request.model = model.text;
  request.params = params.text;
  request.table = table;
  request.hardware = hardware;
  request.dtype = std::move(dtype);
  request.threads = threads;
  request.estimate = estimate;
  request.level = level;
  PythonEvents events;
  app::PaddleslimResult result =
      events.run([&] { return app::paddleslim_predict(request, events); });
  if (const auto complete = compat::paddleslim::require_keys(result.prediction, estimate);
      !complete)
    raise_missing(complete.error(), result.prediction.missing);
  const std::string text = compat::paddleslim::prediction_text(result.prediction, false);
  Prediction made({std::move(result.prediction), std::move(result.diagnosis)}, {});
  made.model.options.text = text;
  return made;
}

Document tinynas(const Path& tests, const Path& library, const std::string& device,
                 const std::string& precision, bool original, double level) {
  app::TinynasRequest request;
  request.tests = tests.text;
  request.library = library.text;
  request.device = device;
  request.precision = precision;
  request.original = original;
  request.level = level;
  PythonEvents events;
  const auto document = events.run([&] { return app::tinynas_predict(request, events); });
  if (const auto complete = document->require_answers(); !complete) {
    std::vector<std::string> missing;
    for (const auto& prediction : document->predictions()) {
      for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
        if (!prediction.answers[i].ms)
          missing.push_back(compat::tinynas::tuple_text(prediction.questions.convs[i].conv));
      }
    }
    raise_missing(complete.error(), missing);
  }
  Document made = with_warnings(Document(report::ForeignReport(document)), events);
  if (const auto far = document->far_answers())
    made.warnings.push_back(base::printable_message(*far));
  return made;
}

Document lut(const Path& model, const std::string& input_dims, const Path& folder,
             const std::string& device, const std::string& mode, bool estimate) {
  app::LutRequest request;
  request.models = {model.text};
  request.input_dims = input_dims;
  request.folder = folder.text;
  request.device = device;
  request.mode = mode;
  request.estimate = estimate;
  PythonEvents events;
  const auto document = events.run([&] { return app::lut_predict(request, events); });
  return with_warnings(Document(report::ForeignReport(document)), events);
}

/// The records that answer a query, a line of JSON each; none is not an error.
std::string lut_find(const Path& file, const std::string& query) {
  const auto found =
      value_of(compat::mobile_vision::find_lines(file.text, {{query, "the query"}}, "", false));
  if (!found.complete && found.complete.error().code != Code::Missing) check(found.complete);
  return found.text;
}

std::vector<std::string> lut_add(const Path& file, const std::string& record) {
  return value_of(compat::mobile_vision::add_records(file.text, {{record, "the record"}})).warnings;
}

}  // namespace

void bind_compat(nb::module_& module) {
  module.def("compat_paddleslim", paddleslim, "model"_a, "params"_a, nb::kw_only(), "table"_a = "",
             "hardware"_a = "", "dtype"_a = nb::none(), "threads"_a = 4, "estimate"_a = false,
             "level"_a = 0.9,
             "A Paddle model by a table of PaddleSlim, as `oplat paddleslim predict` has it.");
  module.def("compat_tinynas", tinynas, "tests"_a, "library"_a, nb::kw_only(), "device"_a = "",
             "precision"_a = "", "original"_a = false, "level"_a = 0.9,
             "A list of convolutions by a library of TinyNAS, as `oplat tinynas predict` has it.");
  module.def("compat_lut", lut, "model"_a, "input_dims"_a, "folder"_a, nb::kw_only(), "device"_a,
             "mode"_a = "ave", "estimate"_a = false,
             "A Caffe2 net by a look-up table of mobile-vision, as `oplat lut` has it.");
  module.def("compat_lut_find", lut_find, "file"_a, "query"_a, "As `oplat lut find`.");
  module.def("compat_lut_add", lut_add, "file"_a, "record"_a, "As `oplat lut add`; its warnings.");
}

}  // namespace oplat::python
