// SPDX-License-Identifier: Apache-2.0
/// What a request says about a model file beyond its path: shapes, batch and
/// data of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "table/records.hpp"

namespace oplat::app {

struct ModelInputs {
  formats::ShapeOptions shapes;             ///< dimensions by input, and the batch
  std::map<std::string, std::string> data;  ///< NAME -> FILE.npy | zeros | ones | uniform:LO:HI
};

/// The same as typed.
struct ModelInputTexts {
  std::vector<std::string> shapes;    ///< "NAME=1x3x224x224"
  std::optional<std::int64_t> batch;  ///< the first of `batches`, where these may be several
  std::vector<std::int64_t> batches;
  std::vector<std::string> inputs;  ///< "NAME=FILE.npy"
};
/// Code::Usage quotes the flag that is wrong and shows its form.
Result<formats::ShapeOptions> parse_shapes(const ModelInputTexts& texts);
Result<ModelInputs> parse_model_inputs(const ModelInputTexts& texts);

/// Success if `path` is a regular file, readable and not empty; else
/// Code::Input, which says why not. The content is not looked at.
Status check_model_file(const std::string& path);

/// The inputs with the batch that is run. If a model leaves its batch open, and nothing else, and
/// `inputs` give none, that is 1, and a note says so; another note says if the model's own batch is
/// rewritten. Errors of shapes and batch are left to whoever runs the model.
Result<ModelInputs> settle_batch(const std::string& path, const ModelInputs& inputs,
                                 Events& events);

/// As a runtime's plan says it: the batch that was asked for or that the model names, else what its
/// inputs have in common.
std::int64_t batch_of(const formats::FormatReader::Whole& whole,
                      const formats::ShapeOptions& shapes);
/// As formats::nothing_to_run().
std::optional<std::string> nothing_to_run(const formats::FormatReader::Whole& whole);
/// batch_of() of a model file. Errors as the reader's.
Result<std::int64_t> batch_of_file(const std::string& path, const formats::ShapeOptions& shapes);

/// The batch that the model itself fixes, where `inputs` ask for another one; else std::nullopt.
std::optional<std::int64_t> rewritten_batch(const std::string& path, const ModelInputs& inputs);

/// Warns of each input that decides how much is executed and that the request gives no data for:
/// which it is, what it was made up as, and the flag that sets it.
void warn_of_made_up_inputs(const std::string& path, const ModelInputs& inputs, Events& events);

/// As formats::given_data_decide_bodies(); false where the file cannot be read.
bool given_data_decide_bodies(const std::string& path, const ModelInputs& inputs);

/// Warns of each operator of the plan whose time depends on values that no key says.
void warn_of_value_caveats(const std::string& path, const table::Plan& plan, Events& events);

/// Whether values of inputs may decide how much of the plan is executed: a kernel reads lengths,
/// sizes or conditions that are not constant, or belongs to a body. If not, the model's file need
/// not be read for the warning above, which a prediction from a stored plan would wait for.
bool may_depend_on_values(const table::Plan& plan);

}  // namespace oplat::app
