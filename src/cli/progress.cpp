// SPDX-License-Identifier: Apache-2.0
/// The bar.
#include "cli/progress.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "base/layout.hpp"
#include "base/units.hpp"
#include "cli/terminal.hpp"

namespace oplat::cli {
namespace {

constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kPipePause = std::chrono::seconds(10);  // a log wants to show life, not motion
constexpr std::int64_t kBarWidth = 24;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double share_of(std::int64_t done, std::int64_t total) {
  if (total <= 0) return 0;
  return std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
}

std::string eta_text(double seconds) {
  return seconds >= 0 ? fmt::format(", {} left", base::clock_text(seconds)) : "";
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
  if (!terminal_) {
    fmt::print(stderr, "{}: {}/{} ({:.0f} %), {} elapsed{}\n", phase, done, total,
               100 * share_of(done, total), base::clock_text(seconds_between(start_, now)),
               eta_text(eta_seconds));
    return;
  }
  const std::lock_guard lock(mutex_);
  standing_ = Standing{phase, done, total, eta_seconds, what, now};
  draw();
  if (ticker_.joinable()) return;
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {
    // Without a thread to be had the bar moves with the work alone.
  }
}

void ProgressBar::draw() {
  const Standing& at = *standing_;
  const auto now = Clock::now();
  const auto filled = static_cast<std::int64_t>(share_of(at.done, at.total) * kBarWidth);
  // An estimate that has run out says nothing any more.
  const double left = at.eta_seconds - seconds_between(at.since, now);
  std::string line = fmt::format("{} [{:#<{}}{:.<{}}] {}/{}, {} elapsed{}  ", at.phase, "", filled,
                                 "", kBarWidth - filled, at.done, at.total,
                                 base::clock_text(seconds_between(start_, now)), eta_text(left));
  const std::size_t width = std::max<std::size_t>(terminal_columns(STDERR_FILENO), 1) - 1;
  constexpr std::size_t kMinItem = 8;
  if (line.size() + kMinItem <= width)
    line += base::shorten_middle(at.what, width - line.size());
  else
    line.resize(std::min(line.size(), width));
  fmt::print(stderr, "\r\x1b[K{}", line);
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
