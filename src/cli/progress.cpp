// SPDX-License-Identifier: Apache-2.0
/// The bar.
#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/units.hpp"

namespace oplat::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kPipePause = std::chrono::seconds(10);  // a log wants to show life, not motion
constexpr std::int64_t kBarWidth = 24;

std::size_t terminal_width() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

ProgressBar::ProgressBar(const Verbosity& verbosity)
    : terminal_(::isatty(STDERR_FILENO) != 0),
      quiet_(verbosity.quiet),
      start_(Clock::now()),
      last_(start_ - kPipePause) {}
ProgressBar::~ProgressBar() { finish(); }

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
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0)
                : 0.0;
  const std::string eta =
      eta_seconds >= 0 ? fmt::format(", {} left", base::clock_text(eta_seconds)) : "";
  if (!terminal_) {
    fmt::print(stderr, "{}: {}/{} ({:.0f} %), {} elapsed{}\n", phase, done, total, 100 * share,
               base::clock_text(elapsed), eta);
    return;
  }
  const auto filled = static_cast<std::int64_t>(share * kBarWidth);
  std::string line =
      fmt::format("{} [{:#<{}}{:.<{}}] {}/{}, {} elapsed{}  {}", phase, "", filled, "",
                  kBarWidth - filled, done, total, base::clock_text(elapsed), eta, what);
  line.resize(std::min(line.size(), terminal_width() - 1));
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::erase() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

void ProgressBar::note(const std::string& text) {
  erase();
  if (!quiet_) fmt::print(stderr, "{}\n", text);
}

void ProgressBar::finish() { erase(); }

}  // namespace oplat::cli
