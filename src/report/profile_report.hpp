// SPDX-License-Identifier: Apache-2.0
/// What became of the rows that `oplat profile` was asked to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/campaign.hpp"
#include "measure/in_model.hpp"

namespace oplat::report {

/// Mean magnitude of (predicted / measured - 1), as shares.
struct ExpectedError {
  double mean = 0;         ///< of models of which no kernel was measured
  double kernels = 0;      ///< of the sum of their kernels
  double composition = 0;  ///< of models beyond that sum
};

/// A profile of a space.
struct SpaceSummary {
  std::string name;
  std::int64_t networks = 0;
  std::int64_t kernels = 0;     ///< that its networks have
  std::int64_t candidates = 0;  ///< with those of other sizes and forms that were drawn from them
  std::int64_t measured = 0;    ///< candidates with a time
  std::int64_t rounds = 0;
  std::optional<ExpectedError> expected = {};  ///< nothing: too little is known for an estimate
  /// Of models with and without kernels in 8 bits; std::nullopt where its networks are all alike in
  /// that or too few.
  std::optional<ExpectedError> expected_in_8_bits = {}, expected_of_others = {};
  std::optional<double> target = {};
  bool target_met = false;
};

struct ProfileReport {
  std::string table;  ///< its path, as it was given
  measure::Summary summary;
  std::vector<measure::UnlikeKernel> unlike = {};  ///< of the models that were profiled
  std::optional<SpaceSummary> space = {};
};

}  // namespace oplat::report
