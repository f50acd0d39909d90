// SPDX-License-Identifier: Apache-2.0
/// Which rows of a table are measured again.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "ir/catalogue.hpp"
#include "ir/key.hpp"
#include "ir/work.hpp"
#include "measure/states.hpp"
#include "measure/verify.hpp"
#include "table/memory_text.hpp"

namespace oplat::measure {
namespace {

constexpr double kLongestNs = 100e6;
/// Of a table of any size a sample of this many rows is looked at closely, of an untrusted one none
/// with an endless key.
constexpr std::size_t kMaxCandidates = 20'000;
constexpr std::size_t kLongestKey = 8192;

struct Candidate {
  VerifyRow row;
  std::size_t setting = 0;                    ///< place in the list of settings
  std::size_t op = 0, decade = 0, state = 0;  ///< numbers of its classes
  bool taken = false;
};

/// Numbers for names, in order of appearance.
class Numbering {
 public:
  std::size_t of(const std::string& name) {
    return numbers_.emplace(name, numbers_.size()).first->second;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// Today's name of the cache state of a row; std::nullopt if such a state is no longer measured.
std::optional<std::string> state_name(double reuse_bytes, const ir::Work& work,
                                      const table::Device& device, const Memory& memory) {
  if (reuse_bytes == measure::hot_state(work).reuse_bytes)
    return measure::name(measure::CacheState::Hot);
  for (const measure::State& state : measure::further_states(work, device, memory)) {
    if (reuse_bytes == state.reuse_bytes) return measure::name(state.kind);
  }
  return std::nullopt;
}

/// Whether the row is one that can be measured again as it was.
bool fits(const table::Row& row) {
  return row.origin == "own" && row.reuse_bytes && row.key.size() <= kLongestKey &&
         std::holds_alternative<table::Timing>(row.outcome) &&
         std::get<table::Timing>(row.outcome).median_ns > 0 && !row.method.has("failed_later");
}

/// Rows of the device and settings, one for each (key, state), a fair sample of them where there
/// are very many.
Result<std::vector<Candidate>> candidates(const table::Table& table, table::DeviceId device,
                                          std::span<const table::SettingId> settings,
                                          base::Random& random) {
  std::vector<Candidate> found;
  std::unordered_map<std::string, std::size_t> place;
  std::uint64_t seen = 0;
  const table::RowFilter timed{device, {{settings.begin(), settings.end()}}, true};
  const Status status = table.each_row(timed, [&](const table::StoredRow& stored) {
    const auto setting = std::find(settings.begin(), settings.end(), stored.setting);
    if (!fits(stored.row)) return true;
    Candidate candidate;
    candidate.row.key = stored.row.key;
    candidate.row.reuse_bytes = *stored.row.reuse_bytes;
    candidate.row.before = std::get<table::Timing>(stored.row.outcome);
    candidate.row.under_load = stored.row.method.has(table::kUnderLoad);
    candidate.setting = static_cast<std::size_t>(setting - settings.begin());
    const std::string name = fmt::format("{} {}", *stored.row.reuse_bytes, stored.row.key);
    if (const auto same = place.find(name); same != place.end()) {
      Candidate& other = found[same->second];
      if (candidate.setting < other.setting) other = std::move(candidate);
      return true;
    }
    ++seen;
    if (found.size() < kMaxCandidates) {
      place.emplace(name, found.size());
      found.push_back(std::move(candidate));
    } else if (const std::uint64_t at = random.below(seen); at < kMaxCandidates) {
      Candidate& old = found[static_cast<std::size_t>(at)];
      place.erase(fmt::format("{} {}", old.row.reuse_bytes, old.row.key));
      place.emplace(name, static_cast<std::size_t>(at));
      old = std::move(candidate);
    }
    return true;
  });
  OPLAT_CHECK(status);
  return found;
}

/// Takes again and again the row whose operator, decade and state were taken least.
class Chooser {
 public:
  explicit Chooser(const std::vector<Candidate>& all) {
    for (const Candidate& candidate : all) {
      ops_.resize(std::max(ops_.size(), candidate.op + 1));
      decades_.resize(std::max(decades_.size(), candidate.decade + 1));
      states_.resize(std::max(states_.size(), candidate.state + 1));
    }
  }
  /// Rows are taken in place until `most` are; among equals the first.
  void take(std::vector<Candidate>& all, bool long_ones, std::size_t most,
            std::vector<VerifyRow>& to) {
    while (to.size() < most) {
      Candidate* best = nullptr;
      for (Candidate& candidate : all) {
        const bool is_long = candidate.row.before.median_ns > kLongestNs;
        if (candidate.taken || is_long != long_ones) continue;
        if (best == nullptr || taken_like(candidate) < taken_like(*best)) best = &candidate;
      }
      if (best == nullptr) return;
      best->taken = true;
      ++ops_[best->op];
      ++decades_[best->decade];
      ++states_[best->state];
      to.push_back(best->row);
    }
  }

 private:
  [[nodiscard]] std::size_t taken_like(const Candidate& c) const {
    return ops_[c.op] + decades_[c.decade] + states_[c.state];
  }
  std::vector<std::size_t> ops_, decades_, states_;
};

}  // namespace

Result<std::vector<VerifyRow>> choose_rows(const table::Table& table, table::DeviceId device,
                                           std::span<const table::SettingId> settings,
                                           std::size_t most, std::uint64_t seed,
                                           const ir::Catalogue& catalogue) {
  OPLAT_TRY(devices, table.devices());
  table::Device facts;
  for (const auto& [id, each] : devices) {
    if (id == device) facts = each;
  }
  Memory memory;
  if (!settings.empty()) {
    OPLAT_TRY(sizes, table::sizes_of_states(table, device, settings.front()));
    memory = std::move(sizes.memory);
  }
  base::Random random(base::mix_seed(seed, base::hash64("verify")));
  OPLAT_TRY(found, candidates(table, device, settings, random));
  Numbering ops, decades, states;
  std::vector<Candidate> usable;
  for (Candidate& candidate : found) {
    const Result<ir::Key> key = ir::parse(candidate.row.key);
    if (!key || ir::has_unknown(*key)) continue;
    if (ir::is_view(*key, catalogue)) continue;
    const std::optional<std::string> state =
        state_name(candidate.row.reuse_bytes, ir::work(*key, catalogue), facts, memory);
    if (!state) continue;
    candidate.row.op = key->op;
    candidate.row.state = *state;
    candidate.op = ops.of(candidate.row.op);
    candidate.state = states.of(candidate.row.state);
    candidate.decade =
        decades.of(std::to_string(std::floor(std::log10(candidate.row.before.median_ns))));
    usable.push_back(std::move(candidate));
  }
  base::shuffle(usable, random);
  std::vector<VerifyRow> chosen;
  Chooser chooser(usable);
  chooser.take(usable, false, most, chosen);
  chooser.take(usable, true, most, chosen);
  return chosen;
}

}  // namespace oplat::measure
