// SPDX-License-Identifier: Apache-2.0
/// How many bytes a network touches between two uses of what a kernel's cache states are about.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oplat/base/hash.hpp"
#include "oplat/table/records.hpp"

namespace oplat::predict {

/// Keeps what it counted of a key: a search asks for the same kernels again and again.
class Footprints {
 public:
  /// In bytes, beside the kernels of a plan, which stand in order of execution. Weights are used once a run: all that the
  /// network touches, `model_bytes`, lies between. Operands were written by the kernel before (views aside, which touch
  /// nothing): what that one and this one touch.
  [[nodiscard]] std::vector<double> of(const std::vector<table::PlanKernel>& kernels, double model_bytes) const;

 private:
  struct Touched {
    double bytes = 0;
    bool operands = false;  ///< the states are about those
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return static_cast<std::size_t>(base::hash64(key)); }
  };
  const Touched& touched_by(std::string_view key) const;

  mutable std::unordered_map<std::string, Touched, KeyHash, std::equal_to<>> known_;
};

}  // namespace oplat::predict
