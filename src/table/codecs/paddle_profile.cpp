// SPDX-License-Identifier: Apache-2.0
/// Logs of Paddle-Lite built with its profiler, what benchmark_bin prints around it included: the rows are those of the
/// last "Detailed Dispatch Profiler Summary" of each model.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "oplat/base/text.hpp"
#include "table/codecs/codecs.hpp"
#include "table/codecs/paddle_kernels.hpp"
#include "table/codecs/paddle_profile_text.hpp"
#include "table/codecs/text_rows.hpp"

namespace oplat::table {
namespace {

constexpr std::string_view kSummary = "Detailed Dispatch Profiler Summary";
constexpr std::int64_t kMostThreads = 4096;

/// A summary goes from its line of column names to the first line that cannot be one of it.
bool ends_summary(std::string_view line) {
  return line.empty() || line.starts_with('[') || line.starts_with("=====") || line.starts_with("Timing cycle") ||
         line.find("Profiler Summary") != std::string_view::npos;
}

/// "threads: 4" and the like, of benchmark_bin.
void read_fact(std::string_view line, SettingFacts& told) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || !is_plain(line)) return;
  const std::string_view name = line.substr(0, colon);
  const std::string value(trimmed(line.substr(colon + 2)));
  const auto number = base::parse_int(value);
  if (name == "Model" && !value.empty()) told.device = value;
  if (name == "benchmark_bin version" && !value.empty() && value.size() < 100) told.version = value;
  if (name == "threads" && number && *number >= 1 && *number <= kMostThreads) told.threads = *number;
  if (name == "power_mode" && number && *number >= 0 && *number < 100) told.options["power_mode"] = value;
}

/// One summary: its lines by number, and what they are of.
struct Summary {
  std::map<std::size_t, ProfileLine> lines;
  std::string model;
};

struct Log {
  std::vector<Summary> summaries;
  std::vector<std::pair<std::size_t, std::string>> refused;
  SettingFacts told;
};

Log read_log(std::string_view bytes) {
  Log log;
  enum class In : std::uint8_t { Nothing, Title, Rows } in = In::Nothing;
  ProfileColumns columns;
  for (TextRows lines(bytes); lines.next();) {
    const std::string_view line = lines.line();
    if (line.find(kSummary) != std::string_view::npos) {
      in = In::Title;
    } else if (in == In::Title) {
      if (const auto found = profile_columns(line)) {
        columns = *found;
        in = In::Rows;
        log.summaries.emplace_back();
      } else if (!line.empty()) {
        log.refused.emplace_back(lines.number(), fmt::format("'{}' where the column names OperatorType ... OutDim Avg(ms) Min(ms) Max(ms) ... are expected",
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
      read_fact(line, log.told);
    }
  }
  return log;
}

class PaddleProfile final : public TableCodec {
  std::string_view do_name() const override { return "paddle-lite-profile"; }
  Result<Setting> do_setting(std::string_view, std::string_view precision) const override { return paddle_setting(precision); }

  Result<ForeignRead> do_read(std::string_view bytes, const ReadOptions& options) const override {
    Log log = read_log(bytes);
    // A summary averages all calls since the beginning: of one model the last is the best.
    std::map<std::size_t, const ProfileLine*> chosen;
    std::set<std::string_view> seen;
    for (auto summary = log.summaries.rbegin(); summary != log.summaries.rend(); ++summary) {
      if (!seen.insert(summary->model).second) continue;
      for (const auto& [number, line] : summary->lines) chosen.emplace(number, &line);
    }
    TextRows rows(bytes);
    for (const auto& [number, why] : log.refused) rows.refuse(number, why);
    while (rows.next()) {
      const auto found = chosen.find(rows.number());
      if (found != chosen.end()) rows.take({found->second->key, found->second->timing, {}, {}});
    }
    OPLAT_TRY(read, std::move(rows).finish(options, fmt::format("a '{}', which Paddle-Lite prints where it is built with --with_profile=ON", kSummary)));
    read.told = std::move(log.told);
    return std::move(read);
  }

  /// Nobody but Paddle-Lite writes its logs.
  bool do_accepts(std::string_view, bool) const override { return false; }
  Result<std::string> do_write(const ForeignFile& file) const override {
    return write_text_rows(file, {}, [](const ForeignRow& row) -> Result<std::string> {
      return fail(Code::Input, "a log of Paddle-Lite's profiler holds no row of oplat's own, here {}", base::printable(row.key, 200));
    });
  }
};

}  // namespace

std::unique_ptr<TableCodec> make_paddle_profile_codec() { return std::make_unique<PaddleProfile>(); }

}  // namespace oplat::table
