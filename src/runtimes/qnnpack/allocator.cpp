// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/allocator.hpp"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace oplat::runtimes::qnnpack {
namespace {

/// Of blocks and of their sizes; a block's size lies in front of it.
constexpr std::size_t kAlignment = 64;

class Pool final : public at::Allocator {
 public:
  at::DataPtr allocate(std::size_t bytes) const override {
    void* block = take(bytes);
    return {block, block, &give, at::Device(at::DeviceType::CPU)};
  }
  [[nodiscard]] at::DeleterFnPtr raw_deleter() const override { return &give; }

  static Pool& instance() {
    // Never destroyed: libtorch frees tensors of its own while the process ends.
    static auto* pool = new Pool();
    return *pool;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : free_) {
      for (std::byte* block : blocks) std::free(block - kAlignment);
    }
    free_.clear();
  }

 private:
  void* take(std::size_t bytes) const {
    if (bytes == 0) return nullptr;
    if (bytes > SIZE_MAX - 2 * kAlignment) throw std::bad_alloc();
    const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = free_.find(size); at != free_.end() && !at->second.empty()) {
        std::byte* block = at->second.back();
        at->second.pop_back();
        return block;
      }
    }
    auto* whole = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size + kAlignment));
    if (whole == nullptr) throw std::bad_alloc();
    *reinterpret_cast<std::size_t*>(whole) = size;
    return whole + kAlignment;
  }

  static void give(void* pointer) {
    if (pointer == nullptr) return;
    auto* block = static_cast<std::byte*>(pointer);
    const std::size_t size = *reinterpret_cast<const std::size_t*>(block - kAlignment);
    const Pool& pool = instance();
    const std::lock_guard lock(pool.mutex_);
    std::vector<std::byte*>& blocks = pool.free_[size];
    blocks.insert(std::upper_bound(blocks.begin(), blocks.end(), block, std::greater<>()), block);
  }

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, std::vector<std::byte*>>
      free_;  // per size, lowest address last
};

}  // namespace

void install_allocator() { c10::SetCPUAllocator(&Pool::instance()); }
void trim_allocator() { Pool::instance().trim(); }

}  // namespace oplat::runtimes::qnnpack
