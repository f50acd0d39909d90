// SPDX-License-Identifier: Apache-2.0
/// latency_lookup_table.txt of Paddle-Lite's operator benchmarks: two lines about the phone, one of
/// column names, then a row a line, padded with blanks, tabs between.
#include <algorithm>
#include <array>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/lookup_text.hpp"
#include "compat/paddleslim/text_kernels.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr std::int64_t kMaxThreads = 4096;
constexpr std::int64_t kMaxPowerMode = 100;
constexpr std::string_view kHead = "dev_info";
constexpr std::string_view kColumnsHead = "op_name";
constexpr std::size_t kMaxColumns = 64;

enum Column : std::size_t { kName, kInput, kOutput, kParameters, kMin, kMax, kAvg, kColumns };
constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "op_name",         "input_dims",      "output_dims",    "param_info",
    "min_latency(ms)", "max_latency(ms)", "avg_latency(ms)"};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t start = 0; start <= line.size() && cells.size() < kMaxColumns;) {
    const std::size_t tab = std::min(line.find('\t', start), line.size());
    cells.push_back(table::trimmed(line.substr(start, tab - start)));
    start = tab + 1;
  }
  return cells;
}

/// The phone's line under its names. Old tables name a power mode and do not give it: then the
/// cores' names come one column early.
Result<table::SettingFacts> phone_of(const std::vector<std::string_view>& names,
                                     const std::vector<std::string_view>& values) {
  table::SettingFacts told;
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
    const std::string_view value = values[i];
    if (names[i] == kHead && !value.empty() && table::is_plain(value))
      told.device = std::string(value);
    const auto number = base::parse_int(value);
    if (names[i] == "thread_num") {
      if (!number || *number < 1 || *number > kMaxThreads) {
        return fail(Code::Input, "thread_num is '{}'; expected 1 to {}", base::printable(value, 40),
                    kMaxThreads);
      }
      told.threads = *number;
    }
    if (names[i] == "power_mode" && number && *number >= 0 && *number <= kMaxPowerMode)
      told.options["power_mode"] = std::to_string(*number);
    if (names[i].starts_with("armv7") && table::is_plain(value) && value.starts_with("armv"))
      told.options["arm"] = std::string(value);
  }
  return told;
}

using Places = std::array<std::size_t, kColumns>;

/// Where the columns stand; the two times that nobody predicts may be missing.
Result<Places> places_of(const std::vector<std::string_view>& names) {
  Places places{};
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto found = std::find(names.begin(), names.end(), kColumnNames[column]);
    places[column] = static_cast<std::size_t>(found - names.begin());
    if (found == names.end() && column != kMin && column != kMax) {
      return fail(Code::Input, "the column '{}' is missing; expected {}", kColumnNames[column],
                  fmt::join(kColumnNames, ", "));
    }
  }
  return places;
}

Result<table::ForeignRow> row_of(std::string_view line, const std::vector<std::string_view>& names,
                                 const Places& places) {
  const auto cells = cells_of(line);
  if (cells.size() != names.size()) {
    return fail(Code::Input, "{} columns between tabs; expected {}: '{}'", cells.size(),
                names.size(), base::printable(line, 60));
  }
  if (!table::is_plain(line))
    return fail(Code::Input, "the line holds bytes that are not printable ASCII: '{}'",
                base::printable(line, 60));
  OPLAT_TRY(key,
            lookup_key_of(cells[places[kName]], cells[places[kInput]], cells[places[kParameters]]));
  const auto time = [&](Column column) -> Result<std::optional<double>> {
    if (places[column] == names.size()) return std::nullopt;
    const auto ns = table::ns_of_ms(cells[places[column]]);
    if (!ns)
      return fail(Code::Input, "{} is '{}'; expected {}", kColumnNames[column],
                  base::printable(cells[places[column]], 40), base::kKernelTimesMs);
    return ns;
  };
  OPLAT_TRY(average, time(kAvg));
  OPLAT_TRY(least, time(kMin));
  OPLAT_TRY(most, time(kMax));
  if ((least && *least > *average) || (most && *most < *average)) {
    return fail(Code::Input, "the average of {} ms is not between min and max",
                cells[places[kAvg]]);
  }
  table::Timing timing = table::timing_of_one(*average);
  timing.min_ns = least.value_or(*average);
  return table::ForeignRow{ir::print(key), timing, {}, {}};
}

