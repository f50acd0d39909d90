// SPDX-License-Identifier: Apache-2.0
/// profile(), measure() and plan(), and what Table.validate() shares with them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model_inputs.hpp"
#include "app/session.hpp"
#include "base/files.hpp"

namespace oplat::python {

using Shapes = std::optional<std::map<std::string, std::vector<std::int64_t>>>;
using Texts = std::optional<std::map<std::string, std::string>>;

/// What a call says of a model's inputs. Arrays that it gave are files, which live as long as this.
struct GivenInputs {
  app::ModelInputs of_model;
  std::shared_ptr<base::TemporaryFolder> arrays;
};

/// `data`: None, or a mapping from names of inputs to texts of `--input`, paths of .npy files, or
/// arrays. Throws TypeError for anything else, and WriteError if an array cannot be stored.
GivenInputs model_inputs(const Shapes& shapes, std::optional<std::int64_t> batch,
                         nanobind::handle data);

/// The program `oplat`: $OPLAT_PROGRAM, else bin/oplat next to this module, else as
/// api::program() finds it.
std::string program();

void bind_measure(nanobind::module_& module);

}  // namespace oplat::python
