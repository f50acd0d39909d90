// SPDX-License-Identifier: Apache-2.0
/// score_networks TABLE SPACE.yaml [NUMBER]: the fastest of NUMBER random networks of a space.
#include <cstdio>
#include <cstdlib>
#include <oplat/oplat.hpp>
#include <random>

namespace {

int stop(const oplat::Error& error) {
  std::fprintf(stderr, "score_networks: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: score_networks TABLE SPACE.yaml [NUMBER]\n");
    return 2;
  }
  const auto table = oplat::Table::open(argv[1]);
  if (!table) return stop(table.error());
  oplat::ScorerRequest request{.space = argv[2]};
  request.estimate.missing = oplat::MissingPolicy::Roofline;
  const auto scorer = oplat::Scorer::create(*table, request);
  if (!scorer) return stop(scorer.error());

  std::mt19937 random(1);
  std::vector<oplat::LayerChoice> network(scorer->layers().size());
  std::vector<oplat::LayerChoice> fastest;
  oplat::NetworkScore best;
  const long number = argc == 4 ? std::atol(argv[3]) : 1000;
  for (long i = 0; i < number; ++i) {
    for (std::size_t layer = 0; layer < network.size(); ++layer) {
      network[layer].block = random() % scorer->layers()[layer].blocks.size();
      const std::size_t widths = scorer->layers()[layer].channels.size();
      network[layer].channels = widths == 0 ? 0 : random() % widths;
    }
    const auto score = scorer->score(network);
    if (!score) continue;  // these blocks do not fit together
    if (!fastest.empty() && score->median_ms >= best.median_ms) continue;
    fastest = network;
    best = *score;
  }
  if (fastest.empty()) return std::fprintf(stderr, "score_networks: no network fits\n"), 1;
  std::printf("%.3f ms (%.3f to %.3f ms):", best.median_ms, best.interval.low_ms,
              best.interval.high_ms);
  for (std::size_t i = 0; i < fastest.size(); ++i)
    std::printf(" %s", scorer->layers()[i].blocks[fastest[i].block].c_str());
  std::printf("\n");
}
