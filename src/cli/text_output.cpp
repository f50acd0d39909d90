// SPDX-License-Identifier: Apache-2.0
/// Texts to files.
#include "cli/text_output.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::cli {

Status put_text(const std::string& file, std::string_view text) {
  if (!file.empty()) return base::write_file(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    return fail(Code::Write, "cannot write to standard output");
  return {};
}

Status refuse_to_replace(const std::string& file, const std::string& input) {
  if (file.empty() || input.empty()) return {};
  std::error_code error;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  // The second tells hard links.
  if (place(file) != place(input) && !std::filesystem::equivalent(file, input, error)) return {};
  return fail(Code::Usage, "--out {}: is also the input file; choose another name",
              base::printable(file, 400));
}

}  // namespace oplat::cli
