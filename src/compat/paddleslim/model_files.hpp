// SPDX-License-Identifier: Apache-2.0
/// A Paddle model given as two files, as PaddleSlim takes it.
#pragma once

#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"

namespace oplat::compat::paddleslim {

/// Both files where readers look for them: the parameters next to the program and under its name.
struct PaddleModel {
  std::optional<base::TemporaryFolder>
      folder;                   ///< around links or copies, where they lie or are called otherwise
  std::string path;             ///< of the program
  std::string program, params;  ///< as the user named them
  /// An error with the user's names in place of those in the folder.
  [[nodiscard]] Error as_named(Error error) const;
};

/// `params` empty: what lies next to the model, if anything. Both files must be there. Code::Write
/// if neither a link nor a copy could be made.
Result<PaddleModel> open_paddle_model(const std::string& model, const std::string& params);

}  // namespace oplat::compat::paddleslim
