// SPDX-License-Identifier: Apache-2.0
/// Selection of the rows that answer a filter.
#include "predict/row_selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/shell.hpp"
#include "base/text.hpp"
#include "table/memory_text.hpp"

namespace oplat::predict {
namespace {

constexpr double kOtherHardwareSd = 0.7;
constexpr double kOtherDetailSd = 0.1;
constexpr const char* kNotSet = "(not set)";
/// An untrusted table may hold thousands of settings; a message names this many values of one
/// field.
constexpr std::size_t kMaxListed = 12;

struct Candidate {
  table::ContextOutline outline;
  const table::Device* device = nullptr;
  const table::Setting* setting = nullptr;
  /// counted where several candidates are compared
  std::optional<table::Context> context = std::nullopt;
};

/// Counting reads every row of the candidates: only where their numbers decide.
Status count_rows(const table::Table& table, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    OPLAT_TRY(context, table.context_of(candidate.outline.device, candidate.outline.setting));
    candidate.context = context;
  }
  return {};
}

/// A field that a flag chooses. `weight` orders how far a row is from the filter: a row of
/// another runtime is further away than rows of all other differences together, and so on down.
struct Field {
  std::string_view name;
  std::string_view flag;
  int weight;
  double mismatch_sd;
  std::string (*value)(const Candidate&);
  std::optional<std::string> (*asked)(const RowFilter&);
};

const std::array<Field, 5>& fields() {
  static const std::array<Field, 5> kFields = {{
      {"device", "--device", 8, kOtherHardwareSd, [](const Candidate& c) { return c.device->name; },
       [](const RowFilter& q) { return q.device; }},
      {"runtime", "--runtime", 16, kOtherHardwareSd,
       [](const Candidate& c) { return c.setting->runtime; },
       [](const RowFilter& q) { return q.runtime; }},
      {"version", "--runtime-version", 1, kOtherDetailSd,
       [](const Candidate& c) { return c.setting->version; },
       [](const RowFilter& q) { return q.version; }},
      {"precision", "--precision", 4, kOtherHardwareSd,
       [](const Candidate& c) { return c.setting->precision; },
       [](const RowFilter& q) { return q.precision; }},
      {"threads", "--threads", 2, 0,
       [](const Candidate& c) { return std::to_string(c.setting->threads); },
       [](const RowFilter& q) -> std::optional<std::string> {
         if (!q.threads) return std::nullopt;
         return std::to_string(*q.threads);
       }},
  }};
  return kFields;
}

std::string option_value(const table::Setting& setting, const std::string& name) {
  const auto found = setting.options.find(name);
  return found == setting.options.end() || found->second.empty() ? kNotSet : found->second;
}

std::string shown(std::string_view text) {
  return text.empty() ? "(not given)" : base::printable(text);
}

double threads_sd(std::int64_t asked, std::int64_t used) {
  // Saturates where an untrusted table holds nonsense.
  const double a = std::max<double>(1, static_cast<double>(asked));
  const double b = std::max<double>(1, static_cast<double>(used));
  return std::abs(std::log(a / b));
}

std::vector<Mismatch> mismatches(const RowFilter& filter, const Candidate& candidate) {
  std::vector<Mismatch> found;
  for (const Field& field : fields()) {
    const auto asked = field.asked(filter);
    const std::string used = field.value(candidate);
    if (!asked || *asked == used) continue;
    const double sd = field.name == "threads"
                          ? threads_sd(*filter.threads, candidate.setting->threads)
                          : field.mismatch_sd;
    found.push_back({std::string(field.name), *asked, used, sd});
  }
  for (const auto& [name, value] : filter.options) {
    const std::string asked = value.empty() ? kNotSet : value;
    const std::string used = option_value(*candidate.setting, name);
    if (asked != used) found.push_back({"option " + name, asked, used, kOtherDetailSd});
  }
  if (!filter.exact_options) return found;
  for (const auto& [name, used] : candidate.setting->options) {
    if (!used.empty() && !filter.options.contains(name))
      found.push_back({"option " + name, kNotSet, used, kOtherDetailSd});
  }
  return found;
}

/// How far a candidate is from the filter; compared first by kinds of difference, then by number
/// of threads.
std::pair<int, double> distance(const RowFilter& filter, const Candidate& candidate) {
  int weight = 0;
  double sd = 0;
  for (const Mismatch& mismatch : mismatches(filter, candidate)) {
    sd += mismatch.sd_log;
    for (const Field& field : fields())
      if (field.name == mismatch.field) weight += field.weight;
  }
  return {weight, sd};
}

/// More times first, then the newer setting. Both are counted.
bool better_filled(const Candidate& a, const Candidate& b) {
  if (a.context->timings != b.context->timings) return a.context->timings > b.context->timings;
  return a.outline.setting > b.outline.setting;
}

bool same_but_build(const Candidate& a, const Candidate& b) {
  table::Setting x = *a.setting, y = *b.setting;
  x.build.clear();
  y.build.clear();
  return a.outline.device == b.outline.device && x == y;
}

std::string list_values(const std::set<std::string>& values) {
  std::vector<std::string> parts;
  for (const std::string& value : values) {
    if (parts.size() == kMaxListed) {
      parts.push_back(fmt::format("{} more", values.size() - kMaxListed));
      break;
    }
    parts.push_back(shown(value));
  }
  return base::join(parts, ", ");
}

/// The fields in which the candidates differ, as the choices a user has; empty where they agree.
std::vector<std::string> choices(const std::vector<Candidate>& candidates) {
  std::vector<std::string> open;
  for (const Field& field : fields()) {
    std::set<std::string> values;
    for (const Candidate& candidate : candidates) values.insert(field.value(candidate));
    if (values.size() > 1)
      open.push_back(fmt::format("{} is one of {} (choose with {})", field.name,
                                 list_values(values), field.flag));
  }
  return open;
}

/// ": choose it with FLAGS or accept them with FLAG", as far as the command knows these.
std::string ways_out(const RowFilter& filter, const Candidate& nearest) {
  std::vector<std::string> flags;
  for (const Field& field : fields()) {
    const auto asked = field.asked(filter);
    if (asked && *asked != field.value(nearest))
      flags.push_back(
          fmt::format("{} {}", field.flag, base::shell_word(shown(field.value(nearest)))));
  }
  std::vector<std::string> ways;
  if (!flags.empty()) ways.push_back(fmt::format("choose it with {}", base::join(flags, " ")));
  if (filter.has_mismatch_flag) ways.emplace_back("add --allow-setting-mismatch");
  return ways.empty() ? std::string() : ": " + base::join(ways, " or ");
}

std::string asked_text(const std::vector<Mismatch>& found) {
  std::vector<std::string> parts;
  for (const Mismatch& mismatch : found)
    parts.push_back(fmt::format("{} {}", mismatch.field, shown(mismatch.asked)));
  return base::join(parts, ", ");
}

/// The options that two settings have not alike, as `other` has them.
void add_differing(std::set<std::string>& to, const table::Setting& chosen,
                   const table::Setting& other) {
  for (const auto& options : {chosen.options, other.options}) {
    for (const auto& [name, value] : options) {
      const std::string theirs = option_value(other, name);
      if (option_value(chosen, name) != theirs) to.insert(name + "=" + theirs);
    }
  }
}

Selection finish(const RowFilter& filter, std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(), better_filled);
  Selection selection;
  const auto asked_build = std::find_if(
      candidates.begin(), candidates.end(),
      [&](const Candidate& c) { return filter.build && c.setting->build == *filter.build; });
  const Candidate chosen = asked_build == candidates.end() ? candidates.front() : *asked_build;
  selection.device_id = chosen.outline.device;
  selection.device = *chosen.device;
  selection.setting = *chosen.setting;
  selection.setting_ids.push_back(chosen.outline.setting);
  std::size_t other_options = 0;
  std::set<std::string> options;
  for (const Candidate& candidate : candidates) {
    if (candidate.outline.setting == chosen.outline.setting) continue;
    if (same_but_build(candidate, chosen)) {
      selection.setting_ids.push_back(candidate.outline.setting);
    } else {
      ++other_options;
      add_differing(options, *chosen.setting, *candidate.setting);
    }
  }
  if (filter.build && *filter.build != chosen.setting->build)
    selection.warnings.push_back(fmt::format(
        "the rows have build {} of {} {}, but build {} was asked for", shown(chosen.setting->build),
        shown(chosen.setting->runtime), shown(chosen.setting->version), shown(*filter.build)));
  if (selection.setting_ids.size() > 1)
    selection.warnings.push_back(
        fmt::format("the table holds {} builds of {} {}; rows of build {} take precedence",
                    selection.setting_ids.size(), shown(chosen.setting->runtime),
                    shown(chosen.setting->version), shown(chosen.setting->build)));
  if (other_options > 0)
    selection.warnings.push_back(
        fmt::format("{} further settings that differ only in runtime options ({}) are not used; "
                    "the rows used have {}",
                    other_options, list_values(options), table::describe(*chosen.setting)));
  selection.mismatch = mismatches(filter, chosen);
  return selection;
}

