// SPDX-License-Identifier: Apache-2.0
/// Kernels of a space, and variations of them.
#include "app/space_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/random.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"
#include "ir/variation.hpp"
#include "ir/view.hpp"
#include "plan/blocked_layout.hpp"

namespace oplat::app {
namespace {

/// Kernels of other sizes and forms: so many for each kernel of the space, and no more than this in
/// all.
constexpr int kVariations = 5;
constexpr std::size_t kMaxCandidates = 48'000;
/// What is asked of a table are kernels that are like those of the space, seldom the same.
constexpr double kShareOfVariations = 0.6;
/// A variation takes more or less than what it was drawn from; it counts so many times at most.
constexpr double kMaxRatio = 4;
constexpr double kPowerOfFamily = 0.4;
constexpr double kPowerOfSlice = 0.7;
/// Standard deviation of ln(size) of a variation.
constexpr double kSizeSpread = 0.5;
/// What an execution outside a network weighs, next to 1 for all networks together.
constexpr double kWeightOutside = 1e-4;
/// Channels of blocked layouts that spaces name; other processors group them otherwise.
constexpr std::int64_t kBlockOfSpaces = 16;

/// A space written on one processor is of use on another, whose blocks of a layout differ. False
/// where nothing is known of those: no model would be planned with such a kernel.
bool fit_block(ir::Key& key, const table::Device& device) {
  for (auto& [name, value] : key.tags) {
    if (name != "block" || value.integer() == nullptr || *value.integer() != kBlockOfSpaces)
      continue;
    const auto block = plan::channels_of_block(device.architecture, device.isa);
    if (!block) return false;
    value = ir::Value(*block);
  }
  return true;
}

class CandidateMaker {
 public:
  CandidateMaker(const search::KernelSpace& space, const table::Device& device,
                 std::int64_t threads, std::uint64_t seed)
      : space_(space), device_(device), host_(plan::host_of(device, threads)), random_(seed) {}

  Candidates make() {
    add_kernels();
    add_networks();
    count_others();
    add_variations();
    std::vector<double> ns;
    for (std::size_t i = 0; i < out_.own; ++i) ns.push_back(guessed_ns(out_.descriptions[i].work));
    out_.weights = weights_of(out_, ns);
    return std::move(out_);
  }

 private:
  std::optional<std::size_t> add(const ir::Key& key) {
    std::string text = ir::print(key);
    if (const auto at = places_.find(text); at != places_.end()) return at->second;
    auto description = ir::describe(key, compat::catalogue(), host_);
    if (!description) return std::nullopt;
    places_.emplace(text, out_.keys.size());
    out_.keys.push_back(std::move(text));
    out_.descriptions.push_back(std::move(*description));
    out_.groups.emplace_back();
    return out_.keys.size() - 1;
  }

  void add_kernels() {
    for (const search::SpaceKernel& kernel : space_.kernels) {
      auto key = ir::parse(kernel.key);
      place_of_.emplace_back();
      if (!key || ir::is_view(*key, compat::catalogue()) || !fit_block(*key, device_)) continue;
      place_of_.back() = add(*key);
    }
  }

  void add_networks() {
    out_.own = out_.keys.size();
    std::map<std::string_view, std::size_t> families;
    for (const search::SpaceNetwork& network : space_.networks) {
      const std::size_t family = families.emplace(network.family, families.size()).first->second;
      estimate::NetworkOfRows rows;
      rows.group = family;
      for (const auto& [kernel, count] : network.kernels) {
        if (!place_of_[kernel]) continue;
        rows.rows.emplace_back(*place_of_[kernel], count);
        auto& groups = out_.groups[*place_of_[kernel]];
        if (std::find(groups.begin(), groups.end(), family) == groups.end())
          groups.push_back(family);
      }
      out_.networks.push_back(std::move(rows));
    }
    out_.families = families.size();
  }

  void count_others() {
    out_.counts_outside.assign(out_.own, 0);
    for (std::size_t i = 0; i < place_of_.size(); ++i) {
      if (place_of_[i] && out_.groups[*place_of_[i]].empty())
        out_.counts_outside[*place_of_[i]] = space_.kernels[i].count;
    }
  }

