// SPDX-License-Identifier: Apache-2.0
/// Costs of blocks by unit, else by kind, else as designed.
#include "measure/forecast.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

/// Block, opening and calibration of a kind before any was measured: hot, evicted, model.
constexpr std::array<double, 3> kDesignedSeconds{0.2, 0.4, 0.6};

}  // namespace

void Forecast::add(Unit& unit, double seconds) {
  unit.cost_seconds += seconds;
  ++unit.cost_blocks;
  const auto kind = static_cast<std::size_t>(unit.kind);
  seconds_[kind] += seconds;
  blocks_[kind] += 1;
}

double Forecast::cost(const Unit& unit) const {
  if (unit.cost_blocks > 0) return unit.cost_seconds / static_cast<double>(unit.cost_blocks);
  const auto kind = static_cast<std::size_t>(unit.kind);
  return blocks_[kind] > 0 ? seconds_[kind] / blocks_[kind] : kDesignedSeconds[kind];
}

double Forecast::blocks_left(const Unit& unit) const {
  if (unit.finished) return 0;
  const std::int64_t wanted = std::max(least_blocks_, unit.expected_blocks);
  const auto blocks = static_cast<double>(std::max<std::int64_t>(wanted - unit.attempts(), 1));
  return unit.need == Need::Unknown ? blocks / 2 : blocks;
}

double Forecast::seconds_left(std::span<const Unit> units) const {
  double sum = 0;
  for (const Unit& unit : units) sum += blocks_left(unit) * cost(unit);
  return sum;
}

double Forecast::first_pass_left(std::span<const Unit> units) const {
  double sum = 0;
  for (const Unit& unit : units) {
    if (!unit.finished && unit.blocks.empty())
      sum += cost(unit) * (unit.need == Need::Unknown ? 0.5 : 1);
  }
  return sum;
}

std::int64_t Forecast::model_blocks_lacking(const Unit& unit) const {
  if (unit.kind != UnitKind::Model || unit.finished) return 0;
  return std::max<std::int64_t>(least_blocks_ - unit.attempts(), 0);
}

double Forecast::models_left(std::span<const Unit> units) const {
  double sum = 0;
  for (const Unit& unit : units)
    sum += static_cast<double>(model_blocks_lacking(unit)) * cost(unit);
  return sum;
}

}  // namespace oplat::measure
