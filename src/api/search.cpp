// SPDX-License-Identifier: Apache-2.0
#include "oplat/search.hpp"

#include <utility>

#include "api/boundary.hpp"
#include "api/values.hpp"
#include "app/search.hpp"
#include "base/text.hpp"
#include "search/scorer.hpp"

namespace oplat {

struct Scorer::Impl {
  search::Scorer scorer;
  std::vector<SearchLayer> layers;
};

Result<Scorer> Scorer::create(const Table& table, const ScorerRequest& request) {
  app::SearchLutRequest asked;
  asked.space.file = request.space;
  if (request.resolution) asked.space.resolutions = {*request.resolution};
  asked.rows = api::rows_of(request.rows);
  asked.options = api::options_of(request.estimate);
  OPLAT_API_TRY(space, app::search_lut(asked, table.impl().opened.table()));
  if (space.resolutions.size() != 1) {
    std::vector<std::string> sizes;
    for (const auto& one : space.resolutions)
      sizes.push_back(std::to_string(one.expansion.resolution));
    return fail(Code::Usage, "{}: the space has {} resolutions ({}); ask for one",
                base::printable(request.space), sizes.size(), base::join(sizes, ", "));
  }
  std::vector<SearchLayer> layers;
  for (std::size_t i = 0; i < space.space.layers.size(); ++i) {
    SearchLayer& layer = layers.emplace_back();
    layer.name = space.space.layers[i].name;
    for (const std::size_t block : space.space.layers[i].choices)
      layer.blocks.push_back(space.space.blocks[block].name);
    if (!search::keeps_channels(space.space.layers[i]))
      layer.channels = space.resolutions.front().expansion.layers[i].out_channels;
  }
  const bool zero = request.estimate.missing == MissingPolicy::Zero;
  return Scorer(std::unique_ptr<const Impl>(
      new Impl{search::Scorer(std::move(space), 0, zero), std::move(layers)}));
}

Scorer::Scorer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;
Scorer::~Scorer() = default;

const std::vector<SearchLayer>& Scorer::layers() const { return impl_->layers; }
const std::vector<std::string>& Scorer::missing() const { return impl_->scorer.space().missing; }
const std::vector<std::string>& Scorer::warnings() const { return impl_->scorer.space().warnings; }

Result<NetworkScore> Scorer::score(std::span<const LayerChoice> network) const {
  std::vector<search::LayerChoice> choices;
  choices.reserve(network.size());
  for (const LayerChoice& one : network) choices.push_back({one.block, one.channels});
  OPLAT_API_TRY(latency, impl_->scorer.score(choices));
  NetworkScore score;
  score.median_ms = latency.ns.value_or(0) / api::kNsPerMs;
  if (latency.interval) score.interval = api::interval_of(*latency.interval);
  return score;
}

}  // namespace oplat
