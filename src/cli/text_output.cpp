// SPDX-License-Identifier: Apache-2.0
/// Texts to files.
#include "cli/text_output.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "oplat/base/files.hpp"

namespace oplat::cli {

Status put_text(const std::string& file, std::string_view text) {
  if (!file.empty()) return base::write_file(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return fail(Code::Write, "cannot write to standard output");
  return {};
}

Status make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::Write, "{}: cannot make the folder: {}", folder, error.message());
  return {};
}

}  // namespace oplat::cli
