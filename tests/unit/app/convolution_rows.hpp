// SPDX-License-Identifier: Apache-2.0
/// A table of convolutions whose times follow a law, enough of them to learn from.
#pragma once

#include <optional>
#include <string>

#include "unit/estimate/small_table.hpp"

namespace oplat::app::testing {

class ConvolutionRows {
 public:
  static constexpr std::int64_t kRows = 48;

  ConvolutionRows() : folder_(test::must(base::TemporaryFolder::create("oplat-convolutions"))) {
    reopen();
    table::Device device;
    device.name = "desk";
    device_ = test::must(table_->put_device(device));
    setting_ = test::must(table_->put_setting(test::setting_of()));
    for (const int size : {7, 14, 28, 56}) {
      for (const int in : {16, 32, 64, 128}) {
        for (const int out : {16, 64, 256}) {
          table::Row row;
          row.key =
              fmt::format("Conv/11{{}}(f32[1,{0},{1},{1}],f32c[{2},{0},1,1])->(f32[1,{2},{1},{1}])",
                          in, size, out);
          row.outcome = test::timing(1000.0 + 0.01 * size * size * in * out);
          row.origin = "own";
          test::must(table_->put_row(device_, setting_, std::nullopt, row));
        }
      }
    }
  }

  [[nodiscard]] std::string path() const { return (folder_.path() / "rows.oplat").string(); }
  [[nodiscard]] table::DeviceId device() const { return device_; }
  [[nodiscard]] table::SettingId setting() const { return setting_; }
  table::Table& table() { return *table_; }
  /// Lets another writer have the table.
  void close() { table_.reset(); }
  void reopen() { table_ = test::must(table::Table::open(path(), table::Mode::Create)); }

 private:
  base::TemporaryFolder folder_;
  std::optional<table::Table> table_;
  table::DeviceId device_ = 0;
  table::SettingId setting_ = 0;
};

}  // namespace oplat::app::testing
