// SPDX-License-Identifier: Apache-2.0
/// Tables of PaddleSlim's TableLatencyEvaluator: a head line of engine, device and time, then
/// "OPERATOR\tMS" lines.
#include <algorithm>
#include <unordered_map>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/evaluator_text.hpp"
#include "compat/paddleslim/text_kernels.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kExpected =
    "a head line of engine, device and time, then lines such as "
    "'conv,1,1,1,3,224,224,32,1,3,1,2,1<tab>12.5'";

/// Engine, device and time between tabs; documentation has them with commas, the device first.
std::optional<std::string> device_of_head(std::string_view line) {
  auto fields = base::split(line, '\t');
  if (fields.size() == 3) return std::string(table::trimmed(fields[1]));
  fields = base::split(line, ',');
  if (fields.size() == 3) return std::string(table::trimmed(fields[0]));
  return std::nullopt;
}

/// Why a line is not a row; the two halves of one that is.
Result<std::pair<std::string, double>> halves_of(std::string_view line) {
  const auto fields = base::split(line, '\t');
  if (fields.size() != 2) {
    return fail(Code::Input, "{} fields between tabs; expected an operator and its latency: '{}'",
                fields.size(), base::printable(line, 60));
  }
  if (fields[0].empty() || fields[0].size() > kMaxText || !table::is_plain(fields[0])) {
    return fail(Code::Input, "the operator's text is not 1 to {} bytes of printable ASCII: '{}'",
                kMaxText, base::printable(line, 60));
  }
  const auto ns = table::ns_of_ms(table::trimmed(fields[1]));
  if (!ns)
    return fail(Code::Input, "the latency is '{}'; expected {}", base::printable(fields[1], 40),
                base::kKernelTimesMs);
  return std::pair(fields[0], *ns);
}

class PaddleEvaluator final : public table::TableCodec {
  std::string_view do_name() const override { return "paddle-evaluator"; }
  std::string_view do_description() const override {
    return "text table of PaddleSlim's TableLatencyEvaluator";
  }
  /// Three fields in the first line, an operator and its time in the second.
  bool do_looks_like(std::string_view bytes) const override {
    table::TextRows lines(bytes);
    if (!lines.next() || base::split(lines.line(), '\t').size() != 3 || !lines.next()) return false;
    const auto fields = base::split(lines.line(), '\t');
    return fields.size() == 2 && table::ns_of_ms(table::trimmed(fields[1]));
  }
  bool do_may_name_device() const override { return true; }

  Result<table::Setting> do_setting(std::string_view, std::string_view precision) const override {
    return paddle_setting(precision);
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    const PaddlePrecision precision =
        paddle_precision(options.precision).value_or(PaddlePrecision::Fp32);
    table::TextRows rows(bytes);
    // Of equal texts Python keeps the last.
    std::unordered_map<std::string, std::size_t> last;
    for (table::TextRows scan(bytes); scan.next();)
      last[std::string(scan.line().substr(0, scan.line().find('\t')))] = scan.number();
    table::SettingFacts told;
    while (rows.next() && rows.line().empty()) {
    }
    if (const auto device = device_of_head(rows.line());
        device && !device->empty() && table::is_plain(rows.line())) {
      told.device = *device;
    } else {
      return fail(
          Code::Input,
          "{}: line {}: the head line is '{}'; expected engine, device and time, separated by tabs",
          base::printable(options.name, 400), rows.number(), base::printable(rows.line(), 60));
    }
    while (rows.next()) {
      if (rows.line().empty()) continue;
      auto halves = halves_of(rows.line());
      if (!halves) {
        rows.refuse(halves.error().message);
        continue;
      }
      const auto& [text, ns] = *halves;
      auto key = evaluator_key_of(text, precision);
      if (!key) {
        rows.refuse(key.error().message);
      } else if (last.at(text) != rows.number()) {
        rows.refuse(fmt::format("the operator appears again in line {}", last.at(text)));
      } else {
        rows.take({ir::print(*key), table::timing_of_one(ns), {}, {}});
      }
    }
    OPLAT_TRY(read, std::move(rows).finish(options, kExpected));
    read.told = std::move(told);
    note_what_rows_tell(read);
    return std::move(read);
  }

  bool do_accepts(std::string_view key, bool timed) const override {
    if (!timed || !key.starts_with("paddle_lite:")) return false;
    const auto parsed = ir::parse(key);
    return parsed && evaluator_text_of(*parsed).has_value();
  }

  /// A text does not say the precision, for one.
  std::string do_identity(std::string_view key) const override {
    const auto parsed = ir::parse(key);
    return (parsed ? evaluator_text_of(*parsed) : std::nullopt).value_or(std::string(key));
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    const std::string device = file.rows.empty() || file.rows.front().device.empty()
                                   ? "unknown"
                                   : file.rows.front().device;
    return table::write_text_rows(
        file, fmt::format("paddle_lite\t{}\tunknown\n", base::printable(device, 200)),
        [](const table::ForeignRow& row) -> Result<std::string> {
          const auto key = ir::parse(row.key);
          const auto text = key ? evaluator_text_of(*key) : std::nullopt;
          const auto* timing = std::get_if<table::Timing>(&row.outcome);
          if (!text || timing == nullptr) {
            return fail(Code::Input, "an evaluator's table cannot represent the key {}",
                        base::printable(row.key, 200));
          }
          return fmt::format("{}\t{}", *text, base::float_text(timing->median_ns / 1e6));
        });
  }
};

}  // namespace

Result<table::Setting> paddle_setting(std::string_view precision) {
  table::Setting setting;
  setting.runtime = "paddle_lite";
  setting.precision = "fp32";
  if (precision.empty()) return setting;
  setting.precision = precision;
  for (char& c : setting.precision) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (paddle_precision(setting.precision)) return setting;
  return fail(Code::Usage, "--precision {}: expected fp32, fp16 or int8 for a table of Paddle-Lite",
              base::printable(precision));
}

const table::TableCodec& evaluator_codec() {
  static const PaddleEvaluator codec;
  return codec;
}

}  // namespace oplat::compat::paddleslim
