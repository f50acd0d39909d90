// SPDX-License-Identifier: Apache-2.0
/// Non-negative least squares, weighted anew a few times.
#include "estimate/learned/reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace oplat::estimate {
namespace {

using Parts = std::array<double, kReferenceParts>;

/// Between 1, a sum, and infinity, a maximum. Of 1, 1.25 and 1.5, the largest fifth of the V100's
/// rows came out at 4.6, 4.2 and 3.9 % in fp32 and 13.1, 11.9 and 17.8 % in fp16.
constexpr double kPower = 1.25;
/// Times are weighed by what the round before made of them: the error's weight is 1 / (time *
/// fitted), which favours neither too short nor too long answers.
constexpr int kRounds = 12;
/// Two dozen unknowns, of which a table has half: more change nothing.
constexpr int kSweeps = 2000;
/// A row that a round explains by nothing must not weigh infinitely in the next.
constexpr double kMinShare = 1e-3;
/// What steps, of which an order of magnitude is known, leave of a row that teaches the rest.
constexpr double kMinShareWithoutSteps = 0.3;

/// What a rate of 0 stands for is that no row told of it; of one that rows told to be nothing this.
constexpr double kToldToBeNothing = 1e-30;

bool is_depthwise(const ir::Description& description) {
  return description.contraction && description.contraction->is_depthwise();
}

/// Which of the rates operations have.
ReferencePart rate_of(ir::Factors factors, bool depthwise) {
  switch (factors) {
    case ir::Factors::Wide:
      break;
    case ir::Factors::Bytes:
      return depthwise ? kFlopsOfDepthwiseBytes : kFlopsOfBytes;
    case ir::Factors::SignedBytes:
      return depthwise ? kFlopsOfDepthwiseBytes : kFlopsOfSignedBytes;
  }
  return depthwise ? kFlopsOfDepthwise : kFlops;
}

/// What its factors are taken for: the next of kin of which a row told the rate of such sums, else
/// of other ones.
ir::Factors taken_for(const Reference& reference, ir::Factors factors, bool depthwise) {
  using ir::Factors;
  const auto told = [&](Factors one, bool of_depthwise) {
    return reference.ns_per_unit[rate_of(one, of_depthwise)] > 0;
  };
  // Floats know floats best, whatever their sums.
  if (factors == Factors::Wide && (told(factors, false) || told(factors, true))) return factors;
  const std::array<Factors, 3> kin =
      factors == Factors::Wide    ? std::array{Factors::Wide, Factors::Bytes, Factors::SignedBytes}
      : factors == Factors::Bytes ? std::array{Factors::Bytes, Factors::Wide, Factors::SignedBytes}
                                  : std::array{Factors::SignedBytes, Factors::Bytes, Factors::Wide};
  for (const bool of_depthwise : {depthwise, !depthwise}) {
    for (const Factors one : kin) {
      if (told(one, of_depthwise)) return one;
    }
  }
  return factors;
}

/// To the power at which parts add up.
Parts parts_of(const ir::Description& description, ir::Factors factors, double near_bytes) {
  const ir::Work& work = description.work;
  Parts parts{};
  parts[kLaunch] = 1;
  const double flops = description.slower * work.flops.value_or(0);
  const ReferencePart rate = rate_of(factors, is_depthwise(description));
  parts[rate] = flops;
  parts[kBytesIn] = work.bytes_in;
  parts[kBytesOut] = work.bytes_out;
  parts[kBytesWeights] = work.bytes_weights;
  if (const auto& product = description.contraction) {
    const double sum_length = product->in_c * product->kernel_h * product->kernel_w;
    if (factors == ir::Factors::Wide) {
      const double at_edges = product->share_at_edges * flops;
      parts[rate] -= at_edges;
      parts[rate == kFlops ? kFlopsAtEdges : kFlopsOfDepthwiseAtEdges] = at_edges;
      parts[kSumLength] = sum_length;
      parts[kHalfFilled] = std::sqrt(flops * sum_length);
    } else {
      const double rows = product->batch * product->out_h * product->out_w;
      parts[kResultsOfBytes] = product->groups * rows * product->out_c;
    }
    parts[kCalls] = description.windows.calls;
    parts[kGathered] = description.windows.gathered;
    parts[kUnfolded] = description.windows.unfolded;
    parts[kFolded] = description.windows.folded;
    parts[kRowCalls] = description.windows.row_calls;
    parts[kWritten] = description.windows.written;
    if (rate == kFlopsOfSignedBytes)
      parts[kSignedWeights] = product->groups * sum_length * product->out_c;
  }
  if (description.state > 0) parts[kWeightsFromLast] = work.bytes_weights;
  if (description.state > 1 && work.bytes_weights > 0) {
    parts[kWeightsFromMemory] = work.bytes_weights;
    parts[kColdLaunch] = 1;
  }
  parts[kActivation] = description.activation_cost;
  const double moved = work.bytes_in + work.bytes_out;
  if (near_bytes > 0 && moved > near_bytes)
    parts[kBytesFromMemory] = moved * std::min(1.0, std::log2(moved / near_bytes));
  for (double& part : parts) part = part > 0 ? std::pow(part, kPower) : 0;
  return parts;
}

/// Normal equations of the weighted rows.
struct Normal {
  std::array<Parts, kReferenceParts> products{};
  Parts targets{};
  void add(const Parts& parts, double target, double weight) {
    for (std::size_t i = 0; i < kReferenceParts; ++i) {
      targets[i] += weight * parts[i] * target;
      for (std::size_t k = 0; k < kReferenceParts; ++k)
        products[i][k] += weight * parts[i] * parts[k];
    }
  }
};

/// Coordinate descent: the least squares along one unknown after the other, none below 0.
void improve(const Normal& normal, Parts& solution) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < kReferenceParts; ++i) {
      if (!(normal.products[i][i] > 0)) continue;
      double slope = normal.targets[i];
      for (std::size_t k = 0; k < kReferenceParts; ++k)
        slope -= normal.products[i][k] * solution[k];
      solution[i] = std::max(0.0, solution[i] + slope / normal.products[i][i]);
    }
  }
}

