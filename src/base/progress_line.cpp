// SPDX-License-Identifier: Apache-2.0
#include "base/progress_line.hpp"

#include <algorithm>

#include "base/layout.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::base {
namespace {

double share_of(const ProgressLine& line) {
  if (line.total <= 0) return 0;
  return std::clamp(static_cast<double>(line.done) / static_cast<double>(line.total), 0.0, 1.0);
}

std::string eta_text(double seconds) {
  return seconds >= 0 ? fmt::format(", {} left", clock_text(seconds)) : "";
}

std::string item_text(const std::string& item) { return item.empty() ? "" : ", " + item; }

}  // namespace

std::string plain_progress(const ProgressLine& line) {
  if (line.total <= 0)
    return fmt::format("{}: {} elapsed{}", line.phase, clock_text(line.elapsed_s),
                       item_text(line.item));
  return fmt::format("{}: {}/{} ({:.0f} %), {} elapsed{}", line.phase, line.done, line.total,
                     100 * share_of(line), clock_text(line.elapsed_s), eta_text(line.left_s));
}

std::string progress_bar(const ProgressLine& line, std::size_t width) {
  constexpr std::int64_t kBarWidth = 24;
  constexpr std::size_t kMinItem = 8;
  const auto filled = static_cast<std::int64_t>(share_of(line) * kBarWidth);
  std::string text = line.total <= 0
                         ? fmt::format("{}: {} elapsed  ", line.phase, clock_text(line.elapsed_s))
                         : fmt::format("{} [{:#<{}}{:.<{}}] {}/{}, {} elapsed{}  ", line.phase, "",
                                       filled, "", kBarWidth - filled, line.done, line.total,
                                       clock_text(line.elapsed_s), eta_text(line.left_s));
  if (text.size() + kMinItem <= width)
    text += shorten_middle(line.item, width - text.size());
  else
    text.resize(std::min(text.size(), width));
  return text;
}

}  // namespace oplat::base
