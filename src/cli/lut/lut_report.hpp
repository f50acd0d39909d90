// SPDX-License-Identifier: Apache-2.0
/// What `oplat lut` prints: the original's text line for line, or a document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "cli/lut/lut_answers.hpp"

namespace oplat::cli {

/// The original's text. Estimates, which it does not know, stand in brackets behind the number.
std::string lut_text(const LutPrediction& prediction, double level);
/// One entry of "models" in oplat.lut/1.
nlohmann::ordered_json lut_document(const LutPrediction& prediction);
/// Code::Missing that names the operators without an answer; all found is not an error.
Status require_answers(std::span<const LutPrediction> predictions);

}  // namespace oplat::cli
