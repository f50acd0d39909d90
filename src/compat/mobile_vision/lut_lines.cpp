// SPDX-License-Identifier: Apache-2.0
/// Lines of runtime_lut read by simdjson, which validates as it goes; the only file that names it.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <limits>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "table/refused_rows.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::mobile_vision {
namespace {

namespace ondemand = simdjson::ondemand;

/// Real lines have some 400 bytes. Shorter than any text of a table, so that each can be imported.
constexpr std::size_t kMaxLine = std::size_t{256} << 10;
constexpr std::size_t kMaxList = 256;
constexpr std::size_t kMaxRank = 16;
constexpr std::size_t kMaxName = 256;
/// Keeps what is computed of sizes far from the end of 63 bits.
constexpr std::int64_t kMaxDim = std::int64_t{1} << 40;

enum Field : std::size_t {
  kType,
  kArgs,
  kShapes,
  kDtypes,
  kP0,
  kP10,
  kP50,
  kP90,
  kP100,
  kDevice,
  kFields
};
constexpr std::array<std::string_view, kFields> kFieldNames = {
    "op_type",        "op_args",        "input_shapes",   "input_dtypes",    "runtime_us_p0",
    "runtime_us_p10", "runtime_us_p50", "runtime_us_p90", "runtime_us_p100", "device"};

bool is_time(std::size_t field) { return field >= kP0 && field <= kP100; }

std::string quoted(std::string_view text) { return fmt::format("'{}'", base::printable(text, 60)); }

/// What a line says, and which fields stand in it.
struct Said {
  formats::caffe2::LutQuery query;
  std::string device;
  std::array<LutTime, kFields> times;
  std::bitset<kFields> fields;
  [[nodiscard]] std::optional<LutTime> time(Field field) const {
    return fields[field] ? std::optional(times[field]) : std::nullopt;
  }
};

class LineReader {
 public:
  /// `line` is followed by simdjson::SIMDJSON_PADDING bytes that may be read.
  Result<Said> read(std::string_view line) {
    if (line.size() > kMaxLine)
      return fail(Code::Input, "{} bytes; the limit for a line is {}", line.size(), kMaxLine);
    ondemand::document document;
    const simdjson::padded_string_view padded(line.data(), line.size(),
                                              line.size() + simdjson::SIMDJSON_PADDING);
    if (const auto error = parser_.iterate(padded).get(document)) return no_json(line, error);
    ondemand::object object;
    if (document.get_object().get(object))
      return fail(Code::Input, "not a JSON object: {}", quoted(line));
    Said said;
    for (auto entry : object) {
      ondemand::field field;
      if (const auto error = std::move(entry).get(field)) return no_json(line, error);
      std::string_view name;
      if (const auto error = field.unescaped_key().get(name)) return no_json(line, error);
      const auto* const at = std::find(kFieldNames.begin(), kFieldNames.end(), name);
      if (at == kFieldNames.end()) return fail_unknown(name);
      const auto index = static_cast<std::size_t>(at - kFieldNames.begin());
      if (said.fields[index]) return fail(Code::Input, "{} appears twice", name);
      said.fields.set(index);
      if (auto status = read_field(index, field.value(), said); !status)
        return fail(std::move(status).error());
    }
    const char* rest = nullptr;
    if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
      return fail(Code::Input, "text follows the closing brace: {}", quoted(line));
    }
    return said;
  }

 private:
  static tl::unexpected<Error> no_json(std::string_view line, simdjson::error_code error) {
    return fail(Code::Input, "not a JSON object: {}: {}", simdjson::error_message(error),
                quoted(line));
  }

  static tl::unexpected<Error> fail_unknown(std::string_view name) {
    constexpr std::string_view kRuntime = "runtime_";
    if (name.starts_with(kRuntime)) {
      return fail(Code::Input,
                  "{} is not in the schema; expected times in microseconds: runtime_us_p0, _p10, "
                  "_p50, _p90, _p100",
                  quoted(name));
    }
    return fail(Code::Input, "{} is not in the schema; expected one of {}", quoted(name),
                fmt::join(kFieldNames, ", "));
  }

