// SPDX-License-Identifier: Apache-2.0
/// The way out for who gives another system's table where one of oplat is expected.
#pragma once

#include <filesystem>
#include <string>

#include "table/table.hpp"

namespace oplat::table {

/// How the file becomes a table, as the end of a message: "; it looks like one of the format ...".
/// Empty if it looks like no format of the list.
std::string import_hint(const std::filesystem::path& path, CodecList codecs);

}  // namespace oplat::table
