// SPDX-License-Identifier: Apache-2.0
/// Which numbers vary.
#include "estimate/learned/space.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "oplat/base/text.hpp"

namespace oplat::estimate {
namespace {

/// Below the logarithm of every number that a key can hold.
constexpr double kBelowAll = -100;

struct Varying {
  std::vector<const ir::Description*> rows;
  std::size_t numbers = 0;
  bool aligned = false;
};

bool varies(const Varying& slice, std::size_t number) {
  const double first = slice.rows.front()->numbers[number];
  return std::any_of(slice.rows.begin(), slice.rows.end(),
                     [&](const ir::Description* row) { return row->numbers[number] != first; });
}

bool repeats(const Varying& slice, std::size_t number, std::size_t earlier) {
  return std::all_of(slice.rows.begin(), slice.rows.end(), [&](const ir::Description* row) {
    return row->numbers[number] == row->numbers[earlier];
  });
}

std::vector<std::uint32_t> own_axes(const Varying& slice) {
  std::vector<std::uint32_t> axes;
  for (std::size_t i = 0; i < slice.numbers && axes.size() < kMostAxes; ++i) {
    if (!varies(slice, i)) continue;
    const bool known = std::any_of(axes.begin(), axes.end(), [&](std::uint32_t axis) { return repeats(slice, i, axis); });
    if (!known) axes.push_back(static_cast<std::uint32_t>(i));
  }
  return axes;
}

}  // namespace

double coordinate(double number) { return number > 0 ? std::log(number) : kBelowAll + number; }

Space Space::learn(std::span<const ir::Description> rows) {
  std::map<std::string, Varying> groups;  // sorted, so that ids do not depend on the order of the rows
  for (const ir::Description& row : rows) {
    Varying& group = groups[row.slice];
    if (group.rows.empty()) {
      group.numbers = row.numbers.size();
      group.aligned = row.aligned;
    }
    if (row.numbers.size() == group.numbers) group.rows.push_back(&row);
  }
  std::vector<std::uint32_t> shared;
  for (const auto& [text, group] : groups) {
    for (std::size_t i = 0; group.aligned && i < group.numbers; ++i) {
      const auto axis = static_cast<std::uint32_t>(i);
      if (std::find(shared.begin(), shared.end(), axis) == shared.end() && varies(group, i)) shared.push_back(axis);
    }
  }
  std::sort(shared.begin(), shared.end());
  if (shared.size() > kMostAxes) shared.resize(kMostAxes);

  Space space;
  for (const auto& [text, group] : groups) {
    Slice slice;
    slice.numbers = group.numbers;
    slice.axes = group.aligned ? shared : own_axes(group);
    space.add(text, std::move(slice));
  }
  return space;
}

void Space::add(const std::string& text, Slice slice) {
  slice.id = static_cast<std::uint32_t>(slices_.size());
  axes_ = std::max(axes_, slice.axes.size());
  slices_.emplace(text, std::move(slice));
}

std::optional<Point> Space::place(const ir::Description& description) const {
  const auto found = slices_.find(description.slice);
  if (found == slices_.end() || description.numbers.size() != found->second.numbers) return std::nullopt;
  Point point;
  point.slice = found->second.id;
  for (std::size_t i = 0; i < found->second.axes.size(); ++i) {
    point.at[i] = coordinate(description.numbers[found->second.axes[i]]);
  }
  return point;
}

std::string Space::save() const {
  std::vector<std::pair<std::string, const Slice*>> sorted(slices_.size());
  for (const auto& [text, slice] : slices_) sorted[slice.id] = {text, &slice};
  std::string text;
  for (const auto& [name, slice] : sorted) {
    text += std::to_string(slice->numbers);
    for (const std::uint32_t axis : slice->axes) text += ' ' + std::to_string(axis);
    text += '\t' + name + '\n';
  }
  return text;
}

std::optional<Space> Space::load(std::string_view text) {
  Space space;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) return std::nullopt;
    Slice slice;
    bool first = true;
    for (const std::string& word : base::split(std::string_view(line).substr(0, tab), ' ')) {
      const auto number = base::parse_int(word);
      if (!number || *number < 0 || *number > 4096) return std::nullopt;
      if (first) {
        slice.numbers = static_cast<std::size_t>(*number);
      } else {
        if (static_cast<std::size_t>(*number) >= slice.numbers || slice.axes.size() == kMostAxes) return std::nullopt;
        slice.axes.push_back(static_cast<std::uint32_t>(*number));
      }
      first = false;
    }
    if (space.slices_.contains(line.substr(tab + 1))) return std::nullopt;
    space.add(line.substr(tab + 1), std::move(slice));
  }
  return space;
}

}  // namespace oplat::estimate
