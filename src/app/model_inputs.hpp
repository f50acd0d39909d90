// SPDX-License-Identifier: Apache-2.0
/// What a request says about a model file beyond its path: shapes, batch and
/// data of its inputs.
#pragma once

#include <map>
#include <string>

#include "app/events.hpp"
#include "base/result.hpp"
#include "formats/format_reader.hpp"

namespace oplat::app {

struct ModelInputs {
  formats::ShapeOptions shapes;             ///< dimensions by input, and the batch
  std::map<std::string, std::string> data;  ///< NAME -> FILE.npy | zeros | ones | uniform:LO:HI
};

/// Success if `path` is a regular file, readable and not empty; else
/// Code::Input, which says why not. The content is not looked at.
Status check_model_file(const std::string& path);

/// Warns of each input that decides how much is executed and that the request gives no data for:
/// which it is, what it was made up as, and the flag that sets it.
void warn_of_made_up_inputs(const std::string& path, const ModelInputs& inputs, Events& events);

}  // namespace oplat::app
