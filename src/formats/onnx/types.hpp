// SPDX-License-Identifier: Apache-2.0
/// ONNX element types and constant values against ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "ir/value.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::formats::onnx {

/// ONNX's own domain has two spellings, of which ours is the empty one.
std::string own_domain(const std::string& onnx_domain);
std::optional<ir::Dtype> dtype_of(std::int32_t onnx_type);
std::int32_t onnx_type_of(ir::Dtype dtype);  ///< 0 (undefined) for Any

/// Elements that `tensor` announces; nothing if a dimension is negative or the product overflows.
std::optional<std::int64_t> element_count(const wire::Tensor& tensor);
/// Bytes that its elements take when stored densely; nothing for strings and unknown types.
std::optional<std::int64_t> dense_bytes(const wire::Tensor& tensor);
/// Element i (an integer or a boolean as integer, a float as float); std::nullopt if the data is
/// not there or of a type that is not decoded.
std::optional<ir::Value> element_at(const wire::Tensor& tensor, std::int64_t i);
/// Elements as a flat list (integers and booleans as integers, floats as floats), if there are at
/// most `most` and the data is there; half-precision types are not decoded.
std::optional<ir::List> small_elements(const wire::Tensor& tensor, std::int64_t most);
/// The one element of which a tensor of any size consists, if all are equal and the data is there.
std::optional<ir::Value> equal_element(const wire::Tensor& tensor);

}  // namespace oplat::formats::onnx
