// SPDX-License-Identifier: Apache-2.0
/// Results to standard output or to a file, warnings to standard error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gate.hpp"
#include "base/files.hpp"
#include "cli/options.hpp"
#include "report/report_model.hpp"

namespace oplat::cli {

/// Renders in the form that was asked for, to --out or to stdout. A file is replaced at once, so
/// that no reader sees half of it, and then stdout stays empty. Colour only on a terminal without
/// NO_COLOR.
Status print_report(const FormOptions& form, report::ReportModel model);
/// The same, to stdout in one form.
Status print_report(std::string_view form, report::ReportModel model);
/// The same of a document of report by itself, with the warnings that its JSON holds.
template <class Document>
Status print_document(const FormOptions& form, Document document,
                      std::vector<std::string> warnings = {}) {
  return print_report(form, report::ReportModel{std::move(document), {}, std::move(warnings)});
}

/// Reports of one form, one after the other, to --out or to stdout. The file is replaced by
/// finish(), and nothing is kept in memory until then.
class ReportStream {
 public:
  static Result<ReportStream> create(const FormOptions& form);
  Status print(report::ReportModel model);
  Status finish();

 private:
  explicit ReportStream(std::string form) : form_(std::move(form)) {}
  std::string form_;
  std::optional<base::FileWriter> file_;
};

/// A text to a file, or to standard output if `file` is empty. Code::Write if it cannot be written.
Status put_text(const std::string& file, std::string_view text);
/// One line each on stderr.
void print_warnings(std::span<const std::string> warnings, const Verbosity& verbosity);
/// Prints every line; an error of the code, without a further message, if there is one.
Status end_with(const app::Failures& failures);

}  // namespace oplat::cli
