// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace oplat::base {
namespace {

TEST(Parallel, EveryTaskIsDoneOnce) {
  for (const int threads : {0, 1, 2, 5}) {
    std::vector<std::atomic<int>> done(100);
    ASSERT_TRUE(for_each(done.size(), threads, [&](std::size_t i) -> Status {
      ++done[i];
      return {};
    }));
    EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; }))
        << threads << " threads";
  }
}

TEST(Parallel, TheFirstFailureByNumberIsTold) {
  const Status status = for_each(1000, 2, [](std::size_t i) -> Status {
    if (i == 3 || i == 4) return fail(Code::Input, "task {}", i);
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "task 3");
}

TEST(Parallel, NoTaskBeginsAfterAFailure) {
  int begun = 0;
  const Status status = for_each(1000, 1, [&](std::size_t i) -> Status {
    ++begun;
    if (i == 3) return fail(Code::Input, "task {}", i);
    return {};
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(begun, 4);
}

TEST(Parallel, PartsCoverEveryRowOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1023},
                                  std::size_t{1024}, std::size_t{100'001}}) {
    for (const int threads : {-1, 1, 2, 7}) {
      std::vector<int> done(count);
      for_parts(count, threads, [&](std::size_t begin, std::size_t end) {
        ASSERT_LE(end, count);
        for (std::size_t i = begin; i < end; ++i) ++done[i];
      });
      EXPECT_TRUE(std::ranges::all_of(done, [](int times) { return times == 1; }))
          << count << " rows, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace oplat::base
