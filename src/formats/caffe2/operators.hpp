// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators: their arguments, the shapes of their results, their keys in the domain
/// "caffe2".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::formats::caffe2 {

inline constexpr std::string_view kCaffe2Domain = "caffe2";

/// Whether the shape of its result can be inferred.
bool is_caffe2_operator(std::string_view op);

/// Brings a key whose attributes are Caffe2's arguments, as a net spells them, into canonical form
/// and gives it its result: kernel, kernel_h, kernels, legacy_pad, global_pooling ... become
/// kernels, strides, pads [t,l,b,r] and dilations, defaults are filled, what says nothing of the
/// time is dropped. Operands are tensors of known shape. Code::Input, beginning with the operator's
/// name, says what does not fit.
Status complete_caffe2(ir::Key& key);
/// Whether operand `operand` of this operator is a filter, a bias or the like.
bool is_caffe2_parameter(std::string_view op, std::size_t operand);
/// Marks the operands that are filters, biases and the like as constants: what a query cannot say
/// of them.
void mark_caffe2_parameters(ir::Key& key);

/// One Argument in protobuf's text form, `name: "kernel"\ni: 3\n`, and back. Code::Input says where
/// the text is none.
Result<ir::NamedValue> parse_caffe2_argument(std::string_view text);
std::string caffe2_argument_text(const ir::NamedValue& argument);
/// The double that keys hold for a float of 32 bits: that of its shortest text.
double caffe2_float(float value);

}  // namespace oplat::formats::caffe2
