// SPDX-License-Identifier: Apache-2.0
/// Distances from the order of kernels.
#include "footprints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "oplat/ir/catalogue.hpp"
#include "oplat/ir/eviction.hpp"

namespace oplat::predict {
namespace {

constexpr std::size_t kMostKnown = 1'000'000;
/// Kernels that run between two uses of a byte of an operand, or of the memory in which a result is placed.
constexpr std::size_t kBetween = 4;

bool is_view(const ir::Key& key) {
  const ir::OperatorInfo* info = ir::find_operator(key.domain, key.op);
  return info != nullptr && info->view;
}

}  // namespace

const Footprints::Touched& Footprints::touched_by(std::string_view key) const {
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  Touched touched;
  if (const auto parsed = ir::parse(key); parsed && !is_view(*parsed)) {
    const ir::Work work = ir::work(*parsed);
    if (std::isfinite(work.bytes())) touched = {work.bytes(), ir::evicted_of(work) == ir::Evicted::Operands};
  }
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(std::string(key), touched).first->second;
}

std::vector<double> Footprints::of(const std::vector<table::PlanKernel>& kernels, double model_bytes) const {
  std::vector<double> footprints;
  footprints.reserve(kernels.size());
  std::array<double, kBetween> before{};  // what the last kernels touched, in turn
  std::size_t turn = 0;
  for (const table::PlanKernel& kernel : kernels) {
    const Touched touched = touched_by(kernel.key);
    const double window = std::accumulate(before.begin(), before.end(), touched.bytes);
    footprints.push_back(touched.operands ? std::min(window, model_bytes) : model_bytes);
    if (touched.bytes > 0) before[turn++ % kBetween] = touched.bytes;
  }
  return footprints;
}

}  // namespace oplat::predict
