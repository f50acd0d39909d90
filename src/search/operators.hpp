// SPDX-License-Identifier: Apache-2.0
/// The operators by which a family executes blocks, as queries of runtime_lut.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/lut_query.hpp"
#include "search/search_space.hpp"

namespace oplat::search {

/// What flows from layer to layer.
struct Tensor {
  std::int64_t batch = 1;
  std::int64_t channels = 3;
  std::int64_t size = 0;  ///< height and width
  bool flat = false;      ///< [batch, channels], after a fully connected layer
};

struct Convolution {
  std::int64_t channels = 0;  ///< that it puts out
  std::int64_t kernel = 1;    ///< padded by half of it
  std::int64_t stride = 1;
  std::int64_t group = 1;
  bool relu = true;
};

/// Appends operators and follows the tensor through them.
class Operators {
 public:
  Operators(Family family, Tensor tensor) : family_(family), tensor_(tensor) {}

  void input();
  void conv(const Convolution& how);
  void channel_shuffle(std::int64_t group);
  /// Of the tensor with another one of its shape.
  void sum();
  void average_pool(std::int64_t kernel, std::int64_t stride);
  void fully_connected(std::int64_t channels);
  void output();

  [[nodiscard]] const Tensor& tensor() const { return tensor_; }
  [[nodiscard]] std::vector<ir::LutQuery> take() { return std::move(queries_); }

 private:
  [[nodiscard]] bool int8() const { return family_ == Family::Caffe2Int8; }
  [[nodiscard]] std::vector<std::int64_t> shape() const;
  [[nodiscard]] std::string order() const;

  Family family_;
  Tensor tensor_;
  std::vector<ir::LutQuery> queries_;
};

}  // namespace oplat::search
