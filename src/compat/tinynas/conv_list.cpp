// SPDX-License-Identifier: Apache-2.0
/// Lists of convolutions in the original's three line forms.
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "compat/tinynas/lines.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::int64_t kMaxSize = 1'000'000;
constexpr std::size_t kTestFields = 8;
constexpr std::size_t kLibraryFields = 9;
constexpr std::size_t kSampleFields = kLibraryFields + 1;

Status read_size(std::string_view name, std::string_view text, std::int64_t& to) {
  const auto value = base::parse_int(text);
  if (!value || *value < 1 || *value > kMaxSize) {
    return fail(Code::Input, "{} is '{}'; expected an integer from 1 to {}", name,
                base::printable(text, 24), kMaxSize);
  }
  to = *value;
  return {};
}

Status read_type(std::string_view text, ConvTuple& conv) {
  const auto type = parse_conv_type(text);
  if (!type)
    return fail(Code::Input, "Conv_type is '{}'; expected Regular or Depthwise",
                base::printable(text, 24));
  conv.type = *type;
  return {};
}

Status read_fused(std::string_view text, ConvTuple& conv) {
  if (text != "0" && text != "1") {
    return fail(Code::Input, "ElmtFused is '{}'; expected 0 or 1", base::printable(text, 24));
  }
  conv.fused = text == "1";
  return {};
}

/// A time next to a tuple. 0 stands for none, as the original's predictor takes it; -1 for a failed
/// profile.
Status read_time(std::string_view text, std::optional<double>& to) {
  const auto ms = base::parse_double(text);
  if (!ms || !std::isfinite(*ms) || (*ms < 0 && *ms != -1)) {
    return fail(Code::Input, "the time is '{}'; expected milliseconds, or -1 for a failed profile",
                base::printable(text, 24));
  }
  if (*ms != 0) to = *ms;
  return {};
}

/// What is next to a tuple where the original raised ("ERR:AssertionError") or nobody answered.
bool is_no_answer(std::string_view text) { return text == "-" || text.starts_with("ERR:"); }

/// `{Regular,1,16,5,5,8,1,1,0} 0.011776`
Result<ListedConv> read_library_line(std::string_view line) {
  const std::size_t end = line.find('}');
  if (end == std::string_view::npos) return fail(Code::Input, "no '}}' after '{{'");
  std::vector<std::string_view> fields;
  std::string_view rest = line.substr(1, end - 1);
  for (;;) {
    const std::size_t comma = rest.find(',');
    fields.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (fields.size() != kLibraryFields) {
    return fail(Code::Input, "{} fields between braces; expected {}", fields.size(),
                kLibraryFields);
  }
  ListedConv listed;
  OPLAT_TRY(conv, tuple_of_library_fields(fields));
  listed.conv = conv;
  listed.library_row = true;
  const auto after = words(line.substr(end + 1));
  if (after.size() != 1)
    return fail(Code::Input, "{} words after '}}'; expected one, the time", after.size());
  OPLAT_CHECK(read_time(after.front(), listed.ms));
  return listed;
}

constexpr std::string_view kGroup = "group=";

/// Regular 2 0 3 1 3 224 32 [ms], and what stood behind "group=", if anything.
Result<ListedConv> read_test_line(std::span<const std::string_view> fields,
                                  std::optional<std::string_view> group) {
  ListedConv listed;
  OPLAT_TRY(conv, tuple_of_test_fields(fields.first(kTestFields)));
  if (group) {
    OPLAT_CHECK(read_size("group", *group, conv.group));
    if (conv.in_c % conv.group != 0 || conv.out_c % conv.group != 0) {
      return fail(Code::Input, "{}{} does not divide {} input and {} output channels", kGroup,
                  *group, conv.in_c, conv.out_c);
    }
    // A depthwise convolution has as many groups as channels, whether they are told or not.
    if (conv.type == ConvType::Depthwise && conv.group != 1 && conv.group != conv.out_c) {
      return fail(Code::Input,
                  "{}{} of a Depthwise convolution of {} channels, which has one group per "
                  "channel; omit the group, or use Regular",
                  kGroup, *group, conv.out_c);
    }
    if (conv.type == ConvType::Depthwise) conv.group = 1;
  }
  listed.conv = conv;
  const auto rest = fields.subspan(kTestFields);
  if (!rest.empty() && !is_no_answer(rest.front())) OPLAT_CHECK(read_time(rest.front(), listed.ms));
  return listed;
}

constexpr std::string_view kTestForm =
    "Conv_type Stride ElmtFused Kernel Batch In_C In_H Out_C [ms] [group=G]";

Result<ListedConv> read_sample_line(std::span<const std::string_view> fields) {
  auto conv = tuple_of_sample_fields(fields);
  if (!conv) {
    return fail(conv.error().code, "{}; ten fields are '{}', eight or nine '{}'",
                conv.error().message, kSampleForm, kTestForm);
  }
  ListedConv listed;
  listed.conv = *conv;
  return listed;
}

Result<ListedConv> read_line(std::string_view line) {
  if (line.front() == '{') return read_library_line(line);
  // ('Regular', 2, 0, 3, 1, 3, 224, 32) 0, as the original's test_predictor.py writes.
  std::string plain(line);
  if (plain.front() == '(') {
    std::replace_if(
        plain.begin(), plain.end(),
        [](char c) { return std::string_view("(),'").find(c) != std::string_view::npos; }, ' ');
  }
  auto fields = words(plain);
  // Before or behind the time.
  std::optional<std::string_view> group;
  const auto named = std::find_if(fields.begin(), fields.end(),
                                  [](std::string_view word) { return word.starts_with(kGroup); });
  if (named != fields.end() && named - fields.begin() >= static_cast<std::ptrdiff_t>(kTestFields)) {
    group = named->substr(kGroup.size());
    fields.erase(named);
  }
  if (fields.size() == kTestFields || fields.size() == kTestFields + 1)
    return read_test_line(fields, group);
  // With a time at their end they are a tuple with a word too many, whose columns have another
  // order.
  if (fields.size() == kSampleFields && fields.back() == "0" && !group)
    return read_sample_line(fields);
  return fail(Code::Input,
              "{} fields in '{}'; expected "
              "'{{Conv_type,Batch,In_C,In_H,In_W,Out_C,Kernel,Stride,ElmtFused}} ms', '{}', "
              "or '{}'",
              fields.size() + (group ? 1U : 0U), base::printable(line, 60), kSampleForm, kTestForm);
}

}  // namespace

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  constexpr std::string_view kBlanks = " \t";
  std::size_t at = line.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    out.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return out;
}

