// SPDX-License-Identifier: Apache-2.0
/// Operators in, lines out.
#include "compat/mobile_vision/lut_build.hpp"

#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "table/exchange.hpp"

namespace oplat::compat::mobile_vision {
namespace {

std::string reason_of(const std::vector<table::StoredRow>& rows) {
  if (rows.empty()) return "not measured within the budget";
  const table::Outcome& outcome = rows.front().row.outcome;
  if (const auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return "unsupported: " + unsupported->reason;
  if (const auto* skipped = std::get_if<table::Skipped>(&outcome))
    return "skipped: " + skipped->reason;
  if (const auto* failed = std::get_if<table::Failed>(&outcome)) return "failed: " + failed->reason;
  return "it has no time";
}

}  // namespace

Result<std::vector<formats::caffe2::LutQuery>> listed_queries(const std::string& path) {
  OPLAT_TRY(text, base::read_file(path, std::uint64_t{512} << 20));
  std::vector<formats::caffe2::LutQuery> queries;
  std::size_t number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto question = read_lut_question(line);
    if (!question) return fail_in(fmt::format("{}:{}", path, number), question.error());
    queries.push_back(std::move(question->query));
  }
  if (queries.empty()) return fail(Code::Input, "{}: holds no queries", path);
  return queries;
}

std::vector<LutWanted> wanted_operators(const std::vector<formats::caffe2::LutQuery>& queries) {
  std::vector<LutWanted> wanted;
  std::unordered_set<base::Hash128> seen;
  for (const formats::caffe2::LutQuery& query : queries) {
    if (!seen.insert(lut_identity(query, {})).second) continue;
    LutWanted& one = wanted.emplace_back();
    one.query = query;
    std::erase_if(one.query.op_args,
                  [](const std::string& argument) { return is_inert_lut_argument(argument); });
    if (const auto key = formats::caffe2::key_of(query)) {
      one.key = ir::print(*key);
    } else {
      one.why = key.error().message;
    }
  }
  return wanted;
}

std::vector<std::string> keys_of(const std::vector<LutWanted>& wanted) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  for (const LutWanted& one : wanted) {
    if (!one.key.empty() && seen.insert(one.key).second) keys.push_back(one.key);
  }
  return keys;
}

Result<MeasuredLines> measured_lines(const std::vector<LutWanted>& wanted,
                                     const table::Table& table, table::DeviceId device,
                                     table::SettingId setting, const std::string& device_name) {
  MeasuredLines lines;
  for (const LutWanted& one : wanted) {
    std::vector<table::StoredRow> rows;
    if (!one.key.empty()) {
      OPLAT_TRY(found, table.rows_of(one.key, device, setting));
      rows = std::move(found);
    }
    const auto* timing =
        rows.empty() ? nullptr : std::get_if<table::Timing>(&rows.front().row.outcome);
    if (timing == nullptr) {
      std::string line = lut_question_line(one.query, device_name);
      line.pop_back();
      lines.missing.add(fmt::format("{}: {}", line, one.why.empty() ? reason_of(rows) : one.why));
      continue;
    }
    OPLAT_TRY(slowest, table::slowest_block(table, rows.front().id));
    lines.text += lut_line(lut_record_of(one.query, device_name, *timing, slowest));
    ++lines.records;
  }
  return lines;
}

}  // namespace oplat::compat::mobile_vision
