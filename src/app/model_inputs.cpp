// SPDX-License-Identifier: Apache-2.0
/// The checks of a model file that need no reader.
#include "app/model_inputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace oplat::app {

Status check_model_file(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(Code::Input, "{}: {}", path,
                errno == ENOENT ? "no such file" : std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail(Code::Input, "{}: is a folder, not a model file", path);
  if (!S_ISREG(info.st_mode))
    return fail(Code::Input, "{}: is not a regular file; save its content to a file first", path);
  if (::access(path.c_str(), R_OK) != 0)
    return fail(Code::Input, "{}: cannot be read: {}", path, std::strerror(errno));
  if (info.st_size == 0) return fail(Code::Input, "{}: the file is empty; expected a model", path);
  return {};
}

}  // namespace oplat::app
