// SPDX-License-Identifier: Apache-2.0
/// Bytes that one run of a model touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"
#include "ir/key.hpp"
#include "ir/moved_work.hpp"

namespace oplat::plan {

/// Of the results of one node.
struct ResultBytes {
  double bytes = 0;
  bool known = true;  ///< of all of them

  void add(std::optional<ir::Dtype> dtype, bool ranked, std::span<const ir::Dim> dims) {
    const auto elements = ranked ? ir::elements_of(dims) : std::nullopt;
    const auto bits = dtype ? ir::bits(*dtype) : std::nullopt;
    known = known && elements && bits;
    if (elements && bits) bytes += static_cast<double>(*elements) * *bits / 8;
  }
};

/// Of constants: for each the sum of what kernels read of it, at most its size. An embedding reads
/// a few rows of its table (ir::picks_constants).
class TouchedConstants {
 public:
  /// A node of this operator reads a constant of `bytes`, or picks from it for its results.
  /// Constants of one name are one.
  void add(std::uint64_t name, double bytes, std::string_view op, const ResultBytes& results) {
    const bool picks = results.known && bytes > results.bytes && ir::picks_constants(op);
    reads_.push_back({name, bytes, picks ? results.bytes : bytes});
  }

  double bytes() && {
    // Many are read once, so that sorting them takes less than a map would.
    std::sort(reads_.begin(), reads_.end(),
              [](const Read& a, const Read& b) { return a.name < b.name; });
    double sum = 0;
    for (auto at = reads_.begin(); at != reads_.end();) {
      const Read& first = *at;
      double read = 0;
      for (; at != reads_.end() && at->name == first.name; ++at) read += at->read_bytes;
      sum += std::min(first.bytes, read);
    }
    return sum;
  }

 private:
  struct Read {
    std::uint64_t name;
    double bytes;
    double read_bytes;
  };
  std::vector<Read> reads_;
};

}  // namespace oplat::plan
