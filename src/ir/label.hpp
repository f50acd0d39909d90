// SPDX-License-Identifier: Apache-2.0
/// Labels: kernels described for people.
///
/// A key says everything about a kernel, in the order in which a program reads it. Whoever looks
/// for the kernels that take the time wants the few facts that tell one layer from another:
/// `Conv 3x3 s2, 16 ch, 1x3x224x224 -> 1x16x112x112, HardSwish`. A label is not an identity:
/// kernels with different keys may have the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"

namespace oplat::ir {

class Catalogue;

/// What a label says beyond shapes and element types. All texts are printable.
struct KernelWords {
  std::string type;      ///< "Conv", "Conv depthwise": what sums by operator group by
  std::string op;        ///< "Conv"
  std::string size;      ///< "3x3 s2, 16 ch"; empty: the shapes say it
  std::string operands;  ///< "1x128x768 by 768x3072"; empty: those of the operands
  std::vector<std::string> fused = {};  ///< "residual", "HardSwish": done to the finished result
};

struct KernelLabel {
  std::string type;  ///< see KernelWords
  std::string text;
};

/// By the words of the key's domain (KeyDomain::words()), else by those that attributes and
/// operands of most systems' operators have in common. Element types are said where they are not
/// f32.
KernelLabel make_label(const Key& key, const Catalogue& catalogue);
/// The same of a printed key; one that is not a key is its own label.
KernelLabel label_of(std::string_view key, const Catalogue& catalogue);

/// The words that make_label() finds for operators of no domain's own. For domains that add to
/// them.
KernelWords common_words(const Key& key);

/// "1x3x224x224"; "scalar" without dimensions, "?" for an unknown one, "*" for an unknown number.
std::string shape_text(const Shape& shape);

}  // namespace oplat::ir
