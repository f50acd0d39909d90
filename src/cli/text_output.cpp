// SPDX-License-Identifier: Apache-2.0
/// Texts to files.
#include "cli/text_output.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "oplat/base/files.hpp"
#include "oplat/base/text.hpp"

namespace oplat::cli {

Status put_text(const std::string& file, std::string_view text) {
  if (!file.empty()) return base::write_file(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return fail(Code::Write, "cannot write to standard output");
  return {};
}

Status refuse_to_replace(const std::string& file, const std::string& input) {
  std::error_code error;
  if (file.empty() || input.empty() || !std::filesystem::equivalent(file, input, error) || error) return {};
  return fail(Code::Usage, "--out {}: is the file that is read; give another name", base::printable(file, 400));
}

Status make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::Write, "{}: cannot make the folder: {}", folder, error.message());
  return {};
}

}  // namespace oplat::cli
