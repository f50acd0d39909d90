// SPDX-License-Identifier: Apache-2.0
/// The renderer seam: a new form of report is one class and one line in registry.cpp.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "report/report_model.hpp"

namespace oplat::report {

class Renderer {
 public:
  virtual ~Renderer() = default;
  [[nodiscard]] std::string_view name() const { return do_name(); }
  /// Writes the report. Code::Write if the stream fails; Code::Usage if this form does not
  /// know the subject.
  Status render(const ReportModel& model, std::ostream& out) const;

 private:
  [[nodiscard]] virtual std::string_view do_name() const = 0;
  virtual Status do_render(const ReportModel& model, std::ostream& out) const = 0;
};

struct RendererEntry {
  std::string_view name;
  std::unique_ptr<Renderer> (*create)();
};
/// "text", "json", "csv", "jsonl", "html".
std::span<const RendererEntry> renderers();
/// Code::Usage with the known names.
Result<std::unique_ptr<Renderer>> find_renderer(std::string_view name);
/// find_renderer and render in one step.
Status render(std::string_view name, const ReportModel& model, std::ostream& out);

}  // namespace oplat::report
