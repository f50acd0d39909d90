// SPDX-License-Identifier: Apache-2.0
/// Results to stdout, warnings to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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
/// A document to stdout; bytes that are not UTF-8 are replaced, since names of files may hold any.
void print_json(const nlohmann::ordered_json& document);
/// One line each on stderr.
void print_warnings(std::span<const std::string> warnings, const Verbosity& verbosity);

}  // namespace oplat::cli
