// SPDX-License-Identifier: Apache-2.0
/// Small ONNX models, written field by field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::formats::onnx::testing {

/// TensorProto.DataType, as ONNX numbers it.
enum Type { kF32 = 1, kU8 = 2, kI32 = 6, kI64 = 7, kString = 8, kBool = 9, kF16 = 10 };

using Names = std::vector<std::string>;

/// "4" is a fixed dimension, "?" an open one without a name, all else a symbol.
void add_value(wire::ValueInfo& info, const std::string& name, std::int32_t type,
               const Names& dims);
void add_input(wire::Model& model, const std::string& name, const Names& dims,
               std::int32_t type = kF32);
void add_output(wire::Model& model, const std::string& name, const Names& dims = {"1"});
wire::Node& add_node(wire::Graph& graph, const std::string& op, const Names& inputs,
                     const Names& outputs);
wire::Tensor& add_tensor(wire::Graph& graph, const std::string& name, std::int32_t type,
                         const std::vector<std::int64_t>& dims);
wire::Attribute& add_attribute(wire::Node& node, const std::string& name, std::int32_t type);

/// Operator set 17, no nodes.
wire::Model empty_model();
/// y = Relu(MatMul(x, w)) with x f32[N,4] and w f32[4,2].
wire::Model small_model();
/// `depth` If nodes, one in the branch of the other, around an Identity.
wire::Model nested_model(int depth);

base::Source source_of(const wire::Model& model);
Result<Model> load(const wire::Model& model);
Result<ir::Graph> graph_of(const wire::Model& model);

/// Little-endian bytes of numbers.
template <class T>
std::string raw(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

}  // namespace oplat::formats::onnx::testing
