// SPDX-License-Identifier: Apache-2.0
#include "table/memory_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.hpp"

namespace oplat::table {
namespace {

using MemoryJson = nlohmann::ordered_json;

constexpr std::size_t kMaxMemoryPoints = 1000;
constexpr std::size_t kMaxLevels = 3;
constexpr std::size_t kMaxMemoryWaits = 64;
constexpr double kMaxMemoryWaitNs = 1e12;
constexpr double kMaxMemoryBytes = 1e18;
constexpr double kMaxLineNs = 1e9;

MemoryJson ramp_text(const std::optional<MemoryRamp>& ramp) {
  if (!ramp) return nullptr;
  return MemoryJson::array({ramp->lo_bytes, ramp->hi_bytes});
}

/// Reads values, keeping the first complaint.
class MemoryReader {
 public:
  /// Above 0.
  double number(const MemoryJson& value, const char* what, double most) {
    const double found = value.is_number() ? value.get<double>() : 0;
    if (found > 0 && found <= most) return found;
    return complain(what, "holds something other than positive numbers"), 1;
  }
  std::vector<double> numbers(const MemoryJson& value, const char* what, std::size_t count,
                              double most) {
    std::vector<double> found;
    if (!value.is_array() || value.size() != count) {
      complain(what, fmt::format("is not a list of {} numbers", count));
      return std::vector<double>(count, 1);
    }
    for (const MemoryJson& each : value) found.push_back(number(each, what, most));
    return found;
  }
  std::optional<MemoryRamp> ramp(const MemoryJson& object, const char* name) {
    const MemoryJson* value = member(object, name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    const std::vector<double> ends = numbers(*value, name, 2, kMaxMemoryBytes);
    if (complaint_.empty() && !(ends[0] < ends[1])) complain(name, "does not increase");
    return MemoryRamp{ends[0], ends[1]};
  }
  /// Its time may be 0, unlike all other numbers.
  MemoryWait wait(const MemoryJson& entry) {
    MemoryWait read{1, 0, 1};
    if (!entry.is_array() || entry.size() != 3)
      return complain("waits", "is not made of lists of 3 numbers"), read;
    read.pool_bytes = static_cast<std::int64_t>(number(entry[0], "waits", kMaxMemoryBytes));
    if (entry[1] != 0) read.wait_ns = number(entry[1], "waits", kMaxMemoryWaitNs);
    read.chase_ns = number(entry[2], "waits", kMaxLineNs);
    return read;
  }
  const MemoryJson* member(const MemoryJson& object, const char* name) {
    const auto at = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || at == object.end()) {
      complain(name, "is missing");
      return nullptr;
    }
    return &*at;
  }
  void complain(const char* name, std::string_view what) {
    if (complaint_.empty()) complaint_ = fmt::format("\"{}\" {}", name, what);
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  std::string complaint_;
};

/// The members of a list of at most so many.
const MemoryJson& entries(MemoryReader& reader, const MemoryJson& object, const char* name,
                          std::size_t most) {
  static const MemoryJson none = MemoryJson::array();
  const MemoryJson* value = reader.member(object, name);
  if (value == nullptr) return none;
  if (value->is_array() && value->size() <= most) return *value;
  reader.complain(name, fmt::format("is not a list of at most {}", most));
  return none;
}

}  // namespace

std::string encode(const MemoryHierarchy& hierarchy) {
  MemoryJson points = MemoryJson::array();
  for (const MemoryPoint& point : hierarchy.points)
    points.push_back({point.pool_bytes, point.stream_ns, point.chase_ns, point.stream_high_ns,
                      point.chase_high_ns});
  MemoryJson levels = MemoryJson::array();
  for (const MemoryLevel& level : hierarchy.levels)
    levels.push_back({{"usable_bytes", level.capacity_bytes ? MemoryJson(*level.capacity_bytes)
                                                            : MemoryJson(nullptr)},
                      {"stream_ns", level.stream_ns},
                      {"chase_ns", level.chase_ns}});
  MemoryJson last = nullptr;
  if (hierarchy.last)
    last = {{"chase", ramp_text(hierarchy.last->chase)},
            {"stream", ramp_text(hierarchy.last->stream)},
            {"middle", ramp_text(hierarchy.last->middle)},
            {"disturbed", ramp_text(hierarchy.last->disturbed)}};
  MemoryJson json = {{"schema", kMemoryFormat},
                     {"points", std::move(points)},
                     {"levels", std::move(levels)},
                     {"own", ramp_text(hierarchy.own)},
                     {"last", std::move(last)},
                     {"scrub_bytes", hierarchy.scrub_bytes ? MemoryJson(*hierarchy.scrub_bytes)
                                                           : MemoryJson(nullptr)}};
  // Those of an earlier oplat lack it.
  if (!hierarchy.waits.empty()) json["waits"] = MemoryJson::array();
  for (const MemoryWait& wait : hierarchy.waits)
    json["waits"].push_back({wait.pool_bytes, wait.wait_ns, wait.chase_ns});
  return json.dump();
}

Result<MemoryHierarchy> decode_memory(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return fail(Code::Input, "the memory of a campaign: {}", why);
  };
  const MemoryJson json = MemoryJson::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object() || json.value("schema", MemoryJson()) != MemoryJson(kMemoryFormat))
    return bad("is not a known format");
  MemoryReader reader;
  MemoryHierarchy found;
  for (const MemoryJson& entry : entries(reader, json, "points", kMaxMemoryPoints)) {
    const std::vector<double> numbers = reader.numbers(entry, "points", 5, kMaxMemoryBytes);
    found.points.push_back(
        {static_cast<std::int64_t>(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4]});
  }
  for (const MemoryJson& entry : entries(reader, json, "levels", kMaxLevels)) {
    MemoryLevel level;
    const MemoryJson* usable = reader.member(entry, "usable_bytes");
    if (usable != nullptr && !usable->is_null())
      level.capacity_bytes = reader.number(*usable, "usable_bytes", kMaxMemoryBytes);
    if (const MemoryJson* ns = reader.member(entry, "stream_ns"))
      level.stream_ns = reader.number(*ns, "stream_ns", kMaxLineNs);
    if (const MemoryJson* ns = reader.member(entry, "chase_ns"))
      level.chase_ns = reader.number(*ns, "chase_ns", kMaxLineNs);
    found.levels.push_back(level);
  }
  for (std::size_t i = 0; i < found.levels.size(); ++i) {
    if (found.levels[i].capacity_bytes.has_value() == (i + 1 == found.levels.size()))
      reader.complain("levels", "does not end with memory");
  }
  found.own = reader.ramp(json, "own");
  if (const MemoryJson* last = reader.member(json, "last"); last != nullptr && !last->is_null()) {
    const auto chase = reader.ramp(*last, "chase");
    const auto middle = reader.ramp(*last, "middle");
    if (!chase || !middle) reader.complain("last", "lacks a ramp");
    found.last = Eviction{chase.value_or(MemoryRamp{1, 2}), reader.ramp(*last, "stream"),
                          middle.value_or(MemoryRamp{1, 2}), reader.ramp(*last, "disturbed")};
  }
  const MemoryJson* scrub = reader.member(json, "scrub_bytes");
  if (scrub != nullptr && !scrub->is_null())
    found.scrub_bytes =
        static_cast<std::int64_t>(reader.number(*scrub, "scrub_bytes", kMaxMemoryBytes));
  if (json.contains("waits")) {
    for (const MemoryJson& entry : entries(reader, json, "waits", kMaxMemoryWaits))
      found.waits.push_back(reader.wait(entry));
  }
  if (!reader.complaint().empty()) return bad(reader.complaint());
  return found;
}

