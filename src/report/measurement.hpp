// SPDX-License-Identifier: Apache-2.0
/// Whole models, measured end to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "report/model_lists.hpp"
#include "table/records.hpp"

namespace oplat::report {

/// What Measurement::Line::timing is, in words.
inline constexpr std::string_view kBlockStatistic =
    "median over blocks of each block's lower quartile of single inferences";
/// What Measurement::Line::inferences are.
inline constexpr std::string_view kInferenceStatistic =
    "single inferences, one run of the whole batch each, of the blocks that count";

/// `oplat measure MODEL...`.
struct Measurement {
  struct Line {
    std::string path;
    std::string name;
    std::int64_t batch = 1;
    table::Timing timing;  ///< what predictions are compared with; has the confidence interval
    std::vector<std::string> flags;
    std::optional<table::InferenceTimes> inferences = std::nullopt;  ///< std::nullopt: not known
    /// Its kernels as the runtime's own profile of the model timed them, if asked for; the latency
    /// is their sum.
    std::optional<PredictionReport> in_model = std::nullopt;
    /// What one inference takes on average: the mean, or the block statistic where it is not known.
    [[nodiscard]] double mean_ns() const {
      return inferences ? inferences->mean_ns : timing.median_ns;
    }
    [[nodiscard]] double inferences_per_s() const { return 1e9 / mean_ns(); }
    [[nodiscard]] double images_per_s() const {
      return static_cast<double>(batch) * inferences_per_s();
    }
    [[nodiscard]] double image_ns() const { return mean_ns() / static_cast<double>(batch); }
  };
  /// A model that was asked for and has no time.
  struct Failure {
    std::size_t position = 0;  ///< among all that were asked for, measured ones too, from 0
    std::string path;
    Error error;                ///< its message names the file
    bool budget_ended = false;  ///< before it was measured; nothing else is wrong with it
  };
  std::vector<Line> models;     ///< measured, in the order in which they were asked for
  std::vector<Failure> failed;  ///< the others, likewise
  table::Device device;
  table::Setting setting;
};

}  // namespace oplat::report
