// SPDX-License-Identifier: Apache-2.0
/// Reads and writes the lines of a TinyNAS library.
#include "compat/tinynas/library.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "table/refused_rows.hpp"

namespace oplat::compat::tinynas {
namespace {

/// Rows of libraries have some 50 bytes; what is longer is not a library.
constexpr std::size_t kMaxLine = 1024;
/// Keeps every product of two sizes in 63 bits; no convolution comes near.
constexpr std::int64_t kMaxLibrarySize = std::int64_t{1} << 30;
constexpr double kLibraryNsPerMs = 1e6;

constexpr std::array<std::string_view, 9> kFields = {
    "Conv_type", "Batch", "In_C", "In_H", "In_W", "Out_C", "Kernel", "Stride", "ElmtFused"};

using Fields = std::array<std::string_view, kFields.size()>;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Without blanks at both ends.
std::string_view trimmed_line(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string quoted_text(std::string_view text) {
  return fmt::format("'{}'", base::printable(text, 60));
}

/// The nine fields between the braces.
Result<Fields> split_key(std::string_view key) {
  Fields fields;
  std::size_t count = 0;
  std::size_t start = 0;
  while (true) {
    const std::size_t comma = key.find(',', start);
    if (count < fields.size())
      fields[count] = key.substr(start, comma == std::string_view::npos ? comma : comma - start);
    ++count;
    if (comma == std::string_view::npos) break;
    start = comma + 1;
  }
  if (count == fields.size()) return fields;
  return fail(Code::Input, "{} fields between the braces; expected {} ({})", count, fields.size(),
              fmt::join(kFields, ","));
}

Result<std::int64_t> size_of(const Fields& fields, std::size_t index) {
  const std::string_view text = fields[index];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return fail(Code::Input, "{} is {}; expected an integer", kFields[index], quoted_text(text));
  }
  if (error != std::errc() || value > kMaxLibrarySize) {
    return fail(Code::Input, "{} is {}; the limit for a size is {}", kFields[index],
                quoted_text(text), kMaxLibrarySize);
  }
  if (value < 1) return fail(Code::Input, "{} is {}; expected at least 1", kFields[index], value);
  return value;
}

Result<ConvTuple> read_key(std::string_view key) {
  OPLAT_TRY(fields, split_key(key));
  ConvTuple conv;
  const auto type = parse_conv_type(fields[0]);
  if (!type) {
    return fail(Code::Input, "Conv_type is {}; expected Regular or Depthwise",
                quoted_text(fields[0]));
  }
  conv.type = *type;
  std::int64_t* const sizes[] = {&conv.batch, &conv.in_c,   &conv.in_h,  &conv.in_w,
                                 &conv.out_c, &conv.kernel, &conv.stride};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    OPLAT_TRY(size, size_of(fields, i + 1));
    *sizes[i] = size;
  }
  if (fields[8] != "0" && fields[8] != "1") {
    return fail(Code::Input, "ElmtFused is {}; expected 0 or 1", quoted_text(fields[8]));
  }
  conv.fused = fields[8] == "1";
  return conv;
}

/// The number that is nearest to the text's ms in ns: 30.9881 ms are 30988100 ns, though 30.9881 *
/// 1e6 are not.
std::optional<double> ns_of(std::string_view text, double ms) {
  if (text.find_first_of("eE") != std::string_view::npos) return ms * kLibraryNsPerMs;
  std::array<char, kMaxLine + 2> buffer;
  if (text.size() + 2 > buffer.size()) return std::nullopt;
  const std::size_t size = text.copy(buffer.data(), text.size());
  buffer[size] = 'e';
  buffer[size + 1] = '6';
  return base::parse_double({buffer.data(), size + 2});
}

/// Nothing for -1.
Result<std::optional<double>> read_latency(std::string_view text) {
  const auto ms = base::parse_double(text);
  if (!ms) return fail(Code::Input, "the latency is {}; expected a number", quoted_text(text));
  if (*ms == -1) return std::nullopt;
  const auto ns = ns_of(text, *ms);
  if (!std::isfinite(*ms) || !ns || !(*ms > 0)) {
    return fail(Code::Input, "the latency is {}; expected ms, or -1 for a failed profile",
                quoted_text(text));
  }
  if (!base::is_kernel_time(*ns)) {
    return fail(Code::Input, "the latency is {} ms; expected {}", quoted_text(text),
                base::kKernelTimesMs);
  }
  return ns;
}

/// One line without its end, blanks around it trimmed_line.
Result<LibraryRow> read_row(std::string_view line) {
  if (line.size() > kMaxLine)
    return fail(Code::Input, "{} bytes; the limit for a row is {}", line.size(), kMaxLine);
  if (line.find('\0') != std::string_view::npos)
    return fail(Code::Input, "holds a NUL byte: {}", quoted_text(line));
  if (line.front() != '{')
    return fail(Code::Input, "begins with {}; expected '{{'", quoted_text(line));
  const std::size_t close = line.find('}');
  if (close == std::string_view::npos)
    return fail(Code::Input, "no closing brace: {}", quoted_text(line));
  LibraryRow row;
  OPLAT_TRY(conv, read_key(line.substr(1, close - 1)));
  row.conv = conv;
  const std::string_view rest = line.substr(close + 1);
  const std::string_view number = trimmed_line(rest);
  if (number.empty())
    return fail(Code::Input, "no latency after the closing brace: {}", quoted_text(line));
  if (!is_blank(rest.front())) {
    return fail(Code::Input, "{} follows the closing brace; expected a blank", quoted_text(rest));
  }
  const std::size_t end = number.find_first_of(" \t");
  if (end != std::string_view::npos) {
    return fail(Code::Input, "{} follows the latency",
                quoted_text(trimmed_line(number.substr(end))));
  }
  OPLAT_TRY(ns, read_latency(number));
  row.ns = ns;
  return row;
}

}  // namespace

