// SPDX-License-Identifier: Apache-2.0
/// One model, or a few, over several numbers of threads and batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "table/records.hpp"

namespace oplat::report {

/// `--threads 1,2`, `--batch 1,2,4` of `oplat measure`, `oplat profile` and `oplat predict`.
struct Sweep {
  struct Point {
    std::string path;
    /// std::nullopt only without a time: the table or the model would have said it.
    std::optional<std::int64_t> threads = std::nullopt;
    std::optional<std::int64_t> batch = std::nullopt;
    /// Of one inference of the whole batch: the measured statistic of the sweep, or the prediction;
    /// std::nullopt if `error` says why there is none.
    std::optional<double> latency_ns = std::nullopt;
    std::optional<base::Interval> interval = std::nullopt;           ///< of a prediction
    std::optional<table::InferenceTimes> inferences = std::nullopt;  ///< of a measurement
    std::string error = {};                                          ///< for people
    [[nodiscard]] std::optional<double> image_ns() const;
    [[nodiscard]] std::optional<double> images_per_s() const;
    /// "threads 2, batch 8", as much as is known; empty if nothing is.
    [[nodiscard]] std::string place(std::string_view between = ", ") const;
  };
  bool measured = true;  ///< else predicted
  /// Measured latencies are means of single inferences; else all are the block statistic.
  bool means = true;
  double level = 0.9;  ///< of intervals
  std::vector<Point> points;
  table::Device device;
  table::Setting setting;  ///< of the points; its threads are the first one's
};

/// Which points are best among those of their model.
struct BestPoints {
  std::vector<bool> latency;     ///< as many as points: the lowest latency
  std::vector<bool> throughput;  ///< the most images a second
};
/// A model of one point has no best.
BestPoints best_points(const Sweep& sweep);

}  // namespace oplat::report
