// SPDX-License-Identifier: Apache-2.0
/// Rows with plausible keys and times, for benchmarks of tables larger than anyone has measured.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "table/table.hpp"

namespace oplat::bench {

/// The key of a 3x3 convolution; another one for each `number` below 2^20.
inline std::string made_key(std::int64_t number) {
  const std::int64_t in = 16 + number % 64 * 16;
  const std::int64_t out = 16 + number / 64 % 64 * 16;
  const std::int64_t side = 7 + number / 4096;
  return fmt::format(
      "com.microsoft.nchwc:Conv/"
      "1@block=16{{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],"
      "strides=[1,1]}}(f32[1,{0},{2},{2}],f32c[{1},{0},3,3],f32c[{1}])->(f32[1,{1},{2},{2}])",
      in, out, side);
}

inline table::Row made_row(std::int64_t number, double reuse_bytes, double factor) {
  table::Timing timing;
  timing.median_ns = factor * (10000 + static_cast<double>(number % 977) * 113);
  timing.sd_log = 0.01;
  timing.ci_low_ns = 0.99 * timing.median_ns;
  timing.ci_high_ns = 1.01 * timing.median_ns;
  timing.min_ns = timing.p10_ns = 0.98 * timing.median_ns;
  timing.p90_ns = 1.02 * timing.median_ns;
  timing.blocks = timing.processes = 5;
  table::Row row;
  row.key = made_key(number);
  row.reuse_bytes = reuse_bytes;
  row.outcome = timing;
  row.method = {.copies = 8, .topology = "chain", .flags = {}};
  return row;
}

/// A hot and a cold row for each number from `first` on.
inline Status put_made_rows(table::Table& table, table::DeviceId device, table::SettingId setting,
                            std::int64_t first, std::int64_t numbers) {
  return table.transaction([&]() -> Status {
    for (std::int64_t number = first; number < first + numbers; ++number) {
      OPLAT_CHECK(table.put_row(device, setting, std::nullopt, made_row(number, 1 << 20, 1.0)));
      OPLAT_CHECK(table.put_row(device, setting, std::nullopt, made_row(number, 256 << 20, 1.3)));
    }
    return {};
  });
}

}  // namespace oplat::bench
