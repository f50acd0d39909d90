// SPDX-License-Identifier: Apache-2.0
/// The bar.
#include "cli/progress.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "cli/terminal.hpp"

namespace oplat::cli {
namespace {

constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kPipePause = std::chrono::seconds(10);  // a log wants to show life, not motion

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

ProgressBar::ProgressBar(const Verbosity& verbosity)
    : terminal_(::isatty(STDERR_FILENO) != 0),
      quiet_(verbosity.quiet),
      start_(Clock::now()),
      last_(start_ - kPipePause) {}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    erase();
    stop_ = true;
  }
  ended_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void ProgressBar::update(const std::string& phase, std::int64_t done, std::int64_t total,
                         double eta_seconds, const std::string& what) {
  if (quiet_) return;
  const auto now = Clock::now();
  const bool new_phase = phase != phase_;
  if (!new_phase &&
      now - last_ < (terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kPipePause)))
    return;
  last_ = now;
  phase_ = phase;
  base::ProgressLine line{phase, done, total, seconds_between(start_, now), eta_seconds, what};
  if (!terminal_) {
    fmt::print(stderr, "{}\n", base::plain_progress(line));
    return;
  }
  const std::lock_guard lock(mutex_);
  standing_ = Standing{std::move(line), now};
  draw();
  if (ticker_.joinable()) return;
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {
    // Without a thread to be had the bar moves with the work alone.
  }
}

void ProgressBar::draw() {
  const auto now = Clock::now();
  base::ProgressLine line = standing_->line;
  line.elapsed_s = seconds_between(start_, now);
  line.left_s -= seconds_between(standing_->since, now);
  const std::size_t width = std::max<std::size_t>(terminal_columns(STDERR_FILENO), 1) - 1;
  fmt::print(stderr, "\r\x1b[K{}", base::progress_bar(line, width));
  std::fflush(stderr);
}

void ProgressBar::tick() {
  // Signals are for the thread that works.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    ended_.wait_for(lock, kTick);
    if (!stop_ && standing_) draw();
  }
}

void ProgressBar::erase() {
  if (!standing_) return;
  standing_.reset();
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void ProgressBar::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  if (!quiet_) fmt::print(stderr, "{}\n", fitted_message(text));
}

void ProgressBar::finish() {
  const std::lock_guard lock(mutex_);
  erase();
}

}  // namespace oplat::cli
