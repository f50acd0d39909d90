// SPDX-License-Identifier: Apache-2.0
/// Splits by text, by twins, by levels, by work, by share.
#include "estimate/accuracy_split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "estimate/sampler.hpp"

namespace oplat::estimate {
namespace {

constexpr std::uint32_t kOneIn = 10;
constexpr double kLargestShare = 0.2;
constexpr std::int64_t kMaxFolds = 1000;

/// CRC-32 of IEEE 802.3, as zlib has it.
std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

/// The text that the row's own system has for it (KeyDomain::split_text), else the key: what the
/// split's hash is taken of.
std::string text_of(const DescribedRow& row, bool without_residual,
                    const ir::Catalogue& catalogue) {
  if (const ir::KeyDomain* domain = catalogue.domain_of(row.key)) {
    const auto key = ir::parse(row.key);
    auto text = key ? domain->split_text(*key, without_residual) : std::nullopt;
    if (text) return *std::move(text);
  }
  if (!without_residual || !ir::has_convolution_numbers(row.description)) return row.key;
  std::string text = row.description.slice;
  for (std::size_t i = 0; i < ir::kConvResidual; ++i)
    text += fmt::format(" {}", row.description.numbers[i]);
  return text;
}

struct Field {
  std::string_view name;
  std::size_t number;
};
constexpr Field kFields[] = {
    {"batch", ir::kConvBatch},       {"in_h", ir::kConvHeight},   {"out_c", ir::kConvOutChannels},
    {"ratio", ir::kConvInChannels},  {"kernel", ir::kConvKernel}, {"stride", ir::kConvStride},
    {"residual", ir::kConvResidual},
};

/// Learned from are those that the sampler asks for; it is told their times alone. Rows of unknown
/// batch are learned from whatever it chooses.
Result<std::vector<Role>> sampled(std::span<const DescribedRow> rows, double percent,
                                  const LearnRequest& request) {
  std::vector<std::size_t> places;  // of the candidates among the rows
  std::vector<ir::Description> candidates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].stand_in) continue;
    places.push_back(i);
    candidates.push_back(rows[i].description);
  }
  const auto count =
      static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(candidates.size())));
  const Oracle oracle = [&](std::size_t i) { return std::optional(rows[places[i]].log_ns); };
  LearnRequest quiet = request;
  if (request.progress) quiet.progress = [&](int, int) { return request.progress(0, 1); };
  OPLAT_TRY(chosen, choose(candidates, count, oracle, quiet));
  std::vector<Role> roles(rows.size(), Role::Learn);
  for (const std::size_t place : places) roles[place] = Role::Ask;
  std::unordered_set<std::string_view> known;
  for (const std::size_t i : chosen) {
    roles[places[i]] = Role::Learn;
    known.insert(rows[places[i]].key);
  }
  // Another row of the same key would be answered by the one that was chosen.
  for (const std::size_t place : places) {
    if (roles[place] == Role::Ask && known.contains(rows[place].key)) roles[place] = Role::Drop;
  }
  return roles;
}

}  // namespace

std::string why_none(std::span<const DescribedRow> rows, const Split& split) {
  constexpr std::size_t kMaxValues = 16;
  if (split.kind == Split::Kind::Groups) return "; none of its keys matches a row with known sizes";
  for (const auto& [field, value] : split.levels) {
    std::set<double> values;
    for (const DescribedRow& row : rows) {
      if (const auto own = field_of(row, field)) values.insert(*own);
    }
    if (values.empty())
      return fmt::format("; no row has the field {}, which only convolutions have", field);
    if (values.contains(value)) continue;
    const std::vector<double> first(
        values.begin(), std::next(values.begin(), static_cast<std::ptrdiff_t>(
                                                      std::min(kMaxValues, values.size()))));
    return fmt::format("; the values of {} in its rows are {}{}", field, fmt::join(first, ", "),
                       values.size() > first.size() ? ", ..." : "");
  }
  return fmt::format("; it selects none of {} rows", rows.size());
}

std::optional<double> field_of(const DescribedRow& row, std::string_view field) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields),
                                  [&](const Field& each) { return each.name == field; });
  if (found == std::end(kFields) || !ir::has_convolution_numbers(row.description))
    return std::nullopt;
  // Where an image comes in, and of depthwise convolutions, the number is not a ratio.
  if (found->number == ir::kConvInChannels &&
      row.description.slice.find(" dense") == std::string::npos)
    return std::nullopt;
  const double number = row.description.numbers[found->number];
  return found->number == ir::kConvResidual ? number - 1 : number;
}