/// The selection's fit, where there is one that can be read and is of these rows; else what to do
/// about it.
Status take_fit(const table::Table& table, Selection& selection) {
  OPLAT_TRY(found, find_composition(table, selection.device_id, selection.setting_ids.front()));
  if (!found) return {};
  if (!found->current) {
    selection.warnings.push_back(
        fmt::format("the table has newer rows than its fit, which is ignored; run oplat fit {}",
                    table.path().string()));
    return {};
  }
  auto fit = decode_composition(found->fit.blob);
  if (fit) {
    selection.fit = std::move(*fit);
  } else {
    selection.warnings.push_back(fmt::format("{}: {}", table.path().string(), fit.error().message));
  }
  return {};
}

Result<Selection> choose(const table::Table& table, const RowFilter& filter) {
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(outlines, table.context_outlines());
  const std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());

  std::vector<Candidate> all;
  for (const table::ContextOutline& outline : outlines) {
    const auto device = device_of.find(outline.device);
    const auto setting = setting_of.find(outline.setting);
    if (device != device_of.end() && setting != setting_of.end())
      all.push_back({outline, &device->second, &setting->second});
  }
  const std::string path = table.path().string();
  std::vector<Candidate> fitting;
  std::copy_if(all.begin(), all.end(), std::back_inserter(fitting),
               [&](const Candidate& c) { return mismatches(filter, c).empty(); });
  // Models without kernels have no rows, and take the empty call that their campaign timed.
  if (fitting.empty()) {
    OPLAT_TRY(campaigns, table.campaigns());
    std::set<std::pair<table::DeviceId, table::SettingId>> seen;
    for (const table::StoredCampaign& campaign : campaigns) {
      const auto device = device_of.find(campaign.device);
      const auto setting = setting_of.find(campaign.setting);
      if (!campaign.campaign.empty_call_ns || device == device_of.end() ||
          setting == setting_of.end() || !seen.emplace(campaign.device, campaign.setting).second)
        continue;
      const Candidate timed{
          {campaign.device, campaign.setting, false}, &device->second, &setting->second};
      if (mismatches(filter, timed).empty()) fitting.push_back(timed);
    }
  }
  if (all.empty() && fitting.empty())
    return fail(Code::Refused,
                "{}: holds no rows; measure some with: oplat profile --model MODEL --table {} "
                "--runtime RUNTIME",
                path, base::shell_word(path));

  if (fitting.empty()) {
    OPLAT_CHECK(count_rows(table, all));
    const auto nearest =
        std::min_element(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
          const auto da = distance(filter, a), db = distance(filter, b);
          return da != db ? da < db : better_filled(a, b);
        });
    if (!filter.allow_setting_mismatch)
      return fail(Code::Refused,
                  "{}: has no row for {}; the nearest are {} rows of {} on device {}{}", path,
                  asked_text(mismatches(filter, *nearest)), nearest->context->rows,
                  table::describe(*nearest->setting), shown(nearest->device->name),
                  ways_out(filter, *nearest));
    // Everything that is as near and differs from the nearest only in build or options.
    std::copy_if(all.begin(), all.end(), std::back_inserter(fitting), [&](const Candidate& c) {
      return distance(filter, c) == distance(filter, *nearest) && choices({c, *nearest}).empty();
    });
    return finish(filter, std::move(fitting));
  }

  // Settings under which nothing could be timed are not considered while there is another.
  std::vector<Candidate> timed;
  std::copy_if(fitting.begin(), fitting.end(), std::back_inserter(timed),
               [](const Candidate& c) { return c.outline.timed; });
  if (!timed.empty()) fitting = std::move(timed);
  if (const auto open = choices(fitting); !open.empty())
    return fail(Code::Usage, "{}: several settings fit: {}", path, base::join(open, "; "));
  if (fitting.size() > 1) OPLAT_CHECK(count_rows(table, fitting));
  return finish(filter, std::move(fitting));
}

}  // namespace

bool matches(const RowFilter& filter, const table::Device& device, const table::Setting& setting) {
  return mismatches(filter, {{}, &device, &setting}).empty();
}

Result<Selection> select_rows(const table::Table& table, const RowFilter& filter,
                              const ir::Catalogue& catalogue) {
  if (filter.threads && *filter.threads < 1)
    return fail(Code::Usage, "threads: {}; expected a number of at least 1", *filter.threads);
  OPLAT_TRY(selection, choose(table, filter));
  selection.catalogue = &catalogue;
  if (filter.fitted) OPLAT_CHECK(take_fit(table, selection));
  OPLAT_TRY(memory, table::find_memory(table, selection.device_id));
  selection.memory = std::move(memory);
  return std::move(selection);
}

Result<std::optional<table::FoundFit>> find_composition(const table::Table& table,
                                                        table::DeviceId device,
                                                        table::SettingId setting) {
  OPLAT_TRY(found, table.find_fit(kCompositionFormat, device, setting));
  for (const std::string_view former : kFormerCompositionFormats) {
    if (found) break;
    OPLAT_TRY(older, table.find_fit(former, device, setting));
    found = std::move(older);
  }
  return std::move(found);
}

}  // namespace oplat::predict
