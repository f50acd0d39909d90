// SPDX-License-Identifier: Apache-2.0
/// Steps of a fit, counted across threads for progress and interruption; and tasks dealt out to threads.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

#include "oplat/base/result.hpp"

namespace oplat::estimate {

class Steps {
 public:
  /// `tell` gets what is done and what there is in all, after every `every` steps and after the last, one call at a time;
  /// false stops the fit.
  Steps(int all, int every, std::function<bool(int done, int all)> tell) : all_(all), every_(every), tell_(std::move(tell)) {}
  /// False once the fit is to stop.
  bool step();

 private:
  std::mutex mutex_;
  int all_;
  int every_;
  int done_ = 0;
  bool stopped_ = false;
  std::function<bool(int done, int all)> tell_;
};

/// Calls task(0) to task(count - 1), in that order as far as `threads` threads allow. The first failure by number is
/// returned; tasks that have not begun when one fails are left out.
Status for_each(std::size_t count, int threads, const std::function<Status(std::size_t number)>& task);

}  // namespace oplat::estimate
