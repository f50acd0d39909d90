// SPDX-License-Identifier: Apache-2.0
/// An ONNX model grown node by node: float32, fixed shapes, weights random and seeded by their
/// names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compat/tinynas/op_profiler.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::compat::tinynas {

class ModelWriter {
 public:
  /// Names of tensors are handed from call to call.
  using Name = std::string;

  explicit ModelWriter(std::string graph_name);

  Name input(const std::string& name, const std::vector<std::int64_t>& dims);
  /// Conv without bias, then BatchNormalization.
  Name convolution(const std::string& name, const Name& x, const ConvTuple& conv,
                   std::int64_t padding);
  Name activation(const std::string& name, const Name& x, Activation kind);
  Name add(const std::string& name, const Name& a, const Name& b);
  Name multiply(const std::string& name, const Name& a, const Name& b);
  Name sigmoid(const std::string& name, const Name& x);
  Name global_average_pool(const std::string& name, const Name& x);
  /// stride x stride; what is left over of an odd size is a window of its own.
  Name average_pool(const std::string& name, const Name& x, std::int64_t stride, bool odd);
  /// Names `x` "output" and closes the model. Code::Input if it is larger than an ONNX file can
  /// be.
  Result<std::string> finish(const Name& x, const std::vector<std::int64_t>& dims);

 private:
  formats::onnx::wire::Node& node(const std::string& name, const char* op,
                                  const std::vector<Name>& inputs);
  Name weights(const std::string& name, const std::vector<std::int64_t>& dims, double low,
               double high, bool both_signs);

  formats::onnx::wire::Model model_;
  double weight_bytes_ = 0;
};

}  // namespace oplat::compat::tinynas
