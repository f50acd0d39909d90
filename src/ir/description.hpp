// SPDX-License-Identifier: Apache-2.0
/// Description: a key as a point in a space of numbers, which is what estimators learn from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"
#include "ir/work.hpp"

namespace oplat::ir {

class Catalogue;

/// Sums of products: a convolution as `groups` matrix products of [batch*out_h*out_w,
/// in_c*kernel_h*kernel_w] with
/// [.., out_c]; a matrix product is one with out_h rows. Channels are those of one group.
struct Contraction {
  double groups = 1;
  double batch = 1;
  double in_c = 1;
  double out_c = 1;
  double out_h = 1;
  double out_w = 1;
  double kernel_h = 1;
  double kernel_w = 1;
  double stride = 1;
  /// Of the products that a window of [kernel_h, kernel_w] has, those that are computed; less than
  /// 1 where a runtime passes over the padding.
  double share_inside = 1;
};

/// Keys of one slice differ in their numbers alone, so that interpolation between them has a
/// meaning.
struct Description {
  std::string slice;  ///< all of the key that is not a number, on one line
  /// of one length and meaning within a slice; sizes, counts and flags
  std::vector<double> numbers;
  /// the catalogue's own numbers, which mean the same in every slice of the family
  bool aligned = false;
  /// What is executed: `flops` without the products with padding that are passed over.
  Work work;
  std::optional<Contraction> contraction;
  /// Bytes between neighbours where an operand is walked across its rows; 0 where all are walked in
  /// order.
  double stride_bytes = 0;
  /// Of an activation that is computed in a pass over the result: its elements, times what one
  /// takes next to one of Clip. 0 without one.
  double activation_cost = 0;
  /// Where the weights are before a call, if that is told apart: estimate/learned/states.hpp.
  std::size_t state = 0;
};

/// The operator that a slice is of, without what fuses an activation or a sum: slices of a family
/// compute the same, each in its own form.
std::string_view family_of(std::string_view slice);

/// Numbers in the catalogue's own order where it knows the operator (convolutions: see
/// kConvolutionNumbers), else every dimension and every whole number among the attributes, in order
/// of the text. Keys of a foreign system are described as that system's tables say them
/// (KeyDomain::table_form). std::nullopt for a key with an unknown size or a number that is not
/// finite.
std::optional<Description> describe(const Key& key, const Catalogue& catalogue);

/// What the numbers of a convolution are. Channels in: as a share of those out, since networks
/// widen in steps; as they are where an image (at most 4 channels) comes in, which is a slice of
/// its own, and missing from a depthwise convolution, another slice. Volumes, which have slices of
/// their own, too, count depth times height as height.
enum ConvolutionNumber : std::size_t {
  kConvBatch,
  kConvHeight,
  kConvAspect,
  kConvOutChannels,
  kConvInChannels,
  kConvKernel,
  kConvKernelAspect,
  kConvStride,
  kConvDilation,
  kConvPad,
  kConvGroup,
  kConvResidual,
  kConvolutionNumbers
};

/// What a number of a description is, for people; empty where the key's text alone says it.
std::string_view number_name(const Description& description, std::size_t number);

}  // namespace oplat::ir
