// SPDX-License-Identifier: Apache-2.0
/// Paddle's inference models: ProgramDesc (NAME.pdmodel, or __model__ of older exports) and the
/// JSON programs of Paddle 3 (PIR), each with the sizes of its parameters' file next to it.
#pragma once

#include "formats/format_reader.hpp"

namespace oplat::formats::paddle {

/// The reader behind the FormatReader seam. Nodes are in the domain "paddle", whichever form the
/// program has: op and slots (Node::input_slots) are those of ProgramDesc (pd_op.add is
/// elementwise_add with X and Y), operands in alphabetical order of their parameters, attributes
/// under the program's names less what says nothing of the computation (op_role, op_callstack,
/// use_mkldnn, ...). feed and fetch are not nodes but the graph's inputs and outputs. Every tensor
/// has its shape, inferred through the program where it depends on an open dimension.
const FormatReader& reader();

/// How many convolutions Paddle-Lite would run sparse if asked to (its pass sparse_conv_detect):
/// pointwise, ungrouped, of stride 1 and without padding, in fp32, at least `share` of the filter's
/// elements zero. A graph holds no values, so rules cannot know. 0 where the parameters are not
/// there or cannot be told apart.
Result<std::size_t> count_pruned_filters(const base::Source& source, double share);

}  // namespace oplat::formats::paddle
