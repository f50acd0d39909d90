// SPDX-License-Identifier: Apache-2.0
/// oplat lut find | add | merge: look-up tables as files of lines.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "cli/text_output.hpp"
#include "compat/mobile_vision/lut_files.hpp"

namespace oplat::cli {
namespace {

constexpr std::size_t kMaxInput = std::size_t{512} << 20;
constexpr std::size_t kMaxNamed = 10;

/// A line of the command line or of standard input, with words for where it stands.
struct Given {
  std::string text;
  std::string place;
};

Result<std::string> read_stdin() {
  std::string text;
  std::vector<char> piece(std::size_t{1} << 16);
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin)) {
    text.append(piece.data(), got);
    if (text.size() > kMaxInput)
      return fail(Code::Input, "standard input: more than {} bytes; pass fewer lines", kMaxInput);
  }
  return text;
}

/// "-" stands for the lines of standard input.
Result<std::vector<Given>> given_lines(const std::vector<std::string>& arguments) {
  std::vector<Given> lines;
  for (const std::string& argument : arguments) {
    if (argument != "-") {
      lines.push_back({argument, fmt::format("'{}'", base::printable(argument))});
      continue;
    }
    OPLAT_TRY(text, read_stdin());
    std::size_t number = 0;
    for (std::string& line : base::split(text, '\n')) {
      ++number;
      if (line.find_first_not_of(" \t\r") != std::string::npos)
        lines.push_back({std::move(line), fmt::format("standard input, line {}", number)});
    }
  }
  return lines;
}

void add_line(std::string& text, std::string_view line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
}

std::vector<std::string> contradictions(
    const std::string& path, const std::vector<compat::mobile_vision::LutRecord>& records) {
  std::vector<std::string> warnings;
  const compat::mobile_vision::LutIndex index(records);
  for (const std::string& one : index.contradictions())
    warnings.push_back(fmt::format("{}: {}", path, one));
  return warnings;
}

// --- find

struct FindFlags {
  std::string file;
  std::vector<std::string> queries;
  std::string device;
  bool skip_bad_rows = false;
  Verbosity verbosity;
};

/// The original falls back from Int8Conv to Int8ConvRelu; see look_up.
std::vector<std::uint32_t> find_with_fallback(const compat::mobile_vision::LutIndex& index,
                                              formats::caffe2::LutQuery query,
                                              const std::string& device) {
  auto found = index.find(query, device);
  if (!found.empty() || query.op_type != "Int8Conv") return found;
  query.op_type = "Int8ConvRelu";
  return index.find(query, device);
}

Result<int> run_find(const FindFlags& flags) {
  OPLAT_TRY(lines, given_lines(flags.queries));
  if (lines.empty())
    return fail(Code::Usage, "no query; give one as JSON, or - to read lines from standard input");
  std::vector<compat::mobile_vision::LutQuestion> questions;
  for (const Given& line : lines) {
    auto question = compat::mobile_vision::read_lut_question(line.text);
    if (!question) return fail_in(line.place, {Code::Usage, question.error().message});
    if (!flags.device.empty()) question->device = flags.device;
    if (question->device.empty())
      return fail(Code::Usage, "{}: names no device; add one, or set --device", line.place);
    questions.push_back(*std::move(question));
  }
  OPLAT_TRY(file, compat::mobile_vision::open_lut(flags.file, flags.skip_bad_rows));
  const compat::mobile_vision::LutIndex index(file.lut.records);
  std::string text;
  base::TruncatedList missing(kMaxNamed);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto found = find_with_fallback(index, questions[i].query, questions[i].device);
    for (const std::uint32_t at : found) add_line(text, file.lut.records[at].text);
    if (found.empty()) missing.add(lines[i].place);
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  OPLAT_CHECK(put_text("", text));
  if (missing.count() == 0) return kDone;
  return fail(Code::Missing, "{}: no record of {} of {} queries:{}", flags.file, missing.count(),
              questions.size(), missing.text());
}

// --- add

struct AddFlags {
  std::string file;
  std::vector<std::string> records;
  Verbosity verbosity;
};

Result<int> run_add(const AddFlags& flags) {
  OPLAT_TRY(lines, given_lines(flags.records));
  if (lines.empty())
    return fail(Code::Usage, "no record; give one as JSON, or - to read lines from standard input");
  std::vector<compat::mobile_vision::LutRecord> added;
  for (const Given& line : lines) {
    auto record = compat::mobile_vision::read_lut_record(line.text);
    if (!record) return fail_in(line.place, {Code::Usage, record.error().message});
    added.push_back(*std::move(record));
  }
  compat::mobile_vision::LutFile file;
  std::error_code error;
  if (std::filesystem::exists(flags.file, error)) {
    if (std::filesystem::path(flags.file).extension() == ".zip") {
      return fail(Code::Usage, "{}: cannot add records to an archive; unpack it first", flags.file);
    }
    OPLAT_TRY(opened, compat::mobile_vision::open_lut(flags.file, false));
    file = std::move(opened);
  }
  std::string text = file.bytes;
  std::vector<compat::mobile_vision::LutRecord> all = file.lut.records;
  auto number = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                (text.empty() || text.back() == '\n' ? 0 : 1);
  for (compat::mobile_vision::LutRecord& record : added) {
    add_line(text, compat::mobile_vision::lut_line(record));
    record.line = ++number;
    all.push_back(record);
  }
  OPLAT_CHECK(base::write_file(flags.file, text));
  print_warnings(contradictions(flags.file, all), flags.verbosity);
  fmt::print("{}: {} added, {} records in all\n", flags.file, added.size(), all.size());
  return kDone;
}

