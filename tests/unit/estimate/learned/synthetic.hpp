// SPDX-License-Identifier: Apache-2.0
/// Convolutions of a machine that we made up: its times follow a formula, so that a test knows the
/// truth.
#pragma once

#include <cmath>

#include <string>
#include <vector>

#include "compat/tinynas/conv_tuple.hpp"
#include "ir/description.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::test {

struct SyntheticRow {
  compat::tinynas::ConvTuple conv;
  std::string key;
  ir::Description description;
  double log_ns = 0;
};

/// Eight units work off tiles of 64 x 64; a fused sum costs its bytes, a launch 5 us.
inline double synthetic_ns(const compat::tinynas::ConvTuple& conv) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double out_h = number(conv.in_h / conv.stride);
  const double rows = number(conv.batch) * out_h * out_h;
  const double inner = number(conv.in_c * conv.kernel * conv.kernel);
  const double tiles = std::ceil(rows / 64) * std::ceil(number(conv.out_c) / 64);
  const double waves = std::ceil(tiles / 8);
  const double sum = conv.fused ? rows * number(conv.out_c) * 0.004 : 0;
  return 5e3 + waves * 64 * 64 * inner * 0.01 + sum;
}

inline SyntheticRow synthetic_row(const compat::tinynas::ConvTuple& conv) {
  SyntheticRow row;
  row.conv = conv;
  row.key = compat::tinynas::key_text_of(conv, ir::Dtype::F32);
  row.description = ir::describe(ir::parse(row.key).value()).value();
  row.log_ns = std::log(synthetic_ns(conv));
  return row;
}

inline compat::tinynas::ConvTuple square(std::int64_t batch, std::int64_t in_c, std::int64_t in_h,
                                         std::int64_t out_c, std::int64_t kernel, bool fused) {
  compat::tinynas::ConvTuple conv;
  conv.batch = batch;
  conv.in_c = in_c;
  conv.in_h = conv.in_w = in_h;
  conv.out_c = out_c;
  conv.kernel = kernel;
  conv.fused = fused;
  return conv;
}

/// 5 heights, 4 widths, 2 ratios, 2 kernels, 2 batches, fused where as many channels come out as go
/// in: 240 rows. Made once.
inline const std::vector<SyntheticRow>& synthetic_rows() {
  static const std::vector<SyntheticRow> all = [] {
    std::vector<SyntheticRow> rows;
    for (const std::int64_t batch : {1, 8}) {
      for (const std::int64_t height : {7, 14, 20, 28, 56}) {
        for (const std::int64_t channels : {32, 64, 128, 256}) {
          for (const std::int64_t kernel : {1, 3}) {
            rows.push_back(synthetic_row(square(batch, channels, height, channels, kernel, false)));
            rows.push_back(synthetic_row(square(batch, channels, height, channels, kernel, true)));
            rows.push_back(
                synthetic_row(square(batch, channels / 2, height, channels, kernel, false)));
          }
        }
      }
    }
    return rows;
  }();
  return all;
}

}  // namespace oplat::test
