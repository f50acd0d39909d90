// SPDX-License-Identifier: Apache-2.0
/// Every row its n-th block before any its (n+1)-th, in random order.
#include "measure/schedule.hpp"

#include <numeric>

#include "base/random.hpp"

namespace oplat::measure {

std::optional<std::int64_t> pass_level(std::span<const CampaignRow> rows) {
  std::optional<std::int64_t> level;
  for (const CampaignRow& row : rows) {
    if (!row.finished && !row.can_wait && (!level || row.attempts() < *level))
      level = row.attempts();
  }
  return level;
}

std::deque<std::size_t> pass_order(std::span<const CampaignRow> rows, std::int64_t level,
                                   std::uint64_t seed) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  base::Random random(base::mix_seed(seed, static_cast<std::uint64_t>(level)));
  // All rows are shuffled and then sifted, so that what is finished already does not change the
  // order of the rest.
  base::shuffle(order, random);
  std::deque<std::size_t> pass;
  for (std::size_t index : order) {
    if (!rows[index].finished && !rows[index].can_wait && rows[index].attempts() == level)
      pass.push_back(index);
  }
  return pass;
}

}  // namespace oplat::measure
