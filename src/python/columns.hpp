// SPDX-License-Identifier: Apache-2.0
/// Columns: rows of a table as numpy arrays and as Arrow data, which share one memory.
///
/// The layout is Arrow's: 64-bit numbers, texts as one buffer with 64-bit offsets (large_utf8), one
/// bit of validity a value. A number that is missing is NaN in its buffer too, since numpy has no
/// validity. docs/adr/0045-python-package.md says why the export is our own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplat::python {

/// One column. Append to it, then leave it as it is: its buffers are shared.
class Column {
 public:
  enum class Kind { Int64, Float64, Text };
  Column(std::string name, Kind kind) : name_(std::move(name)), kind_(kind), offsets_{0} {}
  void add(std::int64_t value);
  void add(const std::optional<double>& value);
  void add(const std::optional<std::string_view>& value);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t nulls() const { return nulls_; }
  [[nodiscard]] bool is_valid(std::int64_t at) const {
    return (valid_[static_cast<std::size_t>(at / 8)] >> (at % 8) & 1) != 0;
  }
  [[nodiscard]] std::string_view text(std::int64_t at) const;
  /// The buffers as Arrow numbers them: validity (nullptr if nothing is missing), then values, or
  /// offsets and bytes.
  [[nodiscard]] std::vector<const void*> buffers() const;
  /// Of a column of numbers.
  [[nodiscard]] const void* values() const;

 private:
  void add_validity(bool valid);
  std::string name_;
  Kind kind_;
  std::int64_t size_ = 0;
  std::int64_t nulls_ = 0;
  std::vector<std::uint8_t> valid_;
  std::vector<std::int64_t> ints_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> offsets_;
  std::string bytes_;
};

/// Columns of equal length. Immutable once it is shared.
struct Columns {
  std::vector<Column> columns;
  std::int64_t length = 0;
};

/// What Python gets: shared, since arrays outlive it.
struct Rows {
  std::shared_ptr<const Columns> data;
};

void bind_columns(nanobind::module_& module);

}  // namespace oplat::python
