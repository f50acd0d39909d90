// SPDX-License-Identifier: Apache-2.0
/// Many times as a few numbers: the quantiles of a set too large to keep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::base {

/// Counts of times in bins whose bounds are 0.2 % apart, so that a quantile is off by 0.1 % at most
/// (the sketch of Masson, Rim and Lee, "DDSketch", 2019). Count, mean, minimum and maximum are
/// exact, and sketches merge without loss. Times up to an hour have at most some 15,000 bins; those
/// of one model's runs fill a few hundred. Not thread-safe.
class TimeSketch {
 public:
  /// A time in ns, finite and not negative.
  void add(double ns);
  void add(std::span<const double> ns);
  void merge(const TimeSketch& other);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// std::nullopt without times; so are the following.
  [[nodiscard]] std::optional<double> mean() const;
  [[nodiscard]] std::optional<double> max() const;
  /// The smallest time that a share `p` (0 to 1) of all times does not exceed: the nearest rank.
  [[nodiscard]] std::optional<double> quantile(double p) const;

  /// "SUM MIN MAX BIN:COUNT BIN:COUNT ...", bins in rising order.
  [[nodiscard]] std::string text() const;
  /// Of an untrusted text, in which everything is checked. Code::Input says what is wrong.
  static Result<TimeSketch> parse(std::string_view text);

  friend bool operator==(const TimeSketch&, const TimeSketch&) = default;

 private:
  std::int64_t count_ = 0;
  double sum_ = 0;
  double min_ = 0;
  double max_ = 0;
  std::map<std::int32_t, std::int64_t> bins_;  ///< bin -> times in it
};

}  // namespace oplat::base
