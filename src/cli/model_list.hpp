// SPDX-License-Identifier: Apache-2.0
/// MODEL... and --list FILE: the models of commands that take several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/command_line.hpp"

namespace oplat::cli {

struct ModelListFlags {
  std::vector<std::string> models;
  std::optional<std::string> list;
  /// Whether the answer is a list: several models, or any number by --list.
  [[nodiscard]] bool is_list() const { return models.size() != 1 || list.has_value(); }
};
/// `help` of MODEL.
void add_models(const Command& command, ModelListFlags& to, const std::string& help);

/// The models of the command line, then those of --list. Code::Input: the list cannot be read;
/// Code::Usage: it names none.
Result<std::vector<std::string>> listed_models(const ModelListFlags& flags);

}  // namespace oplat::cli
