// SPDX-License-Identifier: Apache-2.0
/// A counter for several threads.
#include "estimate/learned/steps.hpp"

#include <algorithm>

namespace oplat::estimate {

bool Steps::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (!stopped_ && tell_ && (done_ % every_ == 0 || done_ == all_))
    stopped_ = !tell_(std::min(done_, all_), all_);
  return !stopped_;
}

}  // namespace oplat::estimate
