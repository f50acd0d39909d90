// SPDX-License-Identifier: Apache-2.0
/// Untrusted flatbuffers: a table, its fields and vectors, each place checked before it is read.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace oplat::formats::mnn {

/// A table in a flatbuffer. Keeps a view of the bytes, which must outlive it. Nothing that it
/// returns lies outside of them; what would is std::nullopt. Little-endian, as the format is.
class FlatTable {
 public:
  /// The root table; std::nullopt if the bytes hold none.
  static std::optional<FlatTable> root(std::string_view bytes) {
    const auto offset = number<std::uint32_t>(bytes, 0);
    return offset ? at(bytes, *offset) : std::nullopt;
  }

  /// A number of field `id`, or `missing` if the table leaves it out.
  template <class T>
  [[nodiscard]] std::optional<T> scalar(std::size_t id, T missing) const {
    const std::uint64_t place = field(id);
    return place == 0 ? missing : number<T>(bytes_, place);
  }

  [[nodiscard]] std::optional<FlatTable> table(std::size_t id) const {
    const auto place = target(field(id));
    return place ? at(bytes_, *place) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::string_view> text(std::size_t id) const {
    const auto found = vector(id, 1);
    if (!found) return std::nullopt;
    return bytes_.substr(static_cast<std::size_t>(found->first), found->count);
  }

  struct Vector {
    std::uint64_t first = 0;  ///< place of the first element
    std::uint32_t count = 0;
  };
  /// A vector of elements of `size` bytes, all of them inside the bytes.
  [[nodiscard]] std::optional<Vector> vector(std::size_t id, std::uint64_t size) const {
    const auto place = target(field(id));
    const auto count = place ? number<std::uint32_t>(bytes_, *place) : std::nullopt;
    if (!count) return std::nullopt;
    const Vector found{*place + sizeof(std::uint32_t), *count};
    if (found.first + size * found.count > bytes_.size()) return std::nullopt;
    return found;
  }

  /// Element `i` of a vector of numbers, or of tables.
  template <class T>
  [[nodiscard]] std::optional<T> element(const Vector& vector, std::uint32_t i) const {
    return number<T>(bytes_, vector.first + std::uint64_t{i} * sizeof(T));
  }
  [[nodiscard]] std::optional<FlatTable> table_element(const Vector& vector,
                                                       std::uint32_t i) const {
    const auto place = target(vector.first + std::uint64_t{i} * sizeof(std::uint32_t));
    return place ? at(bytes_, *place) : std::nullopt;
  }

 private:
  FlatTable(std::string_view bytes, std::uint64_t place, std::uint64_t entries, std::uint16_t size)
      : bytes_(bytes), place_(place), entries_(entries), size_(size) {}

  template <class T>
  static std::optional<T> number(std::string_view bytes, std::uint64_t place) {
    if (place > bytes.size() || bytes.size() - place < sizeof(T)) return std::nullopt;
    T value{};
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }

  /// A table begins with the distance back to its list of fields: its size in bytes, the table's,
  /// and for each field where it is in the table (0: left out).
  static std::optional<FlatTable> at(std::string_view bytes, std::uint64_t place) {
    const auto back = number<std::int32_t>(bytes, place);
    if (!back) return std::nullopt;
    const std::int64_t entries = static_cast<std::int64_t>(place) - *back;
    if (entries < 0) return std::nullopt;
    const auto size = number<std::uint16_t>(bytes, static_cast<std::uint64_t>(entries));
    constexpr std::uint16_t kHead = 4;
    if (!size || *size < kHead || *size % 2 != 0 ||
        static_cast<std::uint64_t>(entries) + *size > bytes.size())
      return std::nullopt;
    return FlatTable(bytes, place, static_cast<std::uint64_t>(entries), *size);
  }

  /// Where a field is; 0 if it is left out.
  [[nodiscard]] std::uint64_t field(std::size_t id) const {
    const std::uint64_t entry = 4 + 2 * std::uint64_t{id};
    if (entry + 2 > size_) return 0;
    const auto offset = number<std::uint16_t>(bytes_, entries_ + entry);
    return !offset || *offset == 0 ? 0 : place_ + *offset;
  }

  /// What an offset at `place` leads to.
  [[nodiscard]] std::optional<std::uint64_t> target(std::uint64_t place) const {
    const auto offset = place == 0 ? std::nullopt : number<std::uint32_t>(bytes_, place);
    if (!offset || *offset == 0) return std::nullopt;
    return place + *offset;
  }

  std::string_view bytes_;
  std::uint64_t place_;
  std::uint64_t entries_;
  std::uint16_t size_;
};

}  // namespace oplat::formats::mnn
