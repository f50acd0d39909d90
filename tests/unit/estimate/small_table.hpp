// SPDX-License-Identifier: Apache-2.0
/// A table of a few rows in a folder of its own, for the tests of the predicting column and of
/// reports.
#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "table/table.hpp"

namespace oplat::test {

/// 2000 bytes in and out together; no catalogue entry, so no formula for its operations.
inline constexpr const char* kCopy250 = "test:copy{}(f32[250])->(f32[250])";
inline constexpr const char* kCopy1000 = "test:copy{}(f32[1000])->(f32[1000])";
inline constexpr const char* kCopy4000 = "test:copy{}(f32[4000])->(f32[4000])";
/// 2 * 512 * 512 operations, 1 MiB of weights.
inline constexpr const char* kMatMul = "MatMul/13{}(f32[1,512],f32c[512,512])->(f32[1,512])";
inline constexpr const char* kReshape =
    "Reshape/14{allowzero=0}(f32[1,1000],i64c[2]=[10,100])->(f32[10,100])";

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
inline void must(Status status) {
  if (!status) throw std::runtime_error(status.error().message);
}

inline table::Timing timing(double median_ns, double sd_log = 0.02, std::int64_t blocks = 5) {
  table::Timing t;
  t.median_ns = median_ns;
  t.sd_log = sd_log;
  // The interval says what the test calls the spread of the median: 1.959963984540054 of them to
  // each side at 95 %.
  t.ci_low_ns = median_ns * std::exp(-1.959963984540054 * sd_log);
  t.ci_high_ns = median_ns * std::exp(1.959963984540054 * sd_log);
  t.min_ns = t.p10_ns = t.p90_ns = median_ns;
  t.blocks = blocks;
  t.processes = 1;
  return t;
}

/// The same with an interval of round numbers, for tests of text.
inline table::Timing round_timing(double median_ns, double sd_log = 0.02) {
  table::Timing t = timing(median_ns, sd_log);
  t.ci_low_ns = 0.98 * median_ns;
  t.ci_high_ns = 1.02 * median_ns;
  return t;
}

/// A block of a row that was measured while other programs kept so many CPUs busy.
inline table::Block block_at_load(double value_ns, std::optional<double> other_load) {
  table::Block block;
  block.value_ns = value_ns;
  block.rounds = 10;
  block.other_load = other_load;
  return block;
}

inline table::Setting setting_of(std::int64_t threads = 1, std::string runtime = "replay",
                                 std::string version = "1.0", std::string build = "b1") {
  table::Setting setting;
  setting.runtime = std::move(runtime);
  setting.version = std::move(version);
  setting.build = std::move(build);
  setting.threads = threads;
  return setting;
}

class SmallTable {
 public:
  SmallTable()
      : folder_(must(base::TemporaryFolder::create("oplat-small-table"))),
        table_(must(table::Table::open(folder_.path() / "small.oplat", table::Mode::Create))) {}

  table::Table& table() { return table_; }
  [[nodiscard]] const table::Table& table() const { return table_; }

  table::DeviceId device(const std::string& name = "desk", std::int64_t llc_bytes = 8 << 20) {
    table::Device d;
    d.name = name;
    d.architecture = "x86_64";
    d.cores = 4;
    d.llc_bytes = llc_bytes;
    return must(table_.put_device(d));
  }
  table::SettingId setting(const table::Setting& s = setting_of()) {
    return must(table_.put_setting(s));
  }

  table::RowId row(table::DeviceId device, table::SettingId setting, const std::string& key,
                   std::optional<double> reuse_bytes, table::Outcome outcome,
                   const std::string& origin = "own") {
    table::Row r;
    r.key = key;
    r.reuse_bytes = reuse_bytes;
    r.outcome = std::move(outcome);
    r.origin = origin;
    return must(table_.put_row(device, setting, std::nullopt, r));
  }
  /// `alone`: what the campaign says of the call's core, or "" as those of earlier builds.
  void empty_call(table::DeviceId device, table::SettingId setting, std::optional<double> ns,
                  const std::string& alone = "") {
    table::Campaign campaign;
    campaign.empty_call_ns = ns;
    table::Environment environment;
    if (!alone.empty()) environment.facts[table::kEmptyCallAlone] = alone;
    must(table_.add_campaign(device, setting, campaign, environment));
  }

 private:
  base::TemporaryFolder folder_;
  table::Table table_;
};

}  // namespace oplat::test
