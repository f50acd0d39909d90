// SPDX-License-Identifier: Apache-2.0
/// A list of numbers of nodes or tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace oplat::plan::ort {

/// Most have few members, and there are many lists: those of up to kFew need no memory of their
/// own. Do not read a list that was moved from.
class Ids {
 public:
  Ids() = default;
  Ids(std::initializer_list<std::int32_t> ids) { add(ids); }
  Ids(const std::vector<std::int32_t>& ids) { add(ids); }                  // NOLINT
  operator std::vector<std::int32_t>() const { return {begin(), end()}; }  // NOLINT
  /// Until the list changes or moves.
  [[nodiscard]] std::span<const std::int32_t> span() const { return {begin(), size_}; }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  using value_type = std::int32_t;
  using const_iterator = const std::int32_t*;
  [[nodiscard]] const std::int32_t* begin() const {
    return many_.empty() ? few_.data() : many_.data();
  }
  [[nodiscard]] const std::int32_t* end() const { return begin() + size_; }
  std::int32_t* begin() { return many_.empty() ? few_.data() : many_.data(); }
  std::int32_t* end() { return begin() + size_; }
  [[nodiscard]] auto rbegin() const { return std::reverse_iterator(end()); }
  [[nodiscard]] auto rend() const { return std::reverse_iterator(begin()); }
  std::int32_t& operator[](std::size_t i) { return begin()[i]; }
  std::int32_t operator[](std::size_t i) const { return begin()[i]; }
  [[nodiscard]] std::int32_t front() const { return *begin(); }
  [[nodiscard]] std::int32_t back() const { return *(end() - 1); }

  void push_back(std::int32_t id) {
    if (many_.empty() && size_ < kFew) {
      few_[size_] = id;
    } else {
      if (many_.empty()) many_.assign(few_.begin(), few_.end());
      many_.push_back(id);
    }
    ++size_;
  }
  void pop_back() {
    if (!many_.empty()) many_.pop_back();
    --size_;
  }
  void erase(std::int32_t* at) {
    std::move(at + 1, end(), at);
    pop_back();
  }
  void resize(std::size_t size, std::int32_t fill) {
    while (size_ > size) pop_back();
    while (size_ < size) push_back(fill);
  }
  void clear() {
    many_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::size_t kFew = 4;
  template <typename List>
  void add(const List& ids) {
    for (const std::int32_t id : ids) push_back(id);
  }

  std::array<std::int32_t, kFew> few_ = {};
  std::size_t size_ = 0;
  std::vector<std::int32_t> many_;  ///< all of them, if there were ever more than kFew
};

}  // namespace oplat::plan::ort
