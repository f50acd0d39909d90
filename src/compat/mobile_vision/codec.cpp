// SPDX-License-Identifier: Apache-2.0
/// Tables of runtime_lut as rows: each line is a key of the domain "caffe2", a device of its own,
/// and percentiles.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "compat/mobile_vision/codec.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "compat/mobile_vision/lut_row_index.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::mobile_vision {
namespace {

/// The percentiles of the calls of one measurement: one block, so that nobody knows how much its
/// median would differ the next time, and an interval that claims nothing.
table::Timing timing_of(const LutRecord& record) {
  table::Timing timing;
  timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = record.p50.ns;
  timing.ci_level = 0;
  timing.p10_ns = record.p10.value_or(record.p50).ns;
  timing.p90_ns = record.p90.value_or(record.p50).ns;
  timing.min_ns = record.p0.value_or(record.p10.value_or(record.p50)).ns;
  timing.blocks = timing.processes = 1;
  return timing;
}

std::optional<formats::caffe2::LutQuery> query_of(std::string_view key) {
  if (!key.starts_with("caffe2:")) return std::nullopt;
  const auto parsed = ir::parse(key);
  return parsed ? formats::caffe2::lut_query_of(*parsed) : std::nullopt;
}

class LutCodec final : public table::TableCodec {
  std::string_view do_name() const override { return "lut"; }
  std::string_view do_description() const override {
    return "JSON Lines of mobile-vision's runtime_lut";
  }
  bool do_looks_like(std::string_view bytes) const override {
    return bytes.starts_with('{') && bytes.find("\"op_type\"") != std::string_view::npos;
  }
  bool do_may_name_device() const override { return true; }

  Result<table::Setting> do_setting(std::string_view file_name,
                                    std::string_view precision) const override {
    table::Setting setting;
    setting.runtime = kLutRuntime;
    if (!precision.empty() && precision != setting.precision) {
      return fail(Code::Usage,
                  "--precision {}: {} names the precision of every operator itself; omit the flag",
                  base::printable(precision), base::printable(file_name, 200));
    }
    return setting;
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    OPLAT_TRY(lut, read_lut(bytes, options.name, options.skip_bad_rows));
    table::ForeignRead read;
    read.skipped = lut.skipped;
    read.notes = std::move(lut.notes);
    read.warnings = LutIndex(lut.records).contradictions();
    read.file.tail = lut.tail;
    read.file.head = lut.records.front().before;
    read.file.rows.reserve(lut.records.size());
    for (const LutRecord& record : lut.records) {
      table::ForeignRow row;
      row.key = lut_key_text(record.query);
      row.outcome = timing_of(record);
      if (&record != &lut.records.front()) row.before = record.before;
      // Look-ups by the original's rule need the line's own words: a key does not tell kernel from
      // kernel_h and kernel_w.
      row.text = std::string(record.text);
      row.device = record.device;
      read.file.rows.push_back(std::move(row));
    }
    return read;
  }

  bool do_accepts(std::string_view key, bool timed) const override {
    return timed && query_of(key).has_value();
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    return table::write_text_rows(
        file, "", [](const table::ForeignRow& row) -> Result<std::string> {
          const auto* timing = std::get_if<table::Timing>(&row.outcome);
          auto query = query_of(row.key);
          if (timing == nullptr || !query)
            return fail(Code::Input, "a look-up table cannot represent the key {}",
                        base::printable(row.key, 200));
          std::string line =
              lut_line(lut_record_of(*std::move(query), row.device, *timing, row.slowest_ns));
          line.pop_back();  // its end
          return line;
        });
  }

  Status do_index(table::Table& table, table::DeviceId device,
                  table::SettingId setting) const override {
    OPLAT_TRY(kept, LutRowIndex::load(table, device, setting));
    return kept ? Status{} : LutRowIndex::store(table, device, setting);
  }
};

}  // namespace

LutRecord lut_record_of(formats::caffe2::LutQuery query, std::string device,
                        const table::Timing& timing, std::optional<double> slowest_ns) {
  LutRecord record;
  record.query = std::move(query);
  record.device = std::move(device);
  record.p0 = lut_time_of_ns(timing.min_ns);
  record.p10 = lut_time_of_ns(timing.p10_ns);
  record.p50 = lut_time_of_ns(timing.median_ns);
  record.p90 = lut_time_of_ns(timing.p90_ns);
  record.p100 = lut_time_of_ns(std::max(slowest_ns.value_or(timing.p90_ns), timing.p90_ns));
  return record;
}

const table::TableCodec& lut_codec() {
  static const LutCodec codec;
  return codec;
}

}  // namespace oplat::compat::mobile_vision
