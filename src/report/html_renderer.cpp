// SPDX-License-Identifier: Apache-2.0
/// Documents as self-contained pages; report/forms.hpp says which have one.
#include "report/html_documents.hpp"
#include "report/renderers.hpp"

namespace oplat::report {
namespace {

class Html final : public Renderer {
  std::string_view do_name() const override { return "html"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    if (const auto* prediction = std::get_if<PredictionReport>(&model.subject)) {
      write_page(*prediction, model.options, out);
    } else if (const auto* validation = std::get_if<predict::Validation>(&model.subject)) {
      write_page(*validation, out);
    } else if (const auto* machine = std::get_if<MachineReport>(&model.subject)) {
      write_page(*machine, out);
    } else if (const auto* foreign = std::get_if<ForeignReport>(&model.subject)) {
      write_page((*foreign)->sheet(), out);
    } else {
      return fail(Code::Internal, "a document without a page reached the html renderer");
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Renderer> create_html_renderer() { return std::make_unique<Html>(); }

}  // namespace oplat::report
