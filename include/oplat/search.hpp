// SPDX-License-Identifier: Apache-2.0
/// Scorer: the latency of any network of a search space, in tens of microseconds. The kernels of
/// all choices are estimated once. docs/guide/searching.md describes the file of a space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oplat/predict.hpp"
#include "oplat/result.hpp"
#include "oplat/table.hpp"

namespace oplat {

struct ScorerRequest {
  std::string space;                            ///< path of the search space, a YAML file
  std::optional<std::int64_t> resolution = {};  ///< height and width in pixels; std::nullopt: the
                                                ///< file's, if it has one
  SettingFilter rows = {};
  EstimateOptions estimate = {};
};

/// A layer of every network of the space, and what can be chosen there.
struct SearchLayer {
  std::string name;
  std::vector<std::string> blocks;     ///< names of the blocks that it chooses among; at least one
  std::vector<std::int64_t> channels;  ///< that it can put out, in elements; empty: as many as
                                       ///< come in
};

/// What a network has at one layer.
struct LayerChoice {
  std::size_t block = 0;     ///< index into SearchLayer::blocks
  std::size_t channels = 0;  ///< index into SearchLayer::channels; not looked at if that is empty
};

struct NetworkScore {
  double median_ms = 0;  ///< of one run of the whole batch
  Interval interval;     ///< at the request's level
};

/// Immutable after create(), and then thread-safe: any number of threads may call the functions of
/// one Scorer. It needs neither table nor file any more.
class Scorer {
 public:
  /// Code::Input: the space; Code::Usage: several settings or resolutions fit; Code::Refused: no
  /// rows for the filter. Kernels without a time are not an error here: see missing().
  static Result<Scorer> create(const Table& table, const ScorerRequest& request);
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;
  ~Scorer();

  /// In the order of the network.
  [[nodiscard]] const std::vector<SearchLayer>& layers() const;
  /// Distinct keys of the space that nothing answers.
  [[nodiscard]] const std::vector<std::string>& missing() const;
  /// About the estimates, for people.
  [[nodiscard]] const std::vector<std::string>& warnings() const;
  /// The latency of the network with these choices, one for each layer. Code::Usage names the layer
  /// if an index is out of range, the number of choices differs, or the block does not exist
  /// between these channels. Code::Missing if a kernel has no time, with MissingPolicy::Error.
  [[nodiscard]] Result<NetworkScore> score(std::span<const LayerChoice> network) const;

 private:
  struct Impl;
  explicit Scorer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace oplat
