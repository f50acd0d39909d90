// SPDX-License-Identifier: Apache-2.0
/// The tensor that flows through the steps of a block, whatever the family.
#include "search/family.hpp"

namespace oplat::search {
namespace {

/// Rows that a window leaves.
std::int64_t slid(std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t stride) {
  return (size + 2 * pad - kernel) / stride + 1;
}

}  // namespace

void Operators::conv(const Convolution& how) {
  family_->conv(tensor_, how, kernels_);
  tensor_.channels = how.channels;
  tensor_.size = slid(tensor_.size, how.kernel, how.kernel / 2, how.stride);
}

void Operators::average_pool(std::int64_t kernel, std::int64_t stride) {
  family_->average_pool(tensor_, kernel, stride, kernels_);
  tensor_.size = slid(tensor_.size, kernel, 0, stride);
}

void Operators::fully_connected(std::int64_t channels) {
  family_->fully_connected(tensor_, channels, kernels_);
  tensor_ = {tensor_.batch, channels, 1, true};
}

}  // namespace oplat::search
