// SPDX-License-Identifier: Apache-2.0
/// Independent tasks dealt out to a few threads.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.hpp"

namespace oplat::base {

/// Cores that this process may use, at least 1.
int usable_cores();

/// Calls task(0) to task(count - 1), in that order as far as `threads` threads allow. The first
/// failure by number is returned; tasks that have not begun when one fails are left out.
Status for_each(std::size_t count, int threads,
                const std::function<Status(std::size_t number)>& task);

/// Calls part(begin, end) for ranges that together are 0 to count, each in one call, on up to
/// `threads` threads. For work on rows, too little of it each to be dealt out one by one. A part
/// writes nothing but what belongs to its rows, and throws nothing.
void for_parts(std::size_t count, int threads,
               const std::function<void(std::size_t begin, std::size_t end)>& part);

}  // namespace oplat::base
