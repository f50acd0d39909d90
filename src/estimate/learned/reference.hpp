// SPDX-License-Identifier: Apache-2.0
/// Reference: the time that products take as a rule on a machine, smooth in every size, learned
/// from rows. Answers are learned relative to it, so it carries them beyond the rows. What sums no
/// products moves bytes, and takes what the machine's bound says.
#pragma once

#include <array>
#include <span>

#include "estimate/learned/machine.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// What a kernel's time is made of: a launch; flops; bytes in, out and of weights; the length K =
/// in_c * kernel_h * kernel_w of its sums, which one product after the other works off; and
/// sqrt(flops * K), which lies between the last and flops, for kernels too small to fill the
/// machine. A roofline knows two of them and is far off where neither counts alone: docs/adr/0030.
/// Weights that are not in the core's own cache cost more a byte; from memory they cost still more,
/// and the first of them are waited for (docs/adr/0063). A fused activation is a pass over the
/// result, which a depthwise convolution feels and a product of many channels hardly
/// (docs/adr/0067). Operands and results that no cache holds come from memory (docs/adr/0087).
/// docs/adr/0079 has the rest.
enum ReferencePart : std::size_t {
  kLaunch,
  kFlops,
  kBytesIn,
  kBytesOut,
  kBytesWeights,
  kSumLength,
  kHalfFilled,
  kWeightsFromLast,    ///< bytes of weights out of the core's own cache
  kWeightsFromMemory,  ///< out of every cache; kWeightsFromLast counts, too
  kColdLaunch,         ///< 1 if there are such
  kActivation,         ///< ir::Description::activation_cost
  /// Operations that are not among kFlops: of windows at edges (ir::Contraction), of sums within
  /// one channel, inside and at edges, of bytes, signed and not, and within one channel.
  kFlopsAtEdges,
  kFlopsOfDepthwise,
  kFlopsOfDepthwiseAtEdges,
  kFlopsOfBytes,
  kFlopsOfSignedBytes,
  kFlopsOfDepthwiseBytes,
  kSignedWeights,   ///< of ir::Factors::SignedBytes, which are packed in each call
  kResultsOfBytes,  ///< sums of bytes, which become bytes
  kCalls,           ///< ir::Windows, as the next five
  kGathered,
  kUnfolded,
  kFolded,
  kRowCalls,
  kWritten,
  kBytesFromMemory,  ///< of operands and results beyond Reference::near_bytes
  kReferenceParts
};

struct Reference {
  /// ns that a unit of each part takes; 0 where no row told, all 0 for a reference that was never
  /// learned.
  std::array<double, kReferenceParts> ns_per_unit{};
  /// Operands and results of so many bytes together stay in a cache, of twice as many none; 0 where
  /// no row told of such an end.
  double near_bytes = 0;
  /// Whether it stands for work that sums no products, too: in fits of before.
  bool of_all_work = false;
  [[nodiscard]] bool learned() const;
  /// (sum of part^p)^(1/p) with p = 5/4: parts overlap, but less than perfectly, which would be
  /// their maximum. ns; 0 where no part counts. Work of which no row told a rate is taken for its
  /// next of kin: bytes for floats, signed ones for bytes first, floats for bytes where there are
  /// no others; then depthwise sums for others and others for depthwise ones, and edges for the
  /// inside.
  [[nodiscard]] double ns(const ir::Description& description) const;
};

/// Least squares of relative errors with no negative part, from the rows that sum products.
/// `log_ns`: ln of the time of each row in ns.
Reference learn_reference(std::span<const ir::Description> rows, std::span<const double> log_ns);

/// ln of the reference in ns, at least a launch of the machine, with the steps added; ln of the
/// machine's bound where there is no reference for such work.
double log_reference(const Reference& reference, const Machine& machine,
                     const ir::Description& description);

}  // namespace oplat::estimate