class PaddleLookup final : public table::TableCodec {
  std::string_view do_name() const override { return "paddle-lookup"; }
  std::string_view do_description() const override {
    return "latency_lookup_table.txt of Paddle-Lite";
  }
  bool do_looks_like(std::string_view bytes) const override { return bytes.starts_with(kHead); }
  bool do_may_name_device() const override { return true; }
  Result<table::Setting> do_setting(std::string_view, std::string_view precision) const override {
    return paddle_setting(precision);
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    table::TextRows rows(bytes);
    std::vector<std::string_view> phone_names, names;
    table::SettingFacts told;
    Places places{};
    const auto fail_at = [&](const Error& error) {
      return fail(Code::Input, "{}: line {}: {}", base::printable(options.name, 400), rows.number(),
                  error.message);
    };
    while (rows.next()) {
      const std::string_view line = rows.line();
      if (line.empty()) continue;
      if (!names.empty()) {
        if (auto row = row_of(line, names, places)) {
          rows.take(*std::move(row));
        } else {
          rows.refuse(row.error().message);
        }
      } else if (line.starts_with(kColumnsHead)) {
        names = cells_of(line);
        auto found = places_of(names);
        if (!found) return fail_at(found.error());
        places = *found;
      } else if (line.starts_with(kHead) && phone_names.empty()) {
        phone_names = cells_of(line);
      } else if (!phone_names.empty() && !told.threads) {
        auto facts = phone_of(phone_names, cells_of(line));
        if (!facts) return fail_at(facts.error());
        told = *std::move(facts);
      } else {
        return fail_at({Code::Input,
                        fmt::format("'{}'; expected the line of '{}...'", base::printable(line, 60),
                                    phone_names.empty() ? kHead : kColumnsHead)});
      }
    }
    OPLAT_TRY(read, std::move(rows).finish(
                        options,
                        "a line of dev_info..., one of the phone, one of op_name..., then rows"));
    read.told = std::move(told);
    note_what_rows_tell(read);
    return std::move(read);
  }

  bool do_accepts(std::string_view key, bool timed) const override {
    if (!timed || !key.starts_with("paddle_lite:")) return false;
    const auto parsed = ir::parse(key);
    return parsed && lookup_operator_of(*parsed).has_value();
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& setting) const override {
    const std::string device = file.rows.empty() || file.rows.front().device.empty()
                                   ? "unknown"
                                   : file.rows.front().device;
    const auto option = [&](const std::string& name) {
      const auto said = setting.options.find(name);
      return said == setting.options.end() ? std::string("unknown")
                                           : base::printable(said->second, 20);
    };
    const std::string head =
        fmt::format("{:<30}\t{:<10}\t{:<10}\t{:<10}\n{:<30}\t{:<10}\t{:<10}\t{:<10}\n", kHead,
                    "armv7/v8", "thread_num", "power_mode", base::printable(device, 200),
                    option("arm"), std::max<std::int64_t>(1, setting.threads),
                    option("power_mode")) +
        fmt::format("{:<10}\t{:<10}\t{:<10}\t{:<80}\t{}\t{}\t{}\n", kColumnNames[kName],
                    kColumnNames[kInput], kColumnNames[kOutput], kColumnNames[kParameters],
                    kColumnNames[kMin], kColumnNames[kMax], kColumnNames[kAvg]);
    return table::write_text_rows(
        file, head, [](const table::ForeignRow& row) -> Result<std::string> {
          const auto key = ir::parse(row.key);
          const auto text = key ? lookup_operator_of(*key) : std::nullopt;
          const auto* timing = std::get_if<table::Timing>(&row.outcome);
          if (!text || timing == nullptr) {
            return fail(Code::Input, "latency_lookup_table.txt cannot represent the key {}",
                        base::printable(row.key, 200));
          }
          const auto ms = [](double ns) { return base::float_text(ns / 1e6); };
          const double most = std::max(row.slowest_ns.value_or(timing->p90_ns), timing->median_ns);
          return fmt::format("{:<10}\t{:<10}\t{:<10}\t{:<80}\t{:<10}\t{:<10}\t{:<10}", text->name,
                             text->input, text->output, text->parameters,
                             ms(std::min(timing->min_ns, timing->median_ns)), ms(most),
                             ms(timing->median_ns));
        });
  }
};

}  // namespace

const table::TableCodec& lookup_codec() {
  static const PaddleLookup codec;
  return codec;
}

}  // namespace oplat::compat::paddleslim
