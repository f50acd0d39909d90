// SPDX-License-Identifier: Apache-2.0
/// CampaignRow: one row of a campaign, with all that is known of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/work.hpp"
#include "measure/campaign.hpp"
#include "measure/states.hpp"
#include "measure/stopping.hpp"

namespace oplat::measure {

/// Evicted: a kernel whose weights a scrub pushed out of one cache or all.
enum class RowKind { Hot, Evicted, Model };
/// Whether a row is wanted: an evicted one only once the hot time says so.
enum class RowDemand { Yes, Unknown, No };

struct CampaignRow {
  RowKind kind = RowKind::Hot;
  std::string name;                    ///< key, or the model's name
  const ModelTarget* model = nullptr;  ///< of kind Model
  std::size_t hot = 0;                 ///< of kind Evicted: the row that decides about this one
  ir::Work work;
  measure::State state;
  RowDemand demand = RowDemand::Yes;
  std::optional<table::RowId> id;         ///< in the table, once it is there
  std::vector<table::Block> blocks;       ///< earlier campaigns' included, in order of measurement
  table::Method method;                   ///< flags: those that the blocks do not tell
  std::optional<table::Outcome> refusal;  ///< final; a row with blocks keeps its time instead
  std::optional<table::Outcome> stored;   ///< what the table holds
  std::vector<std::string> stored_flags;
  std::optional<table::InferenceTimes> stored_inferences;
  bool afresh = false;  ///< the table's blocks are of another kernel, and go with the first new one
  bool finished = false;
  bool can_wait = false;  ///< other rows go first; see priority.hpp
  bool precise = false;  ///< by the stop rule of this campaign, whatever an earlier one's flag says
  std::int64_t expected_blocks = 0;  ///< in all, as far as its blocks tell; 0: nothing known
  std::int64_t loaded_blocks = 0;    ///< during which other programs kept a good part of a CPU busy
  std::int64_t untold_blocks =
      0;  ///< of a row flagged as under load, by an oplat that did not record which were
  std::int64_t min_blocks =
      0;  ///< that the row gets in any case: a loaded one that is to be measured again
  double cost_seconds = 0;  ///< of all its blocks of this run
  std::int64_t cost_blocks = 0;

  [[nodiscard]] std::int64_t attempts() const { return static_cast<std::int64_t>(blocks.size()); }
  /// The blocks among which those under load move the median no more, being a third at most. Of
  /// blocks that nothing is known of two thirds are taken as loaded, the middle of what may be.
  [[nodiscard]] std::int64_t clearing_blocks() const {
    return 3 * loaded_blocks + 2 * untold_blocks;
  }
  [[nodiscard]] bool lacks_quiet_blocks() const { return attempts() < min_blocks; }
  /// Takes over what its blocks, all of them, amount to.
  void judge(const measure::Assessment& assessment);
  [[nodiscard]] std::uint64_t seed() const;
  /// "hot", "last-level", "cold", "model".
  [[nodiscard]] const char* state_name() const;
};

/// Flag of a row that was measured and then failed, so that it was left as it is.
inline constexpr const char* kFailedLater = "failed_later";

struct CampaignRows {
  std::vector<CampaignRow> all;
  std::int64_t views = 0;
  std::vector<Refusal> unreadable;  ///< keys that do not parse and cannot be rows
};

/// The rows of a request with what the table holds of them.
Result<CampaignRows> load_rows(const CampaignRequest& request, const table::Table& table,
                               table::DeviceId device, table::SettingId setting);

/// Settles whether an evicted row is wanted, if its hot row has been measured or refused.
void decide_demand(CampaignRow& evicted, const CampaignRow& hot);

}  // namespace oplat::measure
