// SPDX-License-Identifier: Apache-2.0
/// Description: a key as a point in a space of numbers, which is what estimators learn from.
#pragma once

#include <cstdint>
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
  /// Of a row's windows, those that reach out of the image, where a runtime computes them one by
  /// one and others several at once.
  double share_at_edges = 0;
  /// The runtime takes filters for the rows of the product and places for its columns.
  bool places_are_columns = false;
  /// Each group has one channel and one filter, and there are several.
  [[nodiscard]] bool is_depthwise() const { return in_c == 1 && out_c == 1 && groups > 1; }
};

/// What is multiplied, where processors have other instructions for it: bytes at a rate of their
/// own, and for signed ones on the left side there may be no kernels but general ones, which pack
/// the weights anew in each call.
enum class Factors : std::uint8_t { Wide, Bytes, SignedBytes };

/// What ONNX Runtime does around products.
struct Windows {
  double calls = 0;  ///< products that are not blocked, computed one after the other
  /// Of requantised bytes: how often the channels of a group are copied, or looked up, for one
  /// place of a window. 0 where the whole image is multiplied as it lies.
  double gathered = 0;
  /// Of others that are not blocked: elements that are copied so that a window is a column.
  double unfolded = 0;
  /// Of transposed ones: elements of columns that are added to the result.
  double folded = 0;
  /// Of blocked ones: calls of the kernel that computes a row of results, and results that are
  /// written, once for each block of channels that adds to them (all of up to 128 where windows are
  /// single places).
  double row_calls = 0;
  double written = 0;
};

/// Keys of one slice differ in their numbers alone, so that interpolation between them has a
/// meaning.
struct Description {
  std::string slice;  ///< all of the key that is not a number, on one line
  /// of one length and meaning within a slice; sizes, counts and flags
  std::vector<double> numbers;
  /// the catalogue's own numbers, which mean the same in every slice of the family
  bool aligned = false;
  /// What is executed: `flops` without the products with padding that are passed over, bytes as far
  /// as they are moved (ir::moved_work).
  Work work;
  /// Bytes of constants as stored, and of all operands and results. The cache state of the weights
  /// depends on these.
  double stored_weight_bytes = 0;
  double stored_bytes = 0;
  std::optional<Contraction> contraction;
  Factors factors = Factors::Wide;  ///< of the contraction
  double lanes = 16;                ///< Host::lanes
  /// How many times as long its operations take as those of others of these factors: processors of
  /// x86-64 multiply bytes by signed ones at once, by unsigned weights in more steps.
  double slower = 1;
  Windows windows;  ///< likewise
  /// Bytes between neighbours where an operand is walked across its rows; 0 where all are walked in
  /// order.
  double stride_bytes = 0;
  /// Of such a walk: its lines that share a set of a first-level cache, where a line of 64 bytes
  /// has one of 64 sets.
  double lines_in_a_set = 0;
  /// Of an activation that is computed in a pass over the result: its elements, times what one
  /// takes next to one of Clip. 0 without one.
  double activation_cost = 0;
  /// Where the weights are before a call, if that is told apart: estimate/learned/states.hpp.
  std::size_t state = 0;
  bool has_state = false;  ///< whether the last of the numbers says it
  /// How many of the numbers are the kernel's, whatever its state.
  [[nodiscard]] std::size_t own_numbers() const { return numbers.size() - (has_state ? 1 : 0); }
};

/// What runs the kernels that are described.
struct Host {
  std::int64_t threads = 1;  ///< of the runtime; 1 if less
  /// Floats that a vector register of the processor holds: 16 with AVX-512, 8 with AVX2.
  double lanes = 16;
};

/// The operator that a slice is of, without what fuses an activation or a sum: slices of a family
/// compute the same, each in its own form.
std::string_view family_of(std::string_view slice);

/// Numbers in the catalogue's own order where it knows the operator (convolutions: see
/// kConvolutionNumbers), else every dimension and every whole number among the attributes, in order
/// of the text. Keys of a foreign system are described as that system's tables say them
/// (KeyDomain::table_form). std::nullopt for a key with an unknown size or a number that is not
/// finite.
///
/// Some loops are taken by few threads alone, and some work is that of one thread however many
/// there are, or goes into as many pieces as they cannot share evenly; what is counted of such work
/// is what lasts as long, evenly shared (docs/adr/0104).
std::optional<Description> describe(const Key& key, const Catalogue& catalogue, const Host& host);

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

/// Whether its numbers are those: products, reductions and recurrent layers have others.
bool has_convolution_numbers(const Description& description);

/// What a number of a description is, for people; empty where the key's text alone says it.
std::string_view number_name(const Description& description, std::size_t number);

}  // namespace oplat::ir