double sum_of(const Parts& parts, const Parts& factors) {
  double sum = 0;
  for (std::size_t i = 0; i < kReferenceParts; ++i) sum += parts[i] * factors[i];
  return sum;
}

}  // namespace

bool Reference::learned() const {
  return std::any_of(ns_per_unit.begin(), ns_per_unit.end(), [](double ns) { return ns > 0; });
}

double Reference::ns(const ir::Description& description) const {
  const ir::Factors factors = taken_for(*this, description.factors, is_depthwise(description));
  Parts parts = parts_of(description, factors, near_bytes);
  const auto add_to = [&](ReferencePart from, ReferencePart to) {
    if (ns_per_unit[from] > 0 || !(parts[from] > 0)) return;
    const double both = std::pow(parts[to], 1 / kPower) + std::pow(parts[from], 1 / kPower);
    parts[to] = std::pow(both, kPower);
    parts[from] = 0;
  };
  const ReferencePart dense = rate_of(factors, false);
  const ReferencePart depthwise = rate_of(factors, true);
  add_to(kFlopsAtEdges, kFlops);
  add_to(kFlopsOfDepthwiseAtEdges, kFlopsOfDepthwise);
  add_to(depthwise, dense);
  add_to(dense, depthwise);
  double sum = 0;
  for (std::size_t i = 0; i < kReferenceParts; ++i) {
    if (!(parts[i] > 0)) continue;
    double each = ns_per_unit[i];
    // Rows that did little but pack their weights told nothing of what products take.
    if (i == kFlopsOfSignedBytes) each = std::max(each, ns_per_unit[kFlopsOfBytes]);
    if (each > 0) sum += std::pow(each, kPower) * parts[i];
  }
  return std::pow(sum, 1 / kPower);
}

namespace {

struct Learned {
  Reference reference;
  double error = 0;  ///< squares of what it is off, as logarithms
};

Learned learn_with(std::span<const ir::Description> rows, std::span<const double> log_ns,
                   double near_bytes) {
  std::vector<Parts> parts;
  std::vector<double> times;
  Parts largest{};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].contraction) continue;
    const double ns = std::exp(log_ns[row]);
    const double rest = ns - rows[row].work.steps * kStepNs;
    if (rest < kMinShareWithoutSteps * ns) continue;
    times.push_back(std::pow(rest, kPower));
    parts.push_back(parts_of(rows[row], rows[row].factors, near_bytes));
    for (std::size_t i = 0; i < kReferenceParts; ++i)
      largest[i] = std::max(largest[i], parts.back()[i]);
  }
  // Of one size, so that the descent takes even steps.
  for (Parts& row : parts) {
    for (std::size_t i = 0; i < kReferenceParts; ++i)
      row[i] = largest[i] > 0 ? row[i] / largest[i] : 0;
  }
  std::vector<double> fitted = times;
  Parts solution{};
  for (int round = 0; round < kRounds; ++round) {
    Normal normal;
    for (std::size_t i = 0; i < parts.size(); ++i)
      normal.add(parts[i], times[i], 1 / (times[i] * fitted[i]));
    improve(normal, solution);
    for (std::size_t i = 0; i < parts.size(); ++i)
      fitted[i] = std::max(sum_of(parts[i], solution), kMinShare * times[i]);
  }
  Learned learned;
  Reference& reference = learned.reference;
  reference.near_bytes = near_bytes;
  for (std::size_t i = 0; i < kReferenceParts; ++i) {
    if (largest[i] > 0)
      reference.ns_per_unit[i] =
          std::max(kToldToBeNothing, std::pow(solution[i] / largest[i], 1 / kPower));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double off = std::log(fitted[i] / times[i]);
    learned.error += off * off;
  }
  return learned;
}

}  // namespace

Reference learn_reference(std::span<const ir::Description> rows, std::span<const double> log_ns) {
  // Caches that data leave at all, in doublings: rows tell no finer. Few rows tell of none.
  constexpr double kLeastNear = 1 << 20;
  constexpr double kMostNear = 128 << 20;
  constexpr std::ptrdiff_t kMinBeyond = 20;
  Learned best = learn_with(rows, log_ns, 0);
  for (double near = kLeastNear; near <= kMostNear; near *= 2) {
    const auto beyond = std::count_if(rows.begin(), rows.end(), [&](const ir::Description& row) {
      return row.contraction && row.work.bytes_in + row.work.bytes_out > 2 * near;
    });
    if (beyond < kMinBeyond) break;
    const Learned other = learn_with(rows, log_ns, near);
    if (other.error < best.error) best = other;
  }
  return best.reference;
}

double log_reference(const Reference& reference, const Machine& machine,
                     const ir::Description& description) {
  if (!reference.learned() || !(description.contraction || reference.of_all_work))
    return std::log(machine.bound_ns(description.work));
  // Work of which no part counts takes a launch at least.
  return std::log(std::max(reference.ns(description), machine.overhead_ns) +
                  description.work.steps * kStepNs);
}

}  // namespace oplat::estimate
