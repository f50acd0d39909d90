// SPDX-License-Identifier: Apache-2.0
/// One call of libtorch with everything resolved that does not change from call to call. Includes
/// libtorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

#include "runtimes/qnnpack/constants.hpp"
#include "runtimes/qnnpack/spec.hpp"

namespace oplat::runtimes::qnnpack {

/// The operands of one call, where they stand.
class Operands {
 public:
  Operands(const std::vector<at::Tensor>& slots, std::span<const std::size_t> indices)
      : slots_(slots), indices_(indices) {}
  const at::Tensor& operator[](std::size_t i) const { return slots_[indices_[i]]; }
  [[nodiscard]] std::size_t size() const { return indices_.size(); }

 private:
  const std::vector<at::Tensor>& slots_;
  std::span<const std::size_t> indices_;
};

using Call = std::function<at::Tensor(const Operands&)>;

/// Looks operators up and packs weights. Throws what libtorch throws.
Call make_call(const Spec& spec, const Constants& constants);

}  // namespace oplat::runtimes::qnnpack
