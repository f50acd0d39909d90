// SPDX-License-Identifier: Apache-2.0
/// Which numbers vary.
#include "estimate/learned/space.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "base/result.hpp"
#include "base/text.hpp"
#include "ir/dtype.hpp"

namespace oplat::estimate {
namespace {

/// Below the logarithm of every number that a key can hold.
constexpr double kBelowAll = -100;
/// At a strange place half or twice as long is likely.
constexpr double kStrangeSpread = 0.42;
/// Beyond the rows a model is a guess: for each doubling this comes to the spread. Models of a
/// V100's small convolutions were off by 0.2 to 0.6 a doubling when they were asked for larger
/// ones.
constexpr double kSpreadPerDoubling = 0.35;
constexpr double kMaxOutside = 10;
/// Of an untrusted fit. No table has so many rows, and each slice has one at least.
constexpr std::size_t kMaxSlices = 1'000'000;

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

/// The last one is worth more than any other (states.hpp): without it hot and cold rows are one.
void cut(std::vector<std::uint32_t>& axes) {
  if (axes.size() > kMaxAxes)
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(kMaxAxes) - 1, axes.end() - 1);
}

std::vector<std::uint32_t> own_axes(const Varying& slice) {
  std::vector<std::uint32_t> axes;
  for (std::size_t i = 0; i < slice.numbers; ++i) {
    // A key may have thousands of numbers, which are not all compared with each other.
    if (axes.size() == kMaxAxes && i + 1 < slice.numbers) continue;
    if (!varies(slice, i)) continue;
    const bool known = std::any_of(axes.begin(), axes.end(),
                                   [&](std::uint32_t axis) { return repeats(slice, i, axis); });
    if (!known) axes.push_back(static_cast<std::uint32_t>(i));
  }
  cut(axes);
  return axes;
}

/// How far a coordinate lies beyond the two. That of a zero, which stands far below all others so
/// that trees can tell it, counts as one doubling below that of a one: a padding of 0 is not a
/// different world than one of 1.
double doublings_beyond(double at, double low, double high) {
  const auto level = [](double value) { return std::max(value, -std::numbers::ln2); };
  return std::max({0.0, level(low) - level(at), level(at) - level(high)}) / std::numbers::ln2;
}

/// The number whose coordinate it is.
double number_at(double coordinate) {
  return coordinate > 0.5 * kBelowAll ? std::exp(coordinate) : coordinate - kBelowAll;
}

/// What kind of the operator a slice is of, where the catalogue says it ("depthwise").
std::string_view kind_of(std::string_view slice) {
  const std::size_t first = slice.find(' ');
  if (first == std::string_view::npos) return {};
  return slice.substr(first + 1, slice.find(' ', first + 1) - first - 1);
}

/// Element type of the first operand, as a slice names it; std::nullopt where it names none.
std::optional<ir::Dtype> type_of(std::string_view slice) {
  for (std::size_t at = slice.find(' '); at != std::string_view::npos; at = slice.find(' ', at)) {
    ++at;
    std::size_t end = at;
    while (end < slice.size() && std::isalnum(static_cast<unsigned char>(slice[end])) != 0) ++end;
    std::string_view word = slice.substr(at, end - at);
    if (const auto type = ir::parse_dtype(word)) return type;
    if (word.ends_with('c')) word.remove_suffix(1);
    if (const auto type = ir::parse_dtype(word)) return type;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> index_below(std::string_view word, std::size_t limit) {
  const auto number = base::parse_int(word);
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= limit) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

bool Space::Slice::holds(const std::vector<double>& numbers_of) const {
  return std::all_of(same.begin(), same.end(), [&](const Same& each) {
    return numbers_of[each.number] == (each.as ? numbers_of[*each.as] : each.value);
  });
}

double spread_at(const Point& point, double sd_log) {
  const double spread = std::hypot(sd_log, kSpreadPerDoubling * point.outside);
  return point.strange ? std::max(spread, kStrangeSpread) : spread;
}

double coordinate(double number) { return number > 0 ? std::log(number) : kBelowAll + number; }

Space Space::learn(std::span<const ir::Description> rows) {
  std::map<std::string, Varying>
      groups;  // sorted, so that ids do not depend on the order of the rows
  for (const ir::Description& row : rows) {
    Varying& group = groups[row.slice];
    if (group.rows.empty()) {
      group.numbers = row.numbers.size();
      group.aligned = row.aligned;
    }
    if (row.numbers.size() == group.numbers) group.rows.push_back(&row);
  }
  // Convolutions of any family have one list of numbers, reductions another: how many they are
  // tells them apart.
  std::map<std::size_t, std::vector<std::uint32_t>> shared_of;
  for (const auto& [text, group] : groups) {
    if (!group.aligned) continue;
    std::vector<std::uint32_t>& shared = shared_of[group.numbers];
    for (std::size_t i = 0; i < group.numbers; ++i) {
      const auto axis = static_cast<std::uint32_t>(i);
      if (std::find(shared.begin(), shared.end(), axis) == shared.end() && varies(group, i))
        shared.push_back(axis);
    }
  }
  for (auto& [numbers, shared] : shared_of) {
    std::sort(shared.begin(), shared.end());
    cut(shared);
  }

  Space space;
  for (const auto& [text, group] : groups) {
    Slice slice;
    slice.numbers = group.numbers;
    const std::vector<std::uint32_t> axes =
        group.aligned ? shared_of[group.numbers] : own_axes(group);
    for (const std::uint32_t number : axes) {
      const auto [low, high] = std::minmax_element(
          group.rows.begin(), group.rows.end(),
          [&](const auto* a, const auto* b) { return a->numbers[number] < b->numbers[number]; });
      slice.axes.push_back(
          {number, coordinate((*low)->numbers[number]), coordinate((*high)->numbers[number])});
    }
    slice.aligned = group.aligned;
    slice.rows = static_cast<std::int64_t>(group.rows.size());
    for (std::size_t i = 0; i < group.numbers; ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      if (std::find(axes.begin(), axes.end(), number) != axes.end()) continue;
      const auto twin =
          std::find_if(axes.begin(), axes.end(),
                       [&group = group, i](std::uint32_t axis) { return repeats(group, i, axis); });
      if (!varies(group, i)) {
        slice.same.push_back({number, std::nullopt, group.rows.front()->numbers[i]});
      } else if (twin != axes.end()) {
        slice.same.push_back({number, *twin, 0});
      }
    }
    space.add(text, std::move(slice));
  }
  space.join_reaches();
  return space;
}

void Space::join_reaches() {
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<Slice::Reach>> of_kinds;
  const auto kind = [](const auto& entry) {
    return std::pair(entry.second.family, kind_of(entry.first));
  };
  for (auto& entry : slices_) {
    Slice& slice = entry.second;
    slice.reach.clear();
    for (const Slice::Axis& axis : slice.axes) slice.reach.push_back({axis.low, axis.high});
    if (!slice.aligned) continue;
    const auto [at, first] = of_kinds.emplace(kind(entry), slice.reach);
    // Aligned slices have the same axes; those of an untrusted fit may not.
    for (std::size_t i = 0; !first && i < std::min(at->second.size(), slice.reach.size()); ++i) {
      at->second[i].low = std::min(at->second[i].low, slice.reach[i].low);
      at->second[i].high = std::max(at->second[i].high, slice.reach[i].high);
    }
  }
  for (auto& entry : slices_) {
    if (!entry.second.aligned) continue;
    const std::vector<Slice::Reach>& joined = of_kinds.at(kind(entry));
    if (joined.size() == entry.second.reach.size()) entry.second.reach = joined;
  }
}

void Space::add(const std::string& text, Slice slice) {
  slice.id = static_cast<std::uint32_t>(slices_.size());
  slice.family =
      families_.emplace(ir::family_of(text), static_cast<std::uint32_t>(families_.size()))
          .first->second;
  axes_ = std::max(axes_, slice.axes.size());
  slices_.emplace(text, std::move(slice));
}

const Space::Slice* Space::relative_of(const ir::Description& description) const {
  if (!description.aligned) return nullptr;
  // One of its kind if there is any; of those the richest has most to tell, and the one of the
  // smaller number among equals.
  using Rank = std::tuple<bool, std::int64_t, std::int64_t>;
  const std::string_view family = ir::family_of(description.slice);
  const Slice* best = nullptr;
  Rank best_rank;
  for (const auto& [text, slice] : slices_) {
    if (!slice.aligned || ir::family_of(text) != family) continue;
    const Rank rank{kind_of(text) == kind_of(description.slice), slice.rows,
                    -static_cast<std::int64_t>(slice.id)};
    if (best != nullptr && rank <= best_rank) continue;
    best = &slice;
    best_rank = rank;
  }
  return best;
}

Space::Home Space::home_of(const ir::Description& description) const {
  const auto found = slices_.find(description.slice);
  const bool relative = found == slices_.end();
  const Slice* const slice = relative ? relative_of(description) : &found->second;
  return {slice != nullptr && description.numbers.size() == slice->numbers ? slice : nullptr,
          relative};
}

std::optional<ir::Dtype> Space::new_type(const ir::Description& description) const {
  if (slices_.contains(description.slice)) return std::nullopt;
  const auto type = type_of(description.slice);
  const std::string_view family = ir::family_of(description.slice);
  const bool known = std::any_of(slices_.begin(), slices_.end(), [&](const auto& entry) {
    return ir::family_of(entry.first) == family && type_of(entry.first) == type;
  });
  return known ? std::nullopt : type;
}

std::vector<Beyond> Space::beyond(const ir::Description& description) const {
  std::vector<Beyond> all;
  const Slice* const slice = home_of(description).slice;
  if (slice == nullptr) return all;
  const auto add = [&](std::uint32_t number, double low, double high) {
    const double at = coordinate(description.numbers[number]);
    const double doublings = doublings_beyond(at, low, high);
    if (doublings > 0)
      all.push_back(
          {number, description.numbers[number], number_at(low), number_at(high), doublings});
  };
  for (std::size_t i = 0; i < slice->axes.size(); ++i)
    add(slice->axes[i].number, slice->reach[i].low, slice->reach[i].high);
  for (const Slice::Same& each : slice->same) {
    const double usual = coordinate(each.as ? description.numbers[*each.as] : each.value);
    add(each.number, usual, usual);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Beyond& a, const Beyond& b) { return a.doublings > b.doublings; });
  return all;
}

std::optional<Point> Space::place(const ir::Description& description) const {
  const Home home = home_of(description);
  const Slice* const slice = home.slice;
  if (slice == nullptr) return std::nullopt;
  Point point;
  point.slice = slice->id;
  point.family = slice->family;
  point.relative = home.relative;
  point.strange = home.relative || !slice->holds(description.numbers);
  for (std::size_t i = 0; i < slice->axes.size(); ++i) {
    const Slice::Reach& reach = slice->reach[i];
    point.at[i] = coordinate(description.numbers[slice->axes[i].number]);
    point.outside = std::hypot(point.outside, doublings_beyond(point.at[i], reach.low, reach.high));
  }
  for (std::size_t i = 0; point.strange && i < slice->same.size(); ++i) {
    const Slice::Same& each = slice->same[i];
    const double usual = coordinate(each.as ? description.numbers[*each.as] : each.value);
    point.outside =
        std::hypot(point.outside,
                   doublings_beyond(coordinate(description.numbers[each.number]), usual, usual));
  }
  point.outside = std::min(point.outside, kMaxOutside);
  return point;
}

std::string Space::save() const {
  std::vector<std::pair<std::string, const Slice*>> sorted(slices_.size());
  for (const auto& [text, slice] : slices_) sorted[slice.id] = {text, &slice};
  std::string text;
  for (const auto& [name, slice] : sorted) {
    text +=
        fmt::format("{} {} {}", slice->numbers, slice->rows, slice->aligned ? "aligned" : "own");
    for (const Slice::Axis& axis : slice->axes)
      text += fmt::format(" {}:{}:{}", axis.number, axis.low, axis.high);
    for (const Slice::Same& each : slice->same) {
      text += each.as ? fmt::format(" {}@{}", each.number, *each.as)
                      : fmt::format(" {}={}", each.number, each.value);
    }
    text += '\t' + name + '\n';
  }
  return text;
}

bool Space::Slice::read(const std::vector<std::string>& words) {
  const auto count = words.size() < 3 ? std::nullopt : base::parse_int(words[0]);
  const auto of_rows = words.size() < 3 ? std::nullopt : base::parse_int(words[1]);
  if (!count || *count < 0 || *count > 4096 || !of_rows || *of_rows < 0) return false;
  if (words[2] != "aligned" && words[2] != "own") return false;
  numbers = static_cast<std::size_t>(*count);
  rows = *of_rows;
  aligned = words[2] == "aligned";
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t sign = word.find_first_of(":=@");
    const auto number = index_below(word.substr(0, sign), numbers);
    if (!number || sign == std::string_view::npos) return false;
    if (word[sign] == ':') {
      const std::size_t second = word.find(':', sign + 1);
      if (axes.size() == kMaxAxes || second == std::string_view::npos) return false;
      const auto low = base::parse_double(word.substr(sign + 1, second - sign - 1));
      const auto high = base::parse_double(word.substr(second + 1));
      if (!low || !high || !(*low <= *high)) return false;
      axes.push_back({*number, *low, *high});
    } else if (word[sign] == '@') {
      const auto as = index_below(word.substr(sign + 1), numbers);
      if (!as || same.size() >= numbers) return false;
      same.push_back({*number, as, 0});
    } else {
      const auto value = base::parse_double(word.substr(sign + 1));
      if (!value || same.size() >= numbers) return false;
      same.push_back({*number, std::nullopt, *value});
    }
  }
  return true;
}

std::optional<Space> Space::load(std::string_view text) {
  Space space;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) return std::nullopt;
    Slice slice;
    if (!slice.read(base::split(std::string_view(line).substr(0, tab), ' '))) return std::nullopt;
    if (space.slices_.contains(line.substr(tab + 1)) || space.slices_.size() == kMaxSlices)
      return std::nullopt;
    space.add(line.substr(tab + 1), std::move(slice));
  }
  space.join_reaches();
  return space;
}

}  // namespace oplat::estimate
