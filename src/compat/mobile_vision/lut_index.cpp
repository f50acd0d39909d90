// SPDX-License-Identifier: Apache-2.0
/// The index of records by identity, and what equal queries say against each other.
#include <algorithm>

#include "base/text.hpp"
#include "compat/mobile_vision/lut.hpp"

namespace oplat::compat::mobile_vision {
namespace {

constexpr double kMaxFactor = 2;
constexpr std::size_t kMaxTold = 10;
constexpr std::size_t kMaxLines = 8;

}  // namespace

std::optional<std::string> contradiction(std::span<const LutRecord* const> equal) {
  if (equal.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(
      equal.begin(), equal.end(),
      [](const LutRecord* a, const LutRecord* b) { return a->p50.us < b->p50.us; });
  if (!((*most)->p50.us > kMaxFactor * (*least)->p50.us)) return std::nullopt;
  std::vector<std::string> times;
  for (const LutRecord* record : equal) {
    if (times.size() == kMaxLines) break;
    times.push_back((record->line > 0 ? fmt::format("line {}: ", record->line) : std::string()) +
                    fmt::format("{} us", python_number(record->p50.us, record->p50.whole)));
  }
  if (equal.size() > times.size())
    times.push_back(fmt::format("and {} more", equal.size() - times.size()));
  const LutRecord& first = *equal.front();
  return fmt::format(
      "records of one query contradict each other by more than {}x: {} with input {} on {}: {}",
      kMaxFactor, base::printable(first.query.op_type),
      base::printable(python_lists(first.query.input_shapes), 200), base::printable(first.device),
      base::join(times, ", "));
}

LutIndex::LutIndex(std::span<const LutRecord> records) {
  const auto count = static_cast<std::uint32_t>(records.size());
  chains_.reserve(count);
  next_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    next_.push_back(i);
    const auto [at, is_new] =
        chains_.try_emplace(lut_identity(records[i].query, records[i].device), Chain{i, i});
    if (is_new) continue;
    next_[at->second.last] = i;
    at->second.last = i;
  }
  // In the order of the file, so that the first ten are the same ten every time.
  std::size_t contradicting = 0;
  std::vector<bool> seen(count, false);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (seen[i] || next_[i] == i) continue;
    std::vector<const LutRecord*> equal;
    for (std::uint32_t at = i;; at = next_[at]) {
      seen[at] = true;
      equal.push_back(&records[at]);
      if (next_[at] == at) break;
    }
    auto message = contradiction(equal);
    if (message && ++contradicting <= kMaxTold) contradictions_.push_back(std::move(*message));
  }
  if (contradicting > kMaxTold) {
    contradictions_.push_back(fmt::format("and {} more queries whose records contradict each other",
                                          contradicting - kMaxTold));
  }
}

std::vector<std::uint32_t> LutIndex::find(const formats::caffe2::LutQuery& query,
                                          std::string_view device) const {
  std::vector<std::uint32_t> found;
  const auto at = chains_.find(lut_identity(query, device));
  if (at == chains_.end()) return found;
  for (std::uint32_t i = at->second.first;; i = next_[i]) {
    found.push_back(i);
    if (next_[i] == i) return found;
  }
}

}  // namespace oplat::compat::mobile_vision
