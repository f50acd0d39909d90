// SPDX-License-Identifier: Apache-2.0
/// What `oplat paddleslim predict` prints.
#pragma once

#include <string>

#include "predict/prediction.hpp"

namespace oplat::compat::paddleslim {

/// PaddleSlim's own text of a kernel where it has one, else the key.
std::string paddle_text(const std::string& key);

/// The line of PaddleSlim's example, then interval, setting, and what the table lacked.
std::string prediction_text(const predict::Prediction& prediction, bool per_op);

/// Code::Missing with every key that has no time and how often it is called. `estimated`:
/// estimators were asked.
Status require_keys(const predict::Prediction& prediction, bool estimated);

}  // namespace oplat::compat::paddleslim
