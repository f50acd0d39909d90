// SPDX-License-Identifier: Apache-2.0
/// Which rows go first where a budget is too short for all.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "measure/campaign_rows.hpp"
#include "measure/forecast.hpp"

namespace oplat::measure {

/// Knows how often each model executes each key.
class Priority {
 public:
  /// By what each measured model and each other network executes; both outlive it.
  Priority(std::span<const ModelTarget> models,
           std::span<const std::map<std::string, double>> networks = {});

  /// Marks the rows that can wait (CampaignRow::can_wait), all others not. If what is left to
  /// measure fits into `seconds`, or a row has no block yet, or no model is known, none can. Else
  /// those go first that add most to the variance of a model's sum for the seconds that they still
  /// take, as many as fit, and one at least; whole models never wait.
  void sort_out(std::span<CampaignRow> rows, const Forecast& forecast, double seconds) const;

 private:
  struct Use {
    std::size_t model = 0;
    double count = 0;
  };
  std::size_t models_ = 0;
  std::unordered_map<std::string_view, std::vector<Use>> uses_;
};

}  // namespace oplat::measure
