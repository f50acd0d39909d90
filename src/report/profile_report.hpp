// SPDX-License-Identifier: Apache-2.0
/// What became of the rows that `oplat profile` was asked to measure.
#pragma once

#include <string>
#include <vector>

#include "measure/campaign.hpp"
#include "measure/in_model.hpp"

namespace oplat::report {

struct ProfileReport {
  std::string table;  ///< its path, as it was given
  measure::Summary summary;
  std::vector<measure::UnlikeKernel> unlike = {};  ///< of the models that were profiled
};

}  // namespace oplat::report
