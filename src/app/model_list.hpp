// SPDX-License-Identifier: Apache-2.0
/// A file that names models, a path a line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace oplat::app {

struct ModelList {
  std::vector<std::string> models;  ///< paths
  std::optional<std::string> list;  ///< path of a file that names more; "-": standard input
  /// Whether the answer is a list: several models, or any number by `list`.
  [[nodiscard]] bool is_list() const { return models.size() != 1 || list.has_value(); }
};

/// The models themselves, then those of the list. Code::Input: the list cannot be read;
/// Code::Usage: there is no model in all.
Result<std::vector<std::string>> listed_models(const ModelList& asked);

}  // namespace oplat::app