  static Status read_field(std::size_t index, ondemand::value& value, Said& said) {
    if (index == kType) return read_name(index, value, said.query.op_type);
    if (index == kDevice) return read_name(index, value, said.device);
    if (index == kArgs) return read_args(value, said.query.op_args);
    if (index == kShapes) return read_shapes(value, said.query.input_shapes);
    if (index == kDtypes) return read_dtypes(value, said.query.input_dtypes);
    return read_time(index, value, said.times[index]);
  }

  static Status read_name(std::size_t index, ondemand::value& value, std::string& to) {
    std::string_view text;
    const std::string_view token = value.raw_json_token();
    if (value.get_string().get(text)) {
      return fail(Code::Input, "{} is {}; expected a string", kFieldNames[index],
                  quoted(table::trimmed(token)));
    }
    const bool control = std::any_of(text.begin(), text.end(),
                                     [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (text.empty() || text.size() > kMaxName || control) {
      return fail(Code::Input, "{} is {}; expected 1 to {} bytes without control characters",
                  kFieldNames[index], quoted(text), kMaxName);
    }
    to = text;
    return {};
  }

  static Status read_args(ondemand::value& value, std::vector<std::string>& to) {
    const auto bad = [] {
      return fail(Code::Input, "op_args is not a list of at most {} strings", kMaxList);
    };
    ondemand::array array;
    if (value.get_array().get(array)) return bad();
    for (auto element : array) {
      std::string_view text;
      if (element.get_string().get(text) || to.size() == kMaxList) return bad();
      to.emplace_back(text);
    }
    return {};
  }

  static Status read_shapes(ondemand::value& value, std::vector<std::vector<std::int64_t>>& to) {
    const auto bad = [] {
      return fail(
          Code::Input,
          "input_shapes is not a list of at most {} lists of at most {} integers from 0 to {}",
          kMaxList, kMaxRank, kMaxDim);
    };
    ondemand::array shapes;
    if (value.get_array().get(shapes)) return bad();
    for (auto shape : shapes) {
      ondemand::array dims;
      if (shape.get_array().get(dims) || to.size() == kMaxList) return bad();
      std::vector<std::int64_t>& made = to.emplace_back();
      for (auto dim : dims) {
        std::int64_t number = 0;
        if (dim.get_int64().get(number) || number < 0 || number > kMaxDim ||
            made.size() == kMaxRank)
          return bad();
        made.push_back(number);
      }
    }
    return {};
  }

  static Status read_dtypes(ondemand::value& value, std::vector<int>& to) {
    constexpr std::int64_t kMaxDtype = 1000;
    const auto bad = [] {
      return fail(
          Code::Input,
          "input_dtypes is not a list of at most {} numbers of Caffe2's TensorProto.DataType",
          kMaxList);
    };
    ondemand::array array;
    if (value.get_array().get(array)) return bad();
    for (auto element : array) {
      std::int64_t number = 0;
      if (element.get_int64().get(number) || number < 0 || number > kMaxDtype ||
          to.size() == kMaxList)
        return bad();
      to.push_back(static_cast<int>(number));
    }
    return {};
  }

  static Status read_time(std::size_t index, ondemand::value& value, LutTime& to) {
    const std::string_view token = table::trimmed(value.raw_json_token());
    double us = 0;
    const bool number = !value.get_double().get(us);
    constexpr double kNsPerUs = 1e3;
    // The original's tables may hold 0.
    if (!number || std::signbit(us) || (us != 0 && !base::is_kernel_time(us * kNsPerUs))) {
      return fail(Code::Input, "{} is {}; expected microseconds, 0 or {:g} to {:g}",
                  kFieldNames[index], quoted(token), base::kMinKernelNs / kNsPerUs,
                  base::kMaxKernelNs / kNsPerUs);
    }
    const bool has_exponent = token.find_first_of("eE") != std::string_view::npos;
    to.us = us;
    to.whole = !has_exponent && token.find('.') == std::string_view::npos;
    // Shifted in the text: 0.0123 us are 12.3 ns, though 0.0123 * 1000 are not.
    to.ns = us * kNsPerUs;
    if (!has_exponent && token.size() <= kMaxName)
      to.ns = base::parse_double(fmt::format("{}e3", token)).value_or(to.ns);
    return {};
  }

  ondemand::parser parser_;
};

/// A list of arguments may be missing, since many operators have none; so may the percentiles that
/// nobody looks up.
Result<LutRecord> record_of(Said said) {
  std::vector<std::string> lacking;
  for (const Field field : {kType, kShapes, kDtypes, kP50, kDevice}) {
    if (!said.fields[field]) lacking.emplace_back(kFieldNames[field]);
  }
  if (!lacking.empty()) return fail(Code::Input, "lacks {}", base::join(lacking, ", "));
  LutRecord record;
  record.query = std::move(said.query);
  record.device = std::move(said.device);
  record.p0 = said.time(kP0);
  record.p10 = said.time(kP10);
  record.p50 = said.times[kP50];
  record.p90 = said.time(kP90);
  record.p100 = said.time(kP100);
  return record;
}

Result<Said> read_alone(std::string_view line) {
  const simdjson::padded_string padded(line);
  LineReader reader;
  return reader.read(table::trimmed({padded.data(), padded.size()}));
}

}  // namespace

Result<LutRecord> read_lut_record(std::string_view line) {
  OPLAT_TRY(said, read_alone(line));
  return record_of(std::move(said));
}

Result<LutQuestion> read_lut_question(std::string_view line) {
  OPLAT_TRY(said, read_alone(line));
  for (std::size_t i = 0; i < kFields; ++i) {
    if (said.fields[i] && is_time(i))
      return fail(Code::Input, "{} is not allowed in a query, which has no times", kFieldNames[i]);
  }
  for (const Field field : {kType, kShapes, kDtypes}) {
    if (!said.fields[field]) return fail(Code::Input, "lacks {}", kFieldNames[field]);
  }
  return LutQuestion{std::move(said.query), std::move(said.device)};
}

Result<Lut> read_lut(std::string_view bytes, std::string_view name, bool skip_bad_lines) {
  Lut lut;
  table::RefusedRows refused;
  LineReader reader;
  // Lines are parsed in a copy, behind whose end simdjson may read; records point into the bytes
  // themselves.
  const simdjson::padded_string copy(bytes);
  lut.records.reserve(bytes.size() / 300);
  std::size_t pending = 0;
  std::size_t number = 0;
  for (std::size_t start = 0; start < bytes.size();) {
    const std::size_t newline = bytes.find('\n', start);
    const std::size_t next = newline == std::string_view::npos ? bytes.size() : newline + 1;
    ++number;
    const std::string_view line = table::trimmed({copy.data() + start, next - start});
    if (!line.empty()) {
      auto said = reader.read(line);
      auto record =
          said ? record_of(*std::move(said)) : Result<LutRecord>(fail(std::move(said).error()));
      if (record) {
        record->line = number;
        record->before = bytes.substr(pending, start - pending);
        record->text = bytes.substr(start, next - start);
        lut.records.push_back(*std::move(record));
        pending = next;
      } else {
        refused.add(number, record.error().message);
      }
    }
    start = next;
  }
  if (refused.count() > 0 && !skip_bad_lines) return refused.error(name);
  if (lut.records.empty()) {
    return fail(
        Code::Input, "{}: has no record ({} malformed{}); expected lines such as {}",
        base::printable(name, 400), refused.count(), refused.first(),
        R"({"op_type": "Int8FC", "op_args": [], "input_shapes": [...], "input_dtypes": [...], "runtime_us_p50": 9.0, "device": "..."})");
  }
  lut.tail = bytes.substr(pending);
  lut.skipped = refused.count();
  lut.notes = std::move(refused).take_notes();
  return lut;
}

}  // namespace oplat::compat::mobile_vision
