// SPDX-License-Identifier: Apache-2.0
/// Printing.
#include "cli/output.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "base/files.hpp"
#include "base/message.hpp"
#include "cli/terminal.hpp"
#include "compat/registry.hpp"
#include "report/renderer.hpp"

namespace oplat::cli {

Status print_report(const FormOptions& form, report::ReportModel model) {
  if (form.out.empty()) return print_report(form.form(), std::move(model));
  std::ostringstream text;
  OPLAT_CHECK(report::render(form.form(), model, text));
  return base::write_file(form.out, text.view());
}

Status print_report(std::string_view form, report::ReportModel model) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool colours = no_color == nullptr || *no_color == '\0';
  if (::isatty(STDOUT_FILENO) == 0) {
    OPLAT_CHECK(report::render(form, model, std::cout));
  } else {
    // A file or a program gets the bytes of a table as they are; a terminal would obey them.
    model.options.colour = colours;
    model.options.columns = terminal_columns(STDOUT_FILENO);
    model.options.labels = &compat::catalogue();
    std::ostringstream text;
    OPLAT_CHECK(report::render(form, model, text));
    std::cout << base::printable_lines(text.view(), colours);
  }
  std::cout.flush();
  if (!std::cout) return fail(Code::Write, "cannot write to standard output");
  return {};
}

Result<ReportStream> ReportStream::create(const FormOptions& form) {
  ReportStream stream{std::string(form.form())};
  if (form.out.empty()) return stream;
  OPLAT_TRY(file, base::FileWriter::create(form.out));
  stream.file_.emplace(std::move(file));
  return stream;
}

Status ReportStream::print(report::ReportModel model) {
  if (!file_) return print_report(form_, std::move(model));
  std::ostringstream text;
  OPLAT_CHECK(report::render(form_, model, text));
  return file_->add(text.view());
}

Status ReportStream::finish() { return file_ ? file_->finish() : Status(); }

Status put_text(const std::string& file, std::string_view text) {
  if (!file.empty()) return base::write_file(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    return fail(Code::Write, "cannot write to standard output");
  return {};
}

void print_warnings(std::span<const std::string> warnings, const Verbosity& verbosity) {
  if (verbosity.quiet) return;
  for (const std::string& warning : warnings) print_message("warning: " + warning);
}

Status end_with(const app::Failures& failures) {
  for (const std::string& line : failures.lines) print_message(line);
  if (!failures.code) return {};
  return tl::unexpected<Error>(Error{*failures.code, ""});
}

}  // namespace oplat::cli
