// SPDX-License-Identifier: Apache-2.0
/// Lines in, lines out: nothing of a line that is kept is changed.
#include "compat/mobile_vision/lut_edit.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"

namespace oplat::compat::mobile_vision {
namespace {

constexpr std::size_t kMaxNamedQueries = 10;

void add_line(std::string& text, std::string_view line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
}

std::vector<std::string> contradictions(const std::string& path,
                                        const std::vector<LutRecord>& records) {
  std::vector<std::string> warnings;
  const LutIndex index(records);
  for (const std::string& one : index.contradictions())
    warnings.push_back(fmt::format("{}: {}", path, one));
  return warnings;
}

/// The original falls back from Int8Conv to Int8ConvRelu; see look_up.
std::vector<std::uint32_t> find_with_fallback(const LutIndex& index,
                                              formats::caffe2::LutQuery query,
                                              const std::string& device) {
  auto found = index.find(query, device);
  if (!found.empty() || query.op_type != "Int8Conv") return found;
  query.op_type = "Int8ConvRelu";
  return index.find(query, device);
}

}  // namespace

Result<FoundLines> find_lines(const std::string& path, const std::vector<GivenLine>& lines,
                              const std::string& device, bool skip_bad_rows) {
  std::vector<LutQuestion> questions;
  for (const GivenLine& line : lines) {
    auto question = read_lut_question(line.text);
    if (!question) return fail_in(line.place, {Code::Usage, question.error().message});
    if (!device.empty()) question->device = device;
    if (question->device.empty())
      return fail(Code::Usage, "{}: names no device; add one, or set --device", line.place);
    questions.push_back(*std::move(question));
  }
  OPLAT_TRY(file, open_lut(path, skip_bad_rows));
  const LutIndex index(file.lut.records);
  std::string text;
  base::TruncatedList missing(kMaxNamedQueries);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto found = find_with_fallback(index, questions[i].query, questions[i].device);
    for (const std::uint32_t at : found) add_line(text, file.lut.records[at].text);
    if (found.empty()) missing.add(lines[i].place);
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (missing.count() == 0) return FoundLines{std::move(text), {}};
  return FoundLines{std::move(text), fail(Code::Missing, "{}: no record of {} of {} queries:{}",
                                          path, missing.count(), questions.size(), missing.text())};
}

Result<EditedLut> add_records(const std::string& path, const std::vector<GivenLine>& lines) {
  std::vector<LutRecord> added;
  for (const GivenLine& line : lines) {
    auto record = read_lut_record(line.text);
    if (!record) return fail_in(line.place, {Code::Usage, record.error().message});
    added.push_back(*std::move(record));
  }
  LutFile file;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (std::filesystem::path(path).extension() == ".zip") {
      return fail(Code::Usage, "{}: cannot add records to an archive; unpack it first", path);
    }
    OPLAT_TRY(opened, open_lut(path, false));
    file = std::move(opened);
  }
  std::string text = file.bytes;
  std::vector<LutRecord> all = file.lut.records;
  auto number = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                (text.empty() || text.back() == '\n' ? 0 : 1);
  for (LutRecord& record : added) {
    add_line(text, lut_line(record));
    record.line = ++number;
    all.push_back(record);
  }
  OPLAT_CHECK(base::write_file(path, text));
  return EditedLut{all.size(), 0, contradictions(path, all)};
}

Result<EditedLut> merge_luts(const std::vector<std::string>& paths, const std::string& out,
                             bool skip_bad_rows) {
  std::vector<LutFile> files;
  for (const std::string& path : paths) {
    OPLAT_TRY(file, open_lut(path, skip_bad_rows));
    files.push_back(std::move(file));
  }
  std::vector<std::string> warnings;
  std::string text;
  std::vector<LutRecord> all;
  std::unordered_set<std::string> seen;
  std::size_t equal = 0;
  for (const LutFile& file : files) {
    if (file.lut.skipped > 0)
      warnings.push_back(
          fmt::format("{}: {} malformed lines are left out", file.path.string(), file.lut.skipped));
    for (const LutRecord& record : file.lut.records) {
      if (!seen.insert(lut_line(record)).second) {
        ++equal;
        continue;
      }
      add_line(text, record.text);
      all.push_back(record);
      all.back().line = all.size();
    }
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  OPLAT_CHECK(base::write_file(out, text));
  for (std::string& one : contradictions(out, all)) warnings.push_back(std::move(one));
  return EditedLut{all.size(), equal, std::move(warnings)};
}

}  // namespace oplat::compat::mobile_vision
