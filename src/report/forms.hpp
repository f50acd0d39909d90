// SPDX-License-Identifier: Apache-2.0
/// The forms that each document has: what --format offers, and what a renderer accepts.
#pragma once

#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "report/report_model.hpp"

namespace oplat::report {

/// Names of renderers, the default first. Refers to constants.
using Forms = std::span<const std::string_view>;

inline constexpr std::string_view kCommonForms[] = {"text", "json", "csv"};
/// Of several models: also one JSON document a line, in which each is an entry.
inline constexpr std::string_view kListForms[] = {"text", "json", "csv", "jsonl"};
inline constexpr std::string_view kFormsWithPage[] = {"text", "json", "csv", "html"};

/// The forms of one kind of document, by its type.
template <class Document>
constexpr Forms forms() {
  if constexpr (std::is_same_v<Document, PredictionReport> ||
                std::is_same_v<Document, predict::Validation> ||
                std::is_same_v<Document, MachineReport> || std::is_same_v<Document, ForeignReport>)
    return kFormsWithPage;
  if constexpr (std::is_same_v<Document, PredictionList> || std::is_same_v<Document, PlanList> ||
                std::is_same_v<Document, Measurement>)
    return kListForms;
  return kCommonForms;
}

/// The forms of this document.
inline Forms forms_of(const ReportModel& model) {
  return std::visit(
      [](const auto& subject) { return forms<std::remove_cvref_t<decltype(subject)>>(); },
      model.subject);
}

}  // namespace oplat::report
