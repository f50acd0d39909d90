// SPDX-License-Identifier: Apache-2.0
/// LutQuery: one operator as mobile-vision's runtime_lut names it, and its key in the domain
/// "caffe2".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "ir/key.hpp"

namespace oplat::formats::caffe2 {

/// Four of the five fields by which an operator is found in such a table; the fifth is the device.
struct LutQuery {
  std::string op_type;  ///< "Int8ConvRelu"
  /// each argument as protobuf text, `name: "kernel"\ni: 3\n`, by name
  std::vector<std::string> op_args;
  std::vector<std::vector<std::int64_t>> input_shapes;  ///< of all operands, parameters included
  std::vector<int> input_dtypes;  ///< numbers of Caffe2's TensorProto.DataType, one an operand
  friend bool operator==(const LutQuery&, const LutQuery&) = default;
};

/// Element type of a number of Caffe2's TensorProto.DataType (1 float, 2 int32, 6 uint8 ...) and
/// back; std::nullopt for numbers and types that the other side lacks.
std::optional<ir::Dtype> dtype_of_caffe2(int number);
std::optional<int> caffe2_number(ir::Dtype dtype);

/// Arguments that say nothing of the latency: Y_scale, Y_zero_point, ws_nbytes_limit.
bool is_inert_argument(std::string_view name);

/// The canonical key, results inferred, parameters constant:
/// caffe2:Int8ConvRelu{dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,1,1],strides=[2,2]}(u8[1,224,224,3],
/// u8c[32,3,3,3],i32c[32])->(u8[1,112,112,32]). Code::Input says what does not fit: an operator
/// that is not known, arguments that are not protobuf text, shapes that do not go together.
Result<ir::Key> key_of(const LutQuery& query);
/// A query of this key in the most usual spelling; std::nullopt for a key that key_of cannot have
/// made.
std::optional<LutQuery> lut_query_of(const ir::Key& key);

}  // namespace oplat::formats::caffe2
