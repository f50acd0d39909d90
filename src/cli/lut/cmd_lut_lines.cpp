// SPDX-License-Identifier: Apache-2.0
/// oplat lut find | add | merge: look-up tables as files of lines.
#include <cstdio>
#include <memory>

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "compat/mobile_vision/lut_edit.hpp"

namespace oplat::cli {
namespace {

constexpr std::size_t kMaxInput = std::size_t{512} << 20;

using compat::mobile_vision::GivenLine;

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
Result<std::vector<GivenLine>> given_lines(const std::vector<std::string>& arguments) {
  std::vector<GivenLine> lines;
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

struct FindFlags {
  std::string file;
  std::vector<std::string> queries;
  std::string device;
  bool skip_bad_rows = false;
  Verbosity verbosity;
};

Result<int> run_find(const FindFlags& flags) {
  OPLAT_TRY(lines, given_lines(flags.queries));
  if (lines.empty())
    return fail(Code::Usage, "no query; give one as JSON, or - to read lines from standard input");
  OPLAT_TRY(found, compat::mobile_vision::find_lines(flags.file, lines, flags.device,
                                                     flags.skip_bad_rows));
  OPLAT_CHECK(put_text("", found.text));
  OPLAT_CHECK(found.complete);
  return kDone;
}

struct AddFlags {
  std::string file;
  std::vector<std::string> records;
  Verbosity verbosity;
};

Result<int> run_add(const AddFlags& flags) {
  OPLAT_TRY(lines, given_lines(flags.records));
  if (lines.empty())
    return fail(Code::Usage, "no record; give one as JSON, or - to read lines from standard input");
  OPLAT_TRY(edited, compat::mobile_vision::add_records(flags.file, lines));
  print_warnings(edited.warnings, flags.verbosity);
  print_text(
      fmt::format("{}: {} added, {} records in all\n", flags.file, lines.size(), edited.records));
  return kDone;
}

struct MergeFlags {
  std::vector<std::string> files;
  std::string out;
  bool skip_bad_rows = false;
  Verbosity verbosity;
};

Result<int> run_merge(const MergeFlags& flags) {
  OPLAT_TRY(edited, compat::mobile_vision::merge_luts(flags.files, flags.out, flags.skip_bad_rows));
  print_warnings(edited.warnings, flags.verbosity);
  print_text(fmt::format("{}: {} records of {} files, {} duplicates left out\n", flags.out,
                         edited.records, flags.files.size(), edited.duplicates));
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
  command.footer({R"(
Prints matching lines unchanged, in the file's order. An Int8Conv without a record falls back to the
Int8ConvRelu.
Exit codes: 0 done; 2 usage; 3 the file is missing or malformed; 4 a query without a record (the
others are printed).
Example: oplat lut --queries --model_path net --input_dims '{"data": [1, 3, 224, 224]}' |
         oplat lut find t.json -)"});
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
      {"Records keep their types, while the original turns an Int8Conv into an Int8ConvRelu. "
       "Records of one\n"
       "query are placed next to each other, as in the original. stderr names records that "
       "contradict each\n"
       "other by more than a factor of two.\n"
       "Exit codes: 0 done; 2 usage, or a record is malformed; 3 the file is malformed; 8 could "
       "not "
       "write."});
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
  command.footer({R"(
Keeps lines unchanged, in the order of the files. A record equal to an earlier one is left out.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed; 8 could not write.
Example: oplat lut merge s8.json pixel.json --out phones.json)"});
  command.runs([flags] { return run_merge(*flags); });
}

}  // namespace oplat::cli
