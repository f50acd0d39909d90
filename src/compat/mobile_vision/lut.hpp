// SPDX-License-Identifier: Apache-2.0
/// Look-up tables of mobile-vision's runtime_lut: JSON Lines, one measured operator a line, and its
/// rule of look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "formats/caffe2/lut_query.hpp"
#include "table/records.hpp"

namespace oplat::compat::mobile_vision {

/// The runtime that such tables are of: Caffe2, whose int8 operators run on QNNPACK.
inline constexpr std::string_view kLutRuntime = "caffe2-qnnpack";

/// A time of a line, and whether the line says it as a whole number, which Python then prints
/// without a point.
struct LutTime {
  double us = 0;
  double ns = 0;  ///< the number nearest to the text's us
  bool whole = false;
  friend bool operator==(const LutTime&, const LutTime&) = default;
};

/// One line.
struct LutRecord {
  formats::caffe2::LutQuery query;
  std::string device;
  LutTime p50;
  std::optional<LutTime> p0, p10, p90, p100;  ///< std::nullopt if the line does not say it
  std::size_t line = 0;                       ///< in its file, from 1
  std::string_view before;  ///< bytes between the record before and this one; points into what was
                            ///< read, as text does
  std::string_view text;    ///< the line with its end
};

struct Lut {
  std::vector<LutRecord> records;
  std::string_view tail;           ///< bytes after the last record
  std::size_t skipped = 0;         ///< malformed lines that were left out
  std::vector<std::string> notes;  ///< the first ten of them: "line 7: ..."
};

/// The records of a file, which must outlive them. A line lacks at most op_args and the percentiles
/// other than p50, and has no further keys. Code::Input names every malformed line, the first ten
/// with the reason, unless `skip_bad_lines`; also where no record is left.
Result<Lut> read_lut(std::string_view bytes, std::string_view name, bool skip_bad_lines = false);
/// One record, as read_lut reads a line of it.
Result<LutRecord> read_lut_record(std::string_view line);
/// One line of queries: a record's line without its times; `device` may be missing.
struct LutQuestion {
  formats::caffe2::LutQuery query;
  std::string device;
};
Result<LutQuestion> read_lut_question(std::string_view line);

/// The line of a record, as the original writes it; percentiles that are missing are left away.
std::string lut_line(const LutRecord& record);
/// The line of a query.
std::string lut_question_line(const formats::caffe2::LutQuery& query, std::string_view device);
/// A time in ns as lines say it: us in nine digits at most.
LutTime lut_time_of_ns(double ns);

/// The record of a row that oplat measured: percentiles over its blocks.
LutRecord lut_record_of(formats::caffe2::LutQuery query, std::string device,
                        const table::Timing& timing, std::optional<double> slowest_ns);

/// A number as Python prints it: 960.0, 1e-05, 1e+16; 960 where it is whole.
std::string python_number(double value, bool whole = false);
/// Lists of lists of whole numbers, as Python prints them: [[1, 3, 224, 224]].
std::string python_lists(const std::vector<std::vector<std::int64_t>>& lists);

/// Whether an argument, as protobuf text, says nothing of the latency; see
/// formats::caffe2::is_inert_argument.
bool is_inert_lut_argument(std::string_view argument);
/// Identity of what is looked up: the five fields, without the arguments that say nothing of the
/// latency.
base::Hash128 lut_identity(const formats::caffe2::LutQuery& query, std::string_view device);

/// The key of a query. Where formats::caffe2::key_of knows none, one that holds every field, so
/// that equal queries have equal keys, and an unknown result, so that no estimate takes it for a
/// kernel that is understood.
std::string lut_key_text(const formats::caffe2::LutQuery& query);

/// Records found by identity, in the order in which they stand.
class LutIndex {
 public:
  explicit LutIndex(std::span<const LutRecord> records);
  /// Positions in `records`, ascending; empty where there is none.
  [[nodiscard]] std::vector<std::uint32_t> find(const formats::caffe2::LutQuery& query,
                                                std::string_view device) const;
  /// Equal queries whose times differ by more than a factor of two: the first ten, as messages that
  /// name their lines.
  [[nodiscard]] const std::vector<std::string>& contradictions() const { return contradictions_; }

 private:
  struct Chain {
    std::uint32_t first = 0, last = 0;
  };
  std::unordered_map<base::Hash128, Chain> chains_;
  /// of each record, the next of the same identity; itself where there is none
  std::vector<std::uint32_t> next_;
  std::vector<std::string> contradictions_;
};

/// The message about equal queries whose times contradict each other; std::nullopt if they do not.
std::optional<std::string> contradiction(std::span<const LutRecord* const> equal);

}  // namespace oplat::compat::mobile_vision
