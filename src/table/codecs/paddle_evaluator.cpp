// SPDX-License-Identifier: Apache-2.0
/// Tables of PaddleSlim's TableLatencyEvaluator: a head line of engine, device and time, then
/// "OPERATOR\tMS" lines.
#include <algorithm>
#include <unordered_map>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "table/codecs/codecs.hpp"
#include "table/codecs/paddle_evaluator_text.hpp"
#include "table/codecs/paddle_kernels.hpp"
#include "table/codecs/text_rows.hpp"

namespace oplat::table {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kExpected =
    "a head line of engine, device and time, then lines such as "
    "'conv,1,1,1,3,224,224,32,1,3,1,2,1<tab>12.5'";

/// Engine, device and time between tabs; documentation has them with commas, the device first.
std::optional<std::string> device_of_head(std::string_view line) {
  auto fields = base::split(line, '\t');
  if (fields.size() == 3) return std::string(trimmed(fields[1]));
  fields = base::split(line, ',');
  if (fields.size() == 3) return std::string(trimmed(fields[0]));
  return std::nullopt;
}

/// Why a line is no row; the two halves of one that is.
Result<std::pair<std::string, double>> halves_of(std::string_view line) {
  const auto fields = base::split(line, '\t');
  if (fields.size() != 2) {
    return fail(Code::Input,
                "{} fields between tabs where an operator and its latency are expected: '{}'",
                fields.size(), base::printable(line, 60));
  }
  if (fields[0].empty() || fields[0].size() > kMaxText || !is_plain(fields[0])) {
    return fail(Code::Input, "the operator's text is no 1 to {} bytes of printable ASCII: '{}'",
                kMaxText, base::printable(line, 60));
  }
  const auto ns = ns_of_ms(trimmed(fields[1]));
  if (!ns)
    return fail(Code::Input, "the latency is '{}'; expected {}", base::printable(fields[1], 40),
                base::kKernelTimesMs);
  return std::pair(fields[0], *ns);
}

class PaddleEvaluator final : public TableCodec {
  std::string_view do_name() const override { return "paddle-evaluator"; }

  Result<Setting> do_setting(std::string_view, std::string_view precision) const override {
    return paddle_setting(precision);
  }

  Result<ForeignRead> do_read(std::string_view bytes, const ReadOptions& options) const override {
    const PaddlePrecision precision =
        paddle_precision(options.precision).value_or(PaddlePrecision::Fp32);
    TextRows rows(bytes);
    // Of equal texts Python keeps the last.
    std::unordered_map<std::string, std::size_t> last;
    for (TextRows scan(bytes); scan.next();)
      last[std::string(scan.line().substr(0, scan.line().find('\t')))] = scan.number();
    SettingFacts told;
    while (rows.next() && rows.line().empty()) {
    }
    if (const auto device = device_of_head(rows.line());
        device && !device->empty() && is_plain(rows.line())) {
      told.device = *device;
    } else {
      return fail(Code::Input,
                  "{}: line {}: the head line is '{}' where engine, device and time are expected, "
                  "with tabs between",
                  base::printable(options.name, 400), rows.number(),
                  base::printable(rows.line(), 60));
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
        rows.refuse(fmt::format("the operator stands there once more, in line {}", last.at(text)));
      } else {
        rows.take({ir::print(*key), timing_of_one(ns), {}, {}});
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

  Result<std::string> do_write(const ForeignFile& file, const Setting& /*setting*/) const override {
    const std::string device = file.rows.empty() || file.rows.front().device.empty()
                                   ? "unknown"
                                   : file.rows.front().device;
    return write_text_rows(
        file, fmt::format("paddle_lite\t{}\tunknown\n", base::printable(device, 200)),
        [](const ForeignRow& row) -> Result<std::string> {
          const auto key = ir::parse(row.key);
          const auto text = key ? evaluator_text_of(*key) : std::nullopt;
          const auto* timing = std::get_if<Timing>(&row.outcome);
          if (!text || timing == nullptr) {
            return fail(Code::Input, "no line of an evaluator's table can say the key {}",
                        base::printable(row.key, 200));
          }
          return fmt::format("{}\t{}", *text, base::float_text(timing->median_ns / 1e6));
        });
  }
};

}  // namespace

Result<Setting> paddle_setting(std::string_view precision) {
  Setting setting;
  setting.runtime = "paddle_lite";
  setting.precision = "fp32";
  if (precision.empty()) return setting;
  setting.precision = precision;
  for (char& c : setting.precision) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (paddle_precision(setting.precision)) return setting;
  return fail(Code::Usage, "--precision {}: tables of Paddle-Lite have fp32, fp16, int8",
              base::printable(precision));
}

std::unique_ptr<TableCodec> make_paddle_evaluator_codec() {
  return std::make_unique<PaddleEvaluator>();
}

}  // namespace oplat::table
