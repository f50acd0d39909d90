// SPDX-License-Identifier: Apache-2.0
/// Graph: what a model file says, whatever its format (ONNX, Caffe2, Paddle). Needs no runtime.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oplat/key.hpp"
#include "oplat/result.hpp"

namespace oplat {

/// What a model file leaves open.
struct ModelInputs {
  /// Sizes of an input, by its name, in elements, outermost first.
  std::map<std::string, std::vector<std::int64_t>> shapes = {};
  /// Size of the batch dimension of every input that leaves it open.
  std::optional<std::int64_t> batch = {};
  /// Data of an input, by its name: a file "x.npy", "zeros", "ones" or "uniform:LOW:HIGH". Needed
  /// only if data decide what a model executes. Inputs that are not named get random data.
  std::map<std::string, std::string> data = {};
};

/// A tensor with its name in the model.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// An operator of the model, before any runtime fused or removed it.
struct Node {
  std::string name;                  ///< as in the file; may be empty
  std::string op;                    ///< "Conv"; of another domain "com.microsoft:FusedConv"
  std::vector<std::string> inputs;   ///< names of tensors; empty where one is left out
  std::vector<std::string> outputs;  ///< names of tensors; empty where nobody uses one
};

/// An immutable value; copies are cheap. Thread-safe as a const int is. The file is not kept open,
/// and weights are not kept in memory.
class Graph {
 public:
  /// Reads a model file. Code::Input if the file is missing or malformed; Code::Usage if `inputs`
  /// contradict the model.
  static Result<Graph> read(const std::string& path, const ModelInputs& inputs = {});

  [[nodiscard]] const std::string& path() const;
  /// What read() was given.
  [[nodiscard]] const ModelInputs& model_inputs() const;
  /// Without weights, in the model's order.
  [[nodiscard]] const std::vector<NamedTensor>& inputs() const;
  [[nodiscard]] const std::vector<NamedTensor>& outputs() const;
  /// In an order in which they can be executed. Bodies of If, Loop and Scan are not in it.
  [[nodiscard]] const std::vector<Node>& nodes() const;
  /// Bytes of distinct weights.
  [[nodiscard]] std::uint64_t weight_bytes() const;

 private:
  struct Impl;
  explicit Graph(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace oplat
