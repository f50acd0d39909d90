// SPDX-License-Identifier: Apache-2.0
#include "base/truncated_list.hpp"

#include <fmt/format.h>

#include <utility>

namespace oplat::base {

void TruncatedList::add(std::string line) {
  ++count_;
  if (lines_.size() < max_) lines_.push_back(std::move(line));
}

std::string TruncatedList::text() const {
  std::string text;
  for (const std::string& line : lines_) text += "\n  " + line;
  if (count_ > lines_.size()) text += fmt::format("\n  and {} more", count_ - lines_.size());
  return text;
}

}  // namespace oplat::base
