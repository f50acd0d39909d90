// SPDX-License-Identifier: Apache-2.0
/// What `oplat advise` found: how fast models are in each setting of a table and with each batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "table/records.hpp"

namespace oplat::report {

/// Whether a choice meets the target.
enum class Meets : std::uint8_t {
  Yes,      ///< even the upper end of its interval does
  Likely,   ///< its latency does, the upper end does not
  No,       ///< its latency does not
  Unknown,  ///< it has no latency
};
/// "yes", "likely", "no", "unknown".
std::string_view name(Meets meets);

struct AdviceReport {
  struct Choice {
    std::string model;                  ///< path as given
    table::Setting setting;             ///< as far as it is known, of threads that the table lacks
    std::optional<std::int64_t> batch;  ///< that was asked for, or that the plan has
    std::optional<double> latency_ns;   ///< of one run of the whole batch
    std::optional<base::Interval> interval;
    Meets meets = Meets::Unknown;
    std::string why;                ///< why there is no latency, or only a part of it
    std::optional<Code> code = {};  ///< of that
    std::string command;            ///< that measures what is missing; empty: none is known
    [[nodiscard]] std::optional<double> per_image_ns() const;
  };
  std::vector<std::string> models;
  table::Device device;
  std::string table;
  double max_latency_ns = 0;
  double level = 0.9;
  /// Those that meet the target first, and among them the fastest per image.
  std::vector<Choice> choices;
  std::vector<std::string> warnings;
};

}  // namespace oplat::report