// --- merge

struct MergeFlags {
  std::vector<std::string> files;
  std::string out;
  bool skip_bad_rows = false;
  Verbosity verbosity;
};

Result<int> run_merge(const MergeFlags& flags) {
  std::vector<compat::mobile_vision::LutFile> files;
  for (const std::string& path : flags.files) {
    OPLAT_TRY(file, compat::mobile_vision::open_lut(path, flags.skip_bad_rows));
    files.push_back(std::move(file));
  }
  std::vector<std::string> warnings;
  std::string text;
  std::vector<compat::mobile_vision::LutRecord> all;
  std::unordered_set<std::string> seen;
  std::size_t equal = 0;
  for (const compat::mobile_vision::LutFile& file : files) {
    if (file.lut.skipped > 0)
      warnings.push_back(
          fmt::format("{}: {} malformed lines are left out", file.path.string(), file.lut.skipped));
    for (const compat::mobile_vision::LutRecord& record : file.lut.records) {
      if (!seen.insert(compat::mobile_vision::lut_line(record)).second) {
        ++equal;
        continue;
      }
      add_line(text, record.text);
      all.push_back(record);
      all.back().line = all.size();
    }
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  OPLAT_CHECK(base::write_file(flags.out, text));
  for (std::string& one : contradictions(flags.out, all)) warnings.push_back(std::move(one));
  print_warnings(warnings, flags.verbosity);
  fmt::print("{}: {} records of {} files, {} duplicates left out\n", flags.out, all.size(),
             files.size(), equal);
  return kDone;
}

void add_skip(const Command& command, bool& to) {
  command.add_flag("--skip-bad-rows", to, "skip malformed lines, and report them");
}

}  // namespace

void add_lut_find(const Command& group) {
  const Command command = group.add_subcommand("find", "print the records that answer queries");
  const auto flags = std::make_shared<FindFlags>();
  command.add_option("FILE", flags->file, "look-up table, zipped or not").required();
  command
      .add_option("QUERY", flags->queries,
                  "record without its times, as JSON; - reads lines from standard input")
      .required();
  command.add_option("--device", flags->device, "device of all queries, whatever device they name");
  add_skip(command, flags->skip_bad_rows);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Prints matching lines unchanged, in the file's order. An Int8Conv without a record falls back to the
Int8ConvRelu.
Exit codes: 0 done; 2 usage; 3 the file is missing or malformed; 4 a query without a record (the
others are printed).
Example: oplat lut --queries --model_path net --input_dims '{"data": [1, 3, 224, 224]}' |
         oplat lut find t.json -)");
  command.runs([flags] { return run_find(*flags); });
}

void add_lut_add(const Command& group) {
  const Command command = group.add_subcommand("add", "append records to a look-up table");
  const auto flags = std::make_shared<AddFlags>();
  command.add_option("FILE", flags->file, "look-up table; created if missing").required();
  command
      .add_option("RECORD", flags->records,
                  "line of the table, as JSON; - reads lines from standard input")
      .required();
  add_verbosity(command, flags->verbosity);
  command.footer(
      "Records keep their types, while the original turns an Int8Conv into an Int8ConvRelu. "
      "Records of one\n"
      "query are placed next to each other, as in the original. stderr names records that "
      "contradict each\n"
      "other by more than a factor of two.\n"
      "Exit codes: 0 done; 2 usage, or a record is malformed; 3 the file is malformed; 8 could not "
      "write.");
  command.runs([flags] { return run_add(*flags); });
}

void add_lut_merge(const Command& group) {
  const Command command =
      group.add_subcommand("merge", "write the records of several look-up tables into one");
  const auto flags = std::make_shared<MergeFlags>();
  command.add_option("FILES", flags->files, "look-up tables, zipped or not").required();
  command.add_option("--out", flags->out, "file to write; an existing file is replaced")
      .type_name("FILE")
      .required();
  add_skip(command, flags->skip_bad_rows);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Keeps lines unchanged, in the order of the files. A record equal to an earlier one is left out.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed; 8 could not write.
Example: oplat lut merge s8.json pixel.json --out phones.json)");
  command.runs([flags] { return run_merge(*flags); });
}

}  // namespace oplat::cli