Result<Library> read_tinynas_library(std::string_view bytes, std::string_view name,
                                     bool skip_bad_rows) {
  if (bytes.starts_with(base::kByteOrderMark)) {
    return fail(
        Code::Input,
        "{}: begins with a byte order mark; remove its three bytes with: tail -c +4 {} > OTHER",
        name, name);
  }
  Library library;
  table::RefusedRows refused;
  library.rows.reserve(bytes.size() / 40);
  std::size_t pending = 0;  // where what stands before the next row begins
  std::size_t line_number = 0;
  std::size_t timed = 0;
  for (std::size_t start = 0; start < bytes.size();) {
    const std::size_t newline = bytes.find('\n', start);
    const std::size_t next = newline == std::string_view::npos ? bytes.size() : newline + 1;
    const std::string_view text = bytes.substr(start, next - start);
    std::string_view line =
        newline == std::string_view::npos ? text : text.substr(0, text.size() - 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trimmed_line(line);
    ++line_number;
    if (!line.empty()) {
      if (auto row = read_row(line)) {
        row->before = bytes.substr(pending, start - pending);
        row->text = text;
        row->line = line_number;
        timed += row->ns ? 1U : 0U;
        library.rows.push_back(*row);
        pending = next;
      } else {
        refused.add(line_number, row.error().message);
      }
    }
    start = next;
  }
  if (refused.count() > 0 && !skip_bad_rows) return refused.error(name);
  if (timed == 0) {
    return fail(Code::Input,
                "{}: has no row with a latency ({} failed, {} malformed{}); expected lines such as "
                "'{{Regular,1,16,5,5,8,1,1,0}} 0.011776'",
                base::printable(name, 400), library.rows.size(), refused.count(), refused.first());
  }
  library.tail = bytes.substr(pending);
  library.skipped = refused.count();
  library.notes = std::move(refused).take_notes();
  return library;
}

std::string library_line(const ConvTuple& conv, std::optional<double> ns) {
  std::string line =
      fmt::format("{{{},{},{},{},{},{},{},{},{}}} ", name(conv.type), conv.batch, conv.in_c,
                  conv.in_h, conv.in_w, conv.out_c, conv.kernel, conv.stride, conv.fused ? 1 : 0);
  if (ns) {
    fmt::format_to(std::back_inserter(line), "{:.6g}\n", *ns / kLibraryNsPerMs);
  } else {
    line += "-1\n";
  }
  return line;
}

std::optional<std::string> precision_of_library(std::string_view file_name) {
  constexpr std::string_view kStem = "conv_data.out";
  if (!file_name.starts_with(kStem)) return std::nullopt;
  const std::string_view suffix = file_name.substr(kStem.size());
  if (suffix.empty()) return "FP32";
  if (suffix == ".fp16") return "FP16";
  if (suffix == ".fp16.damoyolo") return "FP16_DAMOYOLO";
  if (suffix == ".int8") return "INT8";
  if (suffix == ".int4") return "INT4";
  return std::nullopt;
}

}  // namespace oplat::compat::tinynas
