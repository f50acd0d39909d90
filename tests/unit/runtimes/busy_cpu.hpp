// SPDX-License-Identifier: Apache-2.0
/// A CPU that another program keeps to itself, for tests of what is seen of that.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtimes/probe.h"

namespace oplat::runtimes {

/// Keeps the caller on one of two CPUs and the other busy with a real-time thread for half a second
/// at most, until it is destroyed.
class BusyCpu {
 public:
  BusyCpu() {
    if (::sched_getaffinity(0, sizeof usable_, &usable_) != 0 || CPU_COUNT(&usable_) != 2) return;
    oplat_probe_cores best{};
    (void)oplat_probe_apart(2, &best);
    if (best.issue_ns == 0) return;  // hardware threads of one core: never asked about
    const int here = ::sched_getcpu();
    if (oplat_probe_pin(here) != 0) return;
    pinned_ = true;
    int other = 0;
    while (other == here || !CPU_ISSET(static_cast<std::size_t>(other), &usable_)) ++other;
    thread_ = std::thread([this, other] { keep_busy(other); });
    while (state_ == State::Starting) std::this_thread::yield();
  }
  BusyCpu(const BusyCpu&) = delete;
  BusyCpu& operator=(const BusyCpu&) = delete;
  ~BusyCpu() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    if (pinned_) (void)::sched_setaffinity(0, sizeof usable_, &usable_);
  }
  /// False on a machine of other than two cores, and where real-time threads are not allowed.
  [[nodiscard]] bool works() const { return state_ == State::Busy; }

 private:
  enum class State { Starting, Busy, Refused };

  void keep_busy(int cpu) {
    // First where it is to run, before it lets nobody else run.
    const sched_param highest{.sched_priority = ::sched_get_priority_max(SCHED_FIFO)};
    if (oplat_probe_pin(cpu) != 0 ||
        ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &highest) != 0) {
      state_ = State::Refused;
      return;
    }
    state_ = State::Busy;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (!over_ && std::chrono::steady_clock::now() < end) {
    }
  }

  cpu_set_t usable_{};
  bool pinned_ = false;
  std::atomic<State> state_ = State::Starting;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace oplat::runtimes
