// SPDX-License-Identifier: Apache-2.0
/// Steps of a fit, counted across threads for progress and interruption.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace oplat::estimate {

class Steps {
 public:
  /// `tell` gets what is done and what there is in all, after every `every` steps and after the
  /// last, one call at a time; false stops the fit.
  Steps(int all, int every, std::function<bool(int done, int all)> tell)
      : all_(all), every_(every), tell_(std::move(tell)) {}
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

}  // namespace oplat::estimate
