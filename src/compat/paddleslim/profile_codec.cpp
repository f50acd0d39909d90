// SPDX-License-Identifier: Apache-2.0
/// Logs of Paddle-Lite built with its profiler, what benchmark_bin prints around it included: the
/// rows are those of the last "Detailed Dispatch Profiler Summary" of each model.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/profile_text.hpp"
#include "compat/paddleslim/text_kernels.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr std::string_view kSummary = "Detailed Dispatch Profiler Summary";
constexpr std::int64_t kMaxProfileThreads = 4096;
constexpr std::int64_t kMaxProfilePowerMode = 99;

/// A summary goes from its line of column names to the first line that cannot be one of it.
bool ends_summary(std::string_view line) {
  return line.empty() || line.starts_with('[') || line.starts_with("=====") ||
         line.starts_with("Timing cycle") ||
         line.find("Profiler Summary") != std::string_view::npos;
}

/// What benchmark_bin says of a run. A file is of one device and setting: a second run may say the
/// same again, and no more.
class Facts {
 public:
  /// "threads: 4" and the like; any other line says nothing.
  Status read(std::string_view line, std::size_t number) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !table::is_plain(line)) return {};
    const std::string_view name = line.substr(0, colon);
    const std::string value(table::trimmed(line.substr(colon + 2)));
    if (std::find(kFacts.begin(), kFacts.end(), name) == kFacts.end() || value.empty() ||
        value.size() >= kMaxValue)
      return {};
    OPLAT_CHECK(check_number(name, value, number));
    const auto [known, added] = told_.emplace(name, std::pair(value, number));
    if (added || known->second.first == value) return {};
    return fail(Code::Input,
                "line {}: {} is '{}', but line {} says '{}'; a file may hold only one device and "
                "setting, so split the log",
                number, name, base::printable(value, 40), known->second.second,
                base::printable(known->second.first, 40));
  }
  [[nodiscard]] table::SettingFacts told() const {
    table::SettingFacts facts;
    if (const auto* device = value_of(kDevice)) facts.device = *device;
    if (const auto* version = value_of(kVersion)) facts.version = without_v(*version);
    if (const auto* threads = value_of(kThreads)) facts.threads = base::parse_int(*threads);
    if (const auto* mode = value_of(kPowerMode)) facts.options["power_mode"] = *mode;
    return facts;
  }

 private:
  static constexpr std::string_view kDevice = "Model", kVersion = "benchmark_bin version",
                                    kThreads = "threads", kPowerMode = "power_mode";
  static constexpr std::array<std::string_view, 4> kFacts = {kDevice, kVersion, kThreads,
                                                             kPowerMode};
  static constexpr std::size_t kMaxValue = 100;

  static Status check_number(std::string_view name, const std::string& value, std::size_t line) {
    if (name != kThreads && name != kPowerMode) return {};
    const std::int64_t least = name == kThreads ? 1 : 0;
    const std::int64_t most = name == kThreads ? kMaxProfileThreads : kMaxProfilePowerMode;
    const auto number = base::parse_int(value);
    if (number && *number >= least && *number <= most) return {};
    return fail(Code::Input, "line {}: {} is '{}'; expected {} to {}", line, name,
                base::printable(value, 40), least, most);
  }
  /// "v2.12" is release 2.12.
  static std::string without_v(const std::string& version) {
    const bool release =
        version.size() > 1 && version[0] == 'v' && version[1] >= '0' && version[1] <= '9';
    return release ? version.substr(1) : version;
  }
  [[nodiscard]] const std::string* value_of(std::string_view name) const {
    const auto found = told_.find(name);
    return found == told_.end() ? nullptr : &found->second.first;
  }

  std::map<std::string, std::pair<std::string, std::size_t>, std::less<>>
      told_;  ///< value and line by name
};

/// One summary: its lines by number, and what they are of.
struct Summary {
  std::map<std::size_t, ProfileLine> lines;
  std::string model;
};

struct Log {
  std::vector<Summary> summaries;
  std::vector<std::pair<std::size_t, std::string>> refused;
  Facts facts;
};

Result<Log> read_log(std::string_view bytes) {
  Log log;
  enum class In : std::uint8_t { Nothing, Title, Rows } in = In::Nothing;
  ProfileColumns columns;
  for (table::TextRows lines(bytes); lines.next();) {
    const std::string_view line = lines.line();
    if (line.find(kSummary) != std::string_view::npos) {
      in = In::Title;
    } else if (in == In::Title) {
      if (const auto found = profile_columns(line)) {
        columns = *found;
        in = In::Rows;
        log.summaries.emplace_back();
      } else if (!line.empty()) {
        log.refused.emplace_back(lines.number(),
                                 fmt::format("'{}'; expected the column names OperatorType ... "
                                             "OutDim Avg(ms) Min(ms) Max(ms) ...",
                                             base::printable(line, 80)));
        in = In::Nothing;
      }
    } else if (in == In::Rows && !ends_summary(line)) {
      auto read = read_profile_line(line, columns);
      if (!read) {
        log.refused.emplace_back(lines.number(), read.error().message);
        continue;
      }
      log.summaries.back().model += read->what + '\n';
      log.summaries.back().lines.emplace(lines.number(), *std::move(read));
    } else {
      in = In::Nothing;
      OPLAT_CHECK(log.facts.read(line, lines.number()));
    }
  }
  return log;
}

class PaddleProfile final : public table::TableCodec {
  std::string_view do_name() const override { return "paddle-lite-profile"; }
  std::string_view do_description() const override { return "log of Paddle-Lite's profiler"; }
  bool do_looks_like(std::string_view bytes) const override {
    return bytes.find("Dispatch Profiler Summary") != std::string_view::npos;
  }
  bool do_may_name_device() const override { return true; }
  Result<table::Setting> do_setting(std::string_view, std::string_view precision) const override {
    return paddle_setting(precision);
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    auto log = read_log(bytes);
    if (!log) return fail_in(base::printable(options.name, 400), log.error());
    // A summary averages all calls since the beginning: of one model the last is the best.
    std::map<std::size_t, const ProfileLine*> chosen;
    std::set<std::string_view> seen;
    for (auto summary = log->summaries.rbegin(); summary != log->summaries.rend(); ++summary) {
      if (!seen.insert(summary->model).second) continue;
      for (const auto& [number, line] : summary->lines) chosen.emplace(number, &line);
    }
    table::TextRows rows(bytes);
    for (const auto& [number, why] : log->refused) rows.refuse(number, why);
    while (rows.next()) {
      const auto found = chosen.find(rows.number());
      if (found != chosen.end()) rows.take({found->second->key, found->second->timing, {}, {}});
    }
    OPLAT_TRY(
        read,
        std::move(rows).finish(
            options,
            fmt::format("a '{}', which Paddle-Lite prints if it was built with --with_profile=ON",
                        kSummary)));
    read.told = log->facts.told();
    note_what_rows_tell(read);
    return std::move(read);
  }

  /// Nobody but Paddle-Lite writes its logs.
  bool do_accepts(std::string_view, bool) const override { return false; }
  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    return table::write_text_rows(
        file, {}, [](const table::ForeignRow& row) -> Result<std::string> {
          return fail(
              Code::Input,
              "a log of Paddle-Lite's profiler cannot hold rows that oplat measured, such as {}",
              base::printable(row.key, 200));
        });
  }
};

}  // namespace

const table::TableCodec& profile_codec() {
  static const PaddleProfile codec;
  return codec;
}

}  // namespace oplat::compat::paddleslim
