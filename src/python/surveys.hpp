// SPDX-License-Identifier: Apache-2.0
/// Documents about a choice of settings, a model without a table, and what can execute one: Sweep,
/// Advice, Inspection, Runtimes.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "app/sweep.hpp"
#include "measure/campaign.hpp"
#include "python/documents.hpp"
#include "python/events.hpp"
#include "python/models.hpp"
#include "report/advice.hpp"
#include "report/inspection.hpp"

namespace oplat::python {

struct Sweep : Document {
  Sweep(report::Sweep made, std::vector<measure::Refusal> refused)
      : Document(std::move(made)), refusals(std::move(refused)) {}
  std::vector<measure::Refusal> refusals;
};

struct Advice : Document {
  using Document::Document;
};

struct Inspection : Document {
  using Document::Document;
};

struct Runtimes : Document {
  using Document::Document;
};

/// A result of app as the document, with what was said. `files`: the models that were given, whose
/// points are named as other results name them.
Sweep sweep_document(app::SweepResult made, const std::vector<ModelFile>& files,
                     PythonEvents& events);
Advice advice_document(report::AdviceReport made, const std::vector<ModelFile>& files,
                       PythonEvents& events);

void bind_surveys(nanobind::module_& module);

}  // namespace oplat::python
