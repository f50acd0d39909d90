// SPDX-License-Identifier: Apache-2.0
/// Files that say what belongs together: rows for `oplat accuracy --split groups:FILE`, models for
/// `oplat fit --groups FILE`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::app {

/// Lines of NAME, tab, GROUP, as NAME -> GROUP; lines may end in CR LF, '#' begins a comment line,
/// empty lines are passed over. A name's last line counts. Code::Input names file and line; `name`
/// says what the names are: "model file name".
Result<std::map<std::string, std::string>> read_groups_file(const std::string& path,
                                                            std::string_view name);

}  // namespace oplat::app
