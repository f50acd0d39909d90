// SPDX-License-Identifier: Apache-2.0
/// Commands that results suggest, with every value quoted for the shell.
#pragma once

#include <string>
#include <vector>

#include "app/model_inputs.hpp"
#include "base/result.hpp"
#include "predict/row_selection.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// --shape, --batch and --input as they would be typed.
std::vector<std::string> input_words(const ModelInputs& inputs);

/// "oplat profile --model net.onnx --table t.oplat --runtime onnxruntime --threads 2": measures
/// what the table lacks of the model under the rows' setting. `asked`: device and options are said
/// where the user said them. Empty if oplat has no worker of the runtime.
std::string profile_command(const std::string& model, const ModelInputs& inputs,
                            const std::string& table, const table::Setting& setting,
                            const predict::RowFilter& asked);

/// A runtime that reads the model: by the file's bytes, or by its name if it cannot be read.
std::string suggested_runtime(const std::string& model);

/// How a table of a model is made, for who named none.
std::string table_suggestion(const std::string& model);

/// "oplat fit t.oplat", with the flags that choose the selected rows where the table holds others.
Result<std::string> fit_command(const table::Table& table, const predict::Selection& selection);

}  // namespace oplat::app
