// SPDX-License-Identifier: Apache-2.0
/// Git LFS leaves a pointer, some 130 bytes of text, in place of a file that was not fetched.
#pragma once

#include <filesystem>
#include <string_view>

namespace oplat::base {

/// Whether these bytes are such a pointer.
bool is_lfs_pointer(std::string_view bytes);
/// The same of a file; false if it cannot be read.
bool is_lfs_pointer_file(const std::filesystem::path& path);

}  // namespace oplat::base
