// SPDX-License-Identifier: Apache-2.0
#include "api/program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/install_places.hpp"

namespace oplat::api {

namespace fs = std::filesystem;

std::string program() {
  if (const char* given = std::getenv("OPLAT_PROGRAM"); given != nullptr && *given != '\0')
    return given;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& folder : {self.parent_path(), fs::path(base::kInstalledPrograms)}) {
    const fs::path candidate = folder / "oplat";
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return "oplat";
}

}  // namespace oplat::api
