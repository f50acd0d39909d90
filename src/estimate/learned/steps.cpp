// SPDX-License-Identifier: Apache-2.0
/// A counter and a few threads.
#include "estimate/learned/steps.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace oplat::estimate {

bool Steps::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (!stopped_ && tell_ && (done_ % every_ == 0 || done_ == all_)) stopped_ = !tell_(std::min(done_, all_), all_);
  return !stopped_;
}

Status for_each(std::size_t count, int threads, const std::function<Status(std::size_t number)>& task) {
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
    for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i) others.emplace_back(work);
    work();
  }
  for (const Status& result : results) OPLAT_CHECK(result);
  return {};
}

}  // namespace oplat::estimate
