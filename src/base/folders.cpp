// SPDX-License-Identifier: Apache-2.0
#include "base/folders.hpp"

#include <filesystem>
#include <system_error>

namespace oplat::base {

Status make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::Write, "{}: cannot create the folder: {}", folder, error.message());
  return {};
}

}  // namespace oplat::base
