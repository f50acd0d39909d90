// SPDX-License-Identifier: Apache-2.0
/// Lines of runtime_lut written, numbers as Python prints them, identities and keys of queries.
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "ir/key.hpp"

namespace oplat::compat::mobile_vision {
namespace {

/// "kernel" of `name: "kernel"\ni: 3\n`; empty where the text does not begin so.
std::string_view argument_name(std::string_view argument) {
  constexpr std::string_view kHead = "name: \"";
  if (!argument.starts_with(kHead)) return {};
  argument.remove_prefix(kHead.size());
  return argument.substr(0, argument.find('"'));
}

void put(std::string& bytes, std::int64_t number) {
  std::array<char, sizeof(number)> raw;
  std::memcpy(raw.data(), &number, raw.size());
  bytes.append(raw.data(), raw.size());
}
void put(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::int64_t>(text.size()));
  bytes += text;
}

std::string strings_text(const std::vector<std::string>& strings) {
  std::string text = "[";
  for (const std::string& one : strings)
    text += (text.size() > 1 ? ", " : "") + base::json_quote(one);
  return text + "]";
}

template <class Number>
std::string list_text(const std::vector<Number>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// The five fields' part of a line, without what closes it.
std::string query_fields(const formats::caffe2::LutQuery& query) {
  return fmt::format(R"({{"op_type": {}, "op_args": {}, "input_shapes": {}, "input_dtypes": {})",
                     base::json_quote(query.op_type), strings_text(query.op_args),
                     python_lists(query.input_shapes), list_text(query.input_dtypes));
}

bool is_word(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return true;
}

ir::Key key_of_the_unknown(const formats::caffe2::LutQuery& query) {
  ir::Key key;
  key.domain = "caffe2";
  key.op = is_word(query.op_type) ? query.op_type : "operator";
  ir::List arguments, dtypes;
  for (const std::string& argument : query.op_args) {
    if (!is_inert_lut_argument(argument)) arguments.emplace_back(argument);
  }
  for (const int number : query.input_dtypes) dtypes.emplace_back(number);
  key.attributes = {{"op_args", std::move(arguments)}, {"input_dtypes", std::move(dtypes)}};
  if (key.op != query.op_type) key.attributes.emplace_back("op_type", query.op_type);
  for (std::size_t i = 0; i < query.input_shapes.size(); ++i) {
    const auto dtype = i < query.input_dtypes.size()
                           ? formats::caffe2::dtype_of_caffe2(query.input_dtypes[i])
                           : std::nullopt;
    key.operands.emplace_back(ir::TensorEntry{dtype.value_or(ir::Dtype::Any), false,
                                              ir::Shape::of(query.input_shapes[i]), std::nullopt});
  }
  key.results.emplace_back(ir::TensorEntry{ir::Dtype::Any, false, {false, {}}, std::nullopt});
  key.canonicalise();
  return key;
}

}  // namespace

std::string python_number(double value, bool whole) {
  if (whole) return fmt::format("{:.0f}", value);
  // Python's repr: the shortest digits that read back, with an exponent below 1e-4 and from 1e16
  // on.
  constexpr double kMinPlain = 1e-4, kMinLarge = 1e16;
  const double size = value < 0 ? -value : value;
  const bool plain = size == 0 || (size >= kMinPlain && size < kMinLarge);
  std::array<char, 64> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), error == std::errc() ? end : buffer.data());
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string python_lists(const std::vector<std::vector<std::int64_t>>& lists) {
  std::string text = "[";
  for (const auto& list : lists) text += (text.size() > 1 ? ", " : "") + list_text(list);
  return text + "]";
}

std::string lut_line(const LutRecord& record) {
  std::string line = query_fields(record.query);
  const auto add = [&](std::string_view name, const LutTime& time) {
    fmt::format_to(std::back_inserter(line), ", \"runtime_us_{}\": {}", name,
                   python_number(time.us, time.whole));
  };
  if (record.p0) add("p0", *record.p0);
  if (record.p10) add("p10", *record.p10);
  add("p50", record.p50);
  if (record.p90) add("p90", *record.p90);
  if (record.p100) add("p100", *record.p100);
  return line + fmt::format(", \"device\": {}}}\n", base::json_quote(record.device));
}

std::string lut_question_line(const formats::caffe2::LutQuery& query, std::string_view device) {
  return query_fields(query) + fmt::format(", \"device\": {}}}\n", base::json_quote(device));
}

LutTime lut_time_of_ns(double ns) {
  constexpr double kNsPerUs = 1e3;
  return {base::parse_double(fmt::format("{:.9g}", ns / kNsPerUs)).value_or(ns / kNsPerUs), ns,
          false};
}

bool is_inert_lut_argument(std::string_view argument) {
  const std::string_view name = argument_name(argument);
  return !name.empty() && formats::caffe2::is_inert_argument(name);
}

base::Hash128 lut_identity(const formats::caffe2::LutQuery& query, std::string_view device) {
  std::string bytes;
  bytes.reserve(512);
  put(bytes, query.op_type);
  put(bytes, static_cast<std::int64_t>(query.input_shapes.size()));
  for (const auto& shape : query.input_shapes) {
    put(bytes, static_cast<std::int64_t>(shape.size()));
    for (const std::int64_t dim : shape) put(bytes, dim);
  }
  put(bytes, static_cast<std::int64_t>(query.input_dtypes.size()));
  for (const int dtype : query.input_dtypes) put(bytes, std::int64_t{dtype});
  put(bytes, device);
  for (const std::string& argument : query.op_args) {
    if (!is_inert_lut_argument(argument)) put(bytes, argument);
  }
  return base::hash128(bytes);
}

std::string lut_key_text(const formats::caffe2::LutQuery& query) {
  if (const auto key = formats::caffe2::key_of(query)) return ir::print(*key);
  return ir::print(key_of_the_unknown(query));
}

}  // namespace oplat::compat::mobile_vision
