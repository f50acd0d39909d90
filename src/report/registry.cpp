// SPDX-License-Identifier: Apache-2.0
/// The list of renderers.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/forms.hpp"
#include "report/renderers.hpp"

namespace oplat::report {
namespace {

constexpr RendererEntry kRenderers[] = {{"text", create_text_renderer},
                                        {"json", create_json_renderer},
                                        {"csv", create_csv_renderer},
                                        {"jsonl", create_json_lines_renderer},
                                        {"html", create_html_renderer}};

}  // namespace

std::span<const RendererEntry> renderers() { return kRenderers; }

Result<std::unique_ptr<Renderer>> find_renderer(std::string_view name) {
  std::vector<std::string> known;
  for (const RendererEntry& entry : renderers()) {
    if (entry.name == name) return entry.create();
    known.emplace_back(entry.name);
  }
  return fail(Code::Usage, "report format {}: expected one of {}", base::printable(name),
              base::join(known, ", "));
}

Status Renderer::render(const ReportModel& model, std::ostream& out) const {
  const Forms known = forms_of(model);
  if (std::find(known.begin(), known.end(), name()) == known.end()) {
    return fail(Code::Usage, "this document does not support the format {}; expected one of {}",
                name(), base::join(std::vector<std::string>(known.begin(), known.end()), ", "));
  }
  OPLAT_CHECK(do_render(model, out));
  out.flush();
  if (!out)
    return fail(Code::Write,
                "cannot write the report: the disk may be full, or the reader has exited");
  return {};
}

Status render(std::string_view name, const ReportModel& model, std::ostream& out) {
  OPLAT_TRY(renderer, find_renderer(name));
  return renderer->render(model, out);
}

}  // namespace oplat::report
