// SPDX-License-Identifier: Apache-2.0
#include "base/kernel_time.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace oplat::base {
namespace {

TEST(KernelTime, IsFromAThousandthOfANanosecondToAYear) {
  for (const double ns : {1e-3, 1.0, 1e9, 3.2e16}) EXPECT_TRUE(is_kernel_time(ns)) << ns;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double ns : {0.0, -1.0, 5e-324, 9e-4, 3.3e16, kInfinity, -kInfinity,
                          std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(is_kernel_time(ns)) << ns;
}

}  // namespace
}  // namespace oplat::base
