// SPDX-License-Identifier: Apache-2.0
/// A table's memory of model files: the hash of one that has not changed need not be made again.
#pragma once

#include <string>

#include "base/result.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// Hash of a model, from the table's memory where path, size and time of change are the same, else
/// from its bytes.
Result<std::string> model_hash(const table::Table& table, const std::string& path);

/// Notes the hash of a model that is a single file. One with further files is not noted: size and
/// time of the main file say nothing about those.
Status remember_model(table::Table& table, const std::string& path);

}  // namespace oplat::app
