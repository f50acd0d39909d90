// SPDX-License-Identifier: Apache-2.0
/// The .npy format, version 1.0 (NumPy Enhancement Proposal 1), within PKWARE's zip, method
/// "stored".
#include "search/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace oplat::search {
namespace {

template <class T>
void put(std::string& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    to.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
}

std::uint32_t crc32(std::string_view data) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320U & (0U - (crc & 1U)));
      made[i] = crc;
    }
    return made;
  }();
  std::uint32_t crc = ~0U;
  for (const char c : data) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
  return ~crc;
}

constexpr std::uint16_t kVersion = 20;           // of zip: 2.0
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980, the earliest that zip can say

/// What local and central headers share.
void put_common(std::string& to, std::uint32_t crc, std::uint32_t size, std::string_view name) {
  put(to, kVersion);
  put(to, std::uint16_t{0});  // flags
  put(to, std::uint16_t{0});  // stored
  put(to, std::uint16_t{0});  // midnight
  put(to, kFirstDay);
  put(to, crc);
  put(to, size);
  put(to, size);
  put(to, static_cast<std::uint16_t>(name.size()));
  put(to, std::uint16_t{0});  // no extra field
}

}  // namespace

void Npz::add(std::string_view name, const Shape& shape, std::span<const double> values) {
  std::string data;
  data.reserve(values.size() * sizeof(double));
  for (const double value : values) put(data, std::bit_cast<std::uint64_t>(value));
  add_npy(name, "<f8", shape, data);
}

void Npz::add(std::string_view name, const Shape& shape, std::span<const std::int64_t> values) {
  std::string data;
  data.reserve(values.size() * sizeof(std::int64_t));
  for (const std::int64_t value : values) put(data, value);
  add_npy(name, "<i8", shape, data);
}

void Npz::add_bools(std::string_view name, const Shape& shape,
                    std::span<const std::uint8_t> values) {
  std::string data;
  for (const std::uint8_t value : values) data.push_back(value != 0 ? '\1' : '\0');
  add_npy(name, "|b1", shape, data);
}

void Npz::add_texts(std::string_view name, std::span<const std::string> texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string data;
  for (const std::string& text : texts) {
    for (std::size_t i = 0; i < longest; ++i)
      put(data,
          static_cast<std::uint32_t>(i < text.size() ? static_cast<unsigned char>(text[i]) : 0U));
  }
  add_npy(name, fmt::format("<U{}", longest), {texts.size()}, data);
}

void Npz::add_npy(std::string_view name, std::string_view type, const Shape& shape,
                  std::string_view data) {
  std::string dims;
  for (const std::size_t dim : shape) dims += fmt::format("{}, ", dim);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, dims);
  constexpr std::size_t kPreamble = 10;
  constexpr std::size_t kAlignment = 64;
  header.resize(
      (kPreamble + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPreamble - 1,
      ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += '\1';
  file += '\0';
  put(file, static_cast<std::uint16_t>(header.size()));
  file += header;
  file += data;

  Entry entry;
  entry.name = fmt::format("{}.npy", name);
  entry.crc = crc32(file);
  entry.size = static_cast<std::uint32_t>(file.size());
  entry.offset = static_cast<std::uint32_t>(files_.size());
  files_ += "PK\3\4";
  put_common(files_, entry.crc, entry.size, entry.name);
  files_ += entry.name;
  files_ += file;
  entries_.push_back(std::move(entry));
}

std::string Npz::bytes() const {
  std::string all = files_;
  for (const Entry& entry : entries_) {
    all += "PK\1\2";
    put(all, kVersion);  // made by
    put_common(all, entry.crc, entry.size, entry.name);
    put(all, std::uint16_t{0});  // no comment
    put(all, std::uint16_t{0});  // first disk
    put(all, std::uint16_t{0});  // attributes
    put(all, std::uint32_t{0});
    put(all, entry.offset);
    all += entry.name;
  }
  const std::size_t directory = all.size() - files_.size();
  all += "PK\5\6";
  put(all, std::uint32_t{0});  // this disk, the directory's disk
  put(all, static_cast<std::uint16_t>(entries_.size()));
  put(all, static_cast<std::uint16_t>(entries_.size()));
  put(all, static_cast<std::uint32_t>(directory));
  put(all, static_cast<std::uint32_t>(files_.size()));
  put(all, std::uint16_t{0});  // no comment
  return all;
}

}  // namespace oplat::search