  void add_variations() {
    for (int round = 0; round < kVariations; ++round) {
      for (std::size_t i = 0; i < out_.own && out_.keys.size() < kMaxCandidates; ++i) {
        const auto key = ir::parse(out_.keys[i]);
        const auto varied =
            key ? ir::vary(*key, kSizeSpread, compat::catalogue(), random_) : std::nullopt;
        if (!varied) continue;
        const std::size_t before = out_.keys.size();
        if (add(*varied) != before) continue;
        out_.groups.back() = out_.groups[i];
        out_.drawn_from.push_back(i);
      }
    }
  }

  const search::KernelSpace& space_;
  const table::Device& device_;
  ir::Host host_;
  base::Random random_;
  Candidates out_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::optional<std::size_t>> place_of_;  ///< of the space's kernels
};

/// Each shares the weight of what it was drawn from by the time that it will take next to that.
void share_with_drawn(const Candidates& candidates, std::vector<double>& weights) {
  std::vector<double> count(candidates.own, 0);
  for (const std::size_t from : candidates.drawn_from) ++count[from];
  for (std::size_t i = 0; i < candidates.drawn_from.size(); ++i) {
    const std::size_t from = candidates.drawn_from[i];
    const double ratio = guessed_ns(candidates.descriptions[candidates.own + i].work) /
                         guessed_ns(candidates.descriptions[from].work);
    weights[candidates.own + i] = kShareOfVariations * weights[from] / count[from] *
                                  std::clamp(ratio, 1 / kMaxRatio, kMaxRatio);
  }
  for (std::size_t i = 0; i < candidates.own; ++i) {
    if (count[i] > 0) weights[i] *= 1 - kShareOfVariations;
  }
}

/// An operator that hardly any network of the space has is half the time of some other network,
/// and so is a form of an operator. So those of a family count as a power of what they are in the
/// space's networks, and those of its slices are nearer to each other than they are there.
void temper(const Candidates& candidates, std::vector<double>& weights) {
  struct Sums {
    double weight = 0;
    double tempered = 0;  ///< of a family: over its slices
  };
  std::unordered_map<std::string_view, Sums> slices;
  std::unordered_map<std::string_view, Sums> families;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string_view slice = candidates.descriptions[i].slice;
    slices[slice].weight += weights[i];
    families[ir::family_of(slice)].weight += weights[i];
  }
  for (auto& [slice, sums] : slices) {
    sums.tempered = std::pow(sums.weight, kPowerOfSlice);
    families[ir::family_of(slice)].tempered += sums.tempered;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const Sums& slice = slices[candidates.descriptions[i].slice];
    const Sums& family = families[ir::family_of(candidates.descriptions[i].slice)];
    weights[i] *=
        std::pow(family.weight, kPowerOfFamily) * slice.tempered / family.tempered / slice.weight;
  }
}

}  // namespace

double guessed_ns(const ir::Work& work) {
  return 1000 + std::max({work.flops.value_or(0) / 50, work.bytes() / 10, work.steps});
}

Candidates make_candidates(const search::KernelSpace& space, const table::Device& device,
                           std::int64_t threads, std::uint64_t seed) {
  return CandidateMaker(space, device, threads, seed).make();
}

std::vector<double> weights_of(const Candidates& candidates, std::span<const double> ns) {
  std::vector<double> weights(candidates.keys.size(), 0);
  const auto networks = static_cast<double>(candidates.networks.size());
  for (const estimate::NetworkOfRows& network : candidates.networks) {
    double total = 0;
    for (const auto& [row, count] : network.rows) total += count * ns[row];
    for (const auto& [row, count] : network.rows)
      weights[row] += count * ns[row] / total / networks;
  }
  for (std::size_t i = 0; i < candidates.own; ++i)
    weights[i] += kWeightOutside * candidates.counts_outside[i];
  share_with_drawn(candidates, weights);
  temper(candidates, weights);
  return weights;
}

}  // namespace oplat::app
