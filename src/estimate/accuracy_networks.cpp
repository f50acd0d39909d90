// SPDX-License-Identifier: Apache-2.0
/// Random ResNet-like networks.
#include "estimate/accuracy_networks.hpp"

#include <array>
#include <cmath>
#include <map>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

struct Stage {
  double height;
  double min_channels;
  double max_channels;
  int convolutions;
};
constexpr std::array<Stage, 4> kStages{
    {{56, 64, 256, 9}, {28, 128, 512, 12}, {14, 256, 1024, 18}, {7, 512, 2048, 6}}};
constexpr double kFactor = 1.5;

bool fits(const ir::Description& row, const Stage& stage) {
  if (!row.aligned || row.slice.find(" dense") == std::string::npos ||
      ir::family_of(row.slice).find("Transpose") != std::string_view::npos)
    return false;
  const double kernel = row.numbers[ir::kConvKernel];
  const double height = row.numbers[ir::kConvHeight];
  const double channels = row.numbers[ir::kConvOutChannels];
  return (kernel == 1 || kernel == 3) && height >= stage.height / kFactor &&
         height <= stage.height * kFactor && channels >= stage.min_channels &&
         channels <= stage.max_channels;
}

}  // namespace

std::vector<NetworkLine> random_networks(std::span<const NetworkRow> rows, std::int64_t networks,
                                         std::uint64_t seed) {
  std::map<std::int64_t, std::array<std::vector<const NetworkRow*>, kStages.size()>> by_batch;
  for (const NetworkRow& row : rows) {
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      if (!fits(*row.description, kStages[stage])) continue;
      by_batch[static_cast<std::int64_t>(row.description->numbers[ir::kConvBatch])][stage]
          .push_back(&row);
    }
  }
  std::vector<NetworkLine> lines;
  for (const auto& [batch, stages] : by_batch) {
    bool complete = true;
    for (const auto& stage : stages) complete = complete && !stage.empty();
    if (!complete) continue;
    base::Random random(base::mix_seed(seed, static_cast<std::uint64_t>(batch)));
    NetworkLine line;
    line.batch = batch;
    line.networks = networks;
    const auto count = static_cast<double>(networks);
    for (std::int64_t network = 0; network < networks; ++network) {
      double truth = 0;
      double predicted = 0;
      for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
        for (int i = 0; i < kStages[stage].convolutions; ++i) {
          const NetworkRow& row = *stages[stage][random.below(stages[stage].size())];
          truth += row.truth_ns;
          predicted += row.predicted_ns;
        }
      }
      const double error = predicted / truth - 1;
      line.mape += std::abs(error) / count;
      line.bias += error / count;
      line.within1 += (std::abs(error) <= 0.01 ? 1 : 0) / count;
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace oplat::estimate
