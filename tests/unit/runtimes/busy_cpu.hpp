// SPDX-License-Identifier: Apache-2.0
/// A CPU that another program keeps to itself, for tests of what is seen of that.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "oplat/runtimes/probe.h"

namespace oplat::runtimes {

/// Keeps one of two CPUs, not the caller's, busy with a real-time thread for half a second at most, until it is destroyed.
class BusyCpu {
 public:
  BusyCpu() {
    cpu_set_t usable;
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) != 2) return;
    here_ = ::sched_getcpu();
    int other = 0;
    while (other == here_ || !CPU_ISSET(static_cast<std::size_t>(other), &usable)) ++other;
    thread_ = std::thread([this, other] { keep_busy(other); });
    while (state_ == State::Starting) std::this_thread::yield();
  }
  BusyCpu(const BusyCpu&) = delete;
  BusyCpu& operator=(const BusyCpu&) = delete;
  ~BusyCpu() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// False on a machine of other than two CPUs, and where real-time threads are not allowed.
  [[nodiscard]] bool works() const { return state_ == State::Busy; }
  /// Where the caller was.
  [[nodiscard]] int here() const { return here_; }

 private:
  enum class State { Starting, Busy, Refused };

  void keep_busy(int cpu) {
    const sched_param highest{.sched_priority = ::sched_get_priority_max(SCHED_FIFO)};
    if (oplat_probe_pin(cpu) != 0 || ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &highest) != 0) {
      state_ = State::Refused;
      return;
    }
    state_ = State::Busy;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (!over_ && std::chrono::steady_clock::now() < end) {
    }
  }

  int here_ = 0;
  std::atomic<State> state_ = State::Starting;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace oplat::runtimes
