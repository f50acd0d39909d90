// SPDX-License-Identifier: Apache-2.0
#include "base/lfs.hpp"

#include <cstdint>
#include <system_error>

#include "base/files.hpp"

namespace oplat::base {

bool is_lfs_pointer(std::string_view bytes) { return bytes.starts_with("version https://git-lfs"); }

bool is_lfs_pointer_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxPointer = 1024;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > kMaxPointer) return false;
  const auto bytes = read_file(path, kMaxPointer);
  return bytes && is_lfs_pointer(*bytes);
}

}  // namespace oplat::base