Result<Split> parse_split(std::string_view text) {
  Split split;
  if (text == "random") return split;
  if (text == "twin") {
    split.kind = Split::Kind::Twin;
    return split;
  }
  if (text == "beyond") {
    split.kind = Split::Kind::Beyond;
    return split;
  }
  if (text.starts_with("keep:") || text.starts_with("sample:")) {
    std::string_view number = text.substr(text.find(':') + 1);
    if (number.ends_with('%')) number.remove_suffix(1);
    const auto percent = base::parse_double(number);
    if (!percent || !(*percent > 0 && *percent < 100))
      return fail(Code::Usage, "--split {}: expected a PERCENT between 0 and 100", text);
    split.kind = text.starts_with("keep:") ? Split::Kind::Keep : Split::Kind::Sample;
    split.percent = *percent;
    return split;
  }
  if (text.starts_with("folds:")) {
    const auto count = base::parse_int(text.substr(6));
    if (!count || *count < 2 || *count > kMaxFolds)
      return fail(Code::Usage, "--split {}: expected a COUNT from 2 to {}", text, kMaxFolds);
    split.kind = Split::Kind::Folds;
    split.folds = static_cast<std::size_t>(*count);
    return split;
  }
  if (text.starts_with("level:")) {
    split.kind = Split::Kind::Level;
    for (const std::string& part : base::split(text.substr(6), ',')) {
      const std::size_t equals = part.find('=');
      const auto value =
          equals == std::string::npos ? std::nullopt : base::parse_double(part.substr(equals + 1));
      const std::string field = base::lower(part.substr(0, equals));
      const bool known = std::any_of(std::begin(kFields), std::end(kFields),
                                     [&](const Field& each) { return each.name == field; });
      if (!value || !known) {
        return fail(Code::Usage,
                    "--split {}: '{}' is not FIELD=NUMBER with FIELD one of batch, in_h, out_c, "
                    "ratio, kernel, stride, residual",
                    text, part);
      }
      const bool twice = std::any_of(split.levels.begin(), split.levels.end(),
                                     [&](const auto& level) { return level.first == field; });
      if (twice)
        return fail(Code::Usage,
                    "--split {}: {} is given twice; rows to predict must match all values", text,
                    field);
      split.levels.emplace_back(field, *value);
    }
    return split;
  }
  return fail(Code::Usage,
              "--split {}: expected random, twin, level:FIELD=VALUE[,FIELD=VALUE], beyond, "
              "keep:PERCENT, sample:PERCENT, folds:COUNT or groups:FILE",
              text);
}

Result<std::vector<Role>> roles_of(std::span<const DescribedRow> rows, const Split& split,
                                   std::size_t fold, const LearnRequest& request,
                                   const ir::Catalogue& catalogue) {
  if (split.kind == Split::Kind::Sample) return sampled(rows, split.percent, request);
  std::vector<Role> roles(rows.size(), Role::Learn);
  double limit = 0;
  const auto work = [&](const DescribedRow& row) {
    return row.description.work.flops.value_or(row.description.work.bytes());
  };
  if (split.kind == Split::Kind::Beyond && !rows.empty()) {
    std::vector<double> sorted;
    for (const DescribedRow& row : rows) sorted.push_back(work(row));
    std::sort(sorted.begin(), sorted.end());
    limit = sorted[static_cast<std::size_t>((1 - kLargestShare) *
                                            static_cast<double>(sorted.size() - 1))];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DescribedRow& row = rows[i];
    if (row.stand_in) continue;
    switch (split.kind) {
      case Split::Kind::Random:
        if (crc32(text_of(row, false, catalogue)) % kOneIn == 0) roles[i] = Role::Ask;
        break;
      case Split::Kind::Twin:
        if (crc32(text_of(row, true, catalogue)) % kOneIn == 0) roles[i] = Role::Ask;
        break;
      case Split::Kind::Level: {
        std::size_t hits = 0;
        for (const auto& [field, value] : split.levels)
          hits += field_of(row, field) == value ? 1 : 0;
        if (hits > 0) roles[i] = hits == split.levels.size() ? Role::Ask : Role::Drop;
        break;
      }
      case Split::Kind::Beyond:
        if (work(row) > limit) roles[i] = Role::Ask;
        break;
      case Split::Kind::Folds:
        if (crc32(text_of(row, false, catalogue)) % split.folds == fold) roles[i] = Role::Ask;
        break;
      case Split::Kind::Groups: {
        const auto group = split.groups.find(row.key);
        if (group != split.groups.end() && group->second == fold) roles[i] = Role::Ask;
        break;
      }
      case Split::Kind::Sample:
        break;
      case Split::Kind::Keep:
        if (static_cast<double>(base::hash64(row.key, request.seed) % 1'000'000) >=
            split.percent * 10'000)
          roles[i] = Role::Ask;
        break;
    }
  }
  return roles;
}

}  // namespace oplat::estimate
