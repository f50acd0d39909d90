// SPDX-License-Identifier: Apache-2.0
/// Documents whose content another system defines. compat/<system>/ derives a class for each of its
/// commands; the renderers know none of them by name.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace oplat::report {

/// A table of plain cells: what CSV and pages are made of.
struct Sheet {
  struct Column {
    std::string name;     ///< with its unit, "latency_ms"
    bool number = false;  ///< how a page aligns it
  };
  std::string title;                                       ///< heading of the page
  std::vector<std::pair<std::string, std::string>> facts;  ///< the page's first lines: name, value
  std::vector<Column> columns;
  /// As many cells as there are columns; neither quoted nor escaped; empty: not known.
  std::vector<std::vector<std::string>> rows;
};

/// Made once per call of a command, and not changed afterwards. Each form is computed when a
/// renderer asks for it.
class ForeignDocument {
 public:
  virtual ~ForeignDocument() = default;
  /// Whole lines for people, often those of the original program.
  [[nodiscard]] virtual std::string text() const = 0;
  /// With its schema's name as "schema"; docs/reference/schemas describes every field.
  [[nodiscard]] virtual nlohmann::ordered_json json() const = 0;
  [[nodiscard]] virtual Sheet sheet() const = 0;
};
using ForeignReport = std::shared_ptr<const ForeignDocument>;  ///< never null

}  // namespace oplat::report