Result<ConvTuple> tuple_of_library_fields(std::span<const std::string_view> fields) {
  ConvTuple conv;
  OPLAT_CHECK(read_type(fields[0], conv));
  OPLAT_CHECK(read_size("Batch", fields[1], conv.batch));
  OPLAT_CHECK(read_size("In_C", fields[2], conv.in_c));
  OPLAT_CHECK(read_size("In_H", fields[3], conv.in_h));
  OPLAT_CHECK(read_size("In_W", fields[4], conv.in_w));
  OPLAT_CHECK(read_size("Out_C", fields[5], conv.out_c));
  OPLAT_CHECK(read_size("Kernel", fields[6], conv.kernel));
  OPLAT_CHECK(read_size("Stride", fields[7], conv.stride));
  OPLAT_CHECK(read_fused(fields[8], conv));
  return conv;
}

Result<ConvTuple> tuple_of_sample_fields(std::span<const std::string_view> fields) {
  if (fields.size() != kSampleFields)
    return fail(Code::Input, "{} fields; expected '{}'", fields.size(), kSampleForm);
  if (fields.back() != "0") {
    return fail(Code::Input, "the last field is '{}'; expected 0 in place of a time",
                base::printable(fields.back(), 24));
  }
  OPLAT_TRY(conv, tuple_of_library_fields(fields.first(kLibraryFields)));
  if (conv.in_h != conv.in_w) {
    return fail(Code::Input, "In_H is {}, but In_W is {}; a sample has one size for both",
                conv.in_h, conv.in_w);
  }
  return conv;
}

Result<ConvTuple> tuple_of_test_fields(std::span<const std::string_view> fields) {
  ConvTuple conv;
  OPLAT_CHECK(read_type(fields[0], conv));
  OPLAT_CHECK(read_size("Stride", fields[1], conv.stride));
  OPLAT_CHECK(read_fused(fields[2], conv));
  OPLAT_CHECK(read_size("Kernel", fields[3], conv.kernel));
  OPLAT_CHECK(read_size("Batch", fields[4], conv.batch));
  OPLAT_CHECK(read_size("In_C", fields[5], conv.in_c));
  OPLAT_CHECK(read_size("In_H", fields[6], conv.in_h));
  OPLAT_CHECK(read_size("Out_C", fields[7], conv.out_c));
  conv.in_w = conv.in_h;
  return conv;
}

Result<std::vector<ListedConv>> read_conv_list(const base::Source& source) {
  std::vector<ListedConv> out;
  OPLAT_CHECK(
      for_each_line(source.bytes(), [&](std::string_view line, std::size_t number) -> Status {
        const std::size_t start = line.find_first_not_of(" \t");
        if (start == std::string_view::npos || line[start] == '#') return {};
        auto listed = read_line(line.substr(start));
        if (!listed)
          return fail(listed.error().code, "{}:{}: {}", source.name(), number,
                      listed.error().message);
        listed->line = number;
        out.push_back(*listed);
        return {};
      }));
  return out;
}

std::string sample_text(const ConvTuple& conv) {
  return fmt::format("{} {} {} {} {} {} {} {} {} 0", name(conv.type), conv.batch, conv.in_c,
                     conv.in_h, conv.in_w, conv.out_c, conv.kernel, conv.stride,
                     conv.fused ? 1 : 0);
}

std::string library_key_text(const ConvTuple& conv) {
  return fmt::format("{{{},{},{},{},{},{},{},{},{}}}", name(conv.type), conv.batch, conv.in_c,
                     conv.in_h, conv.in_w, conv.out_c, conv.kernel, conv.stride,
                     conv.fused ? 1 : 0);
}

}  // namespace oplat::compat::tinynas
