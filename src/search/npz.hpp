// SPDX-License-Identifier: Apache-2.0
/// Arrays as NumPy's .npz: a zip, nothing compressed, of one .npy an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::search {

/// The same arrays give the same bytes: entries carry no time of day.
class Npz {
 public:
  using Shape = std::vector<std::size_t>;
  /// `values` in C order, as many as `shape` says; an empty shape is a single number.
  void add(std::string_view name, const Shape& shape, std::span<const double> values);
  void add(std::string_view name, const Shape& shape, std::span<const std::int64_t> values);
  /// One byte a value, 0 or 1.
  void add_bools(std::string_view name, const Shape& shape, std::span<const std::uint8_t> values);
  /// A list of ASCII texts.
  void add_texts(std::string_view name, std::span<const std::string> texts);
  [[nodiscard]] std::string bytes() const;

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint32_t size = 0;
    std::uint32_t offset = 0;
  };
  void add_npy(std::string_view name, std::string_view type, const Shape& shape,
               std::string_view data);

  std::string files_;
  std::vector<Entry> entries_;
};

}  // namespace oplat::search
