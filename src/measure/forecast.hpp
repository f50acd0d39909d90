// SPDX-License-Identifier: Apache-2.0
/// How long the rest will take, from what blocks took so far.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "measure/campaign_rows.hpp"

namespace oplat::measure {

class Forecast {
 public:
  explicit Forecast(std::int64_t min_blocks) : min_blocks_(min_blocks) {}

  /// Notes what a block of `row` took, opening and waiting included.
  void add(CampaignRow& row, double seconds);
  /// Blocks that a row still needs at least; a cold one that may not be wanted counts half.
  [[nodiscard]] double blocks_left(const CampaignRow& row) const;
  /// Seconds until every row has the blocks that it is expected to take.
  [[nodiscard]] double seconds_left(std::span<const CampaignRow> rows) const;
  /// Seconds until every row has a block.
  [[nodiscard]] double first_pass_left(std::span<const CampaignRow> rows) const;
  /// Seconds until every whole model has the blocks that a row needs at least.
  [[nodiscard]] double models_left(std::span<const CampaignRow> rows) const;
  /// Blocks that a whole model lacks of those that a row needs at least; 0 for a kernel.
  [[nodiscard]] std::int64_t model_blocks_lacking(const CampaignRow& row) const;

  /// Seconds that a block of `row` takes.
  [[nodiscard]] double cost(const CampaignRow& row) const;

 private:
  std::int64_t min_blocks_;
  std::array<double, 3> seconds_{};  ///< by kind
  std::array<double, 3> blocks_{};
};

}  // namespace oplat::measure
