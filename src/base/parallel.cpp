// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace oplat::base {
namespace {

/// Rows below which a further thread costs more than it takes over.
constexpr std::size_t kMinPart = 1024;

}  // namespace

int usable_cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Status for_each(std::size_t count, int threads,
                const std::function<Status(std::size_t number)>& task) {
  std::vector<Status> results(count);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    while (!failed) {
      const std::size_t number = next++;
      if (number >= count) return;
      results[number] = task(number);
      if (!results[number]) failed = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i)
      others.emplace_back(work);
    work();
  }
  for (const Status& result : results) OPLAT_CHECK(result);
  return {};
}

void for_parts(std::size_t count, int threads,
               const std::function<void(std::size_t begin, std::size_t end)>& part) {
  // More parts than threads: a thread whose core is shared does fewer of them.
  const std::size_t size =
      std::max(kMinPart, count / (static_cast<std::size_t>(std::max(threads, 1)) * 8) + 1);
  const auto one = [&](std::size_t number) -> Status {
    part(number * size, std::min(count, (number + 1) * size));
    return {};
  };
  static_cast<void>(for_each((count + size - 1) / size, threads, one));
}

}  // namespace oplat::base