namespace {

std::optional<MemoryHierarchy> memory_of(const StoredCampaign& campaign, const char* name) {
  const auto fact = campaign.environment.facts.find(name);
  if (fact == campaign.environment.facts.end()) return std::nullopt;
  auto decoded = decode_memory(fact->second);
  return decoded ? std::optional(std::move(*decoded)) : std::nullopt;
}

/// Middle of a ramp, on the logarithm.
double place_of(const MemoryRamp& ramp) { return std::sqrt(ramp.lo_bytes * ramp.hi_bytes); }

}  // namespace

MemoryHierarchy together(const MemoryHierarchy& earlier, MemoryHierarchy later) {
  if (!earlier.last) return later;
  if (!later.last) return earlier;
  // Of long ago they say less than of late.
  const std::size_t kept = kMaxMemoryWaits - std::min(kMaxMemoryWaits, later.waits.size());
  const auto from =
      earlier.waits.end() - static_cast<std::ptrdiff_t>(std::min(kept, earlier.waits.size()));
  later.waits.insert(later.waits.begin(), from, earlier.waits.end());
  const auto between = [](double a, double b) { return std::sqrt(a * b); };
  const auto by_place = [](const MemoryRamp& a, const MemoryRamp& b) {
    return place_of(a) < place_of(b);
  };
  const Eviction& before = *earlier.last;
  Eviction& last = *later.last;
  last.middle = {between(before.middle.lo_bytes, last.middle.lo_bytes),
                 between(before.middle.hi_bytes, last.middle.hi_bytes)};
  // Loads may be the later ones: translation slows reads in order down before the cache is full.
  const MemoryRamp latest = std::max({before.chase, before.stream.value_or(before.chase),
                                      last.chase, last.stream.value_or(last.chase)},
                                     by_place);
  if (before.disturbed && last.disturbed)
    last.disturbed = std::min(*before.disturbed, *last.disturbed, by_place);
  else if (before.disturbed)
    last.disturbed = before.disturbed;
  last.chase = std::min(before.chase, last.chase, by_place);
  last.stream = latest;
  return later;
}

Result<std::optional<MemoryHierarchy>> find_memory(const Table& table, DeviceId device) {
  OPLAT_TRY(campaigns, table.campaigns());
  std::optional<MemoryHierarchy> all;
  for (const StoredCampaign& campaign : campaigns) {
    if (campaign.device != device) continue;
    for (const char* fact : {kMemoryFact, kMemoryAfterFact}) {
      auto memory = memory_of(campaign, fact);
      if (memory) all = all ? together(*all, std::move(*memory)) : std::move(*memory);
    }
  }
  return all;
}

Result<StateSizes> sizes_of_states(const Table& table, DeviceId device, SettingId setting) {
  OPLAT_TRY(campaigns, table.campaigns());
  for (const StoredCampaign& campaign : campaigns) {
    if (campaign.device != device || campaign.setting != setting) continue;
    if (campaign.environment.facts.contains(kStatesFact))
      return StateSizes{true, memory_of(campaign, kStatesFact)};
  }
  OPLAT_TRY(rows, table.count_kernels({device, std::vector{setting}, false}, 1));
  return StateSizes{rows > 0, std::nullopt};
}

}  // namespace oplat::table
