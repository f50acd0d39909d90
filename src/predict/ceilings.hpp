// SPDX-License-Identifier: Apache-2.0
/// Ceilings: the most that the rows of one device and setting reach, to hold single kernels
/// against.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "ir/key.hpp"
#include "ir/work.hpp"
#include "predict/prediction.hpp"
#include "table/table.hpp"

namespace oplat::predict {

/// A row that holds a time, as far as ceilings need it.
struct TimedKey {
  std::string key;
  std::optional<double> reuse_bytes;
  double median_ns = 0;
};

/// How fast data come from a level of the memory.
struct MemoryLevel {
  std::optional<double> up_to_bytes;  ///< touched between two uses of a byte; nothing: any number
  double bytes_per_ns = 0;
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

/// Rates are the best of their kind among the rows, but two better ones (one in a thousand, if that
/// is more) are left out as possibly wrong; below 20 rates the best one counts.
struct Ceilings {
  /// What the runtime takes for a node that computes next to nothing: the rows of
  /// plan::kDispatchKey, or else the lower quartile of the rows of at most 4 KiB and 16,384
  /// operations. Nothing: no such row.
  std::optional<double> node_ns;
  /// By work_dtype(), from rows of at least five times node_ns.
  std::map<ir::Dtype, double> flops_per_ns;
  /// The core's own cache, the last level and memory, nearest first, as far as the device's sizes
  /// tell them apart and rows stand there: a row stands where its reuse_bytes lie. Nothing further
  /// away is faster. From rows of at least five times node_ns.
  std::vector<MemoryLevel> memory;
  std::int64_t rows = 0;  ///< that were looked at

  /// Of data with so many bytes touched between two uses. Nothing: no row moves a byte.
  [[nodiscard]] std::optional<double> bytes_per_ns(double reuse_bytes) const;
};

/// Rows whose key does not parse or whose sizes are unknown are passed over.
Ceilings ceilings_of(std::span<const TimedKey> rows, const table::Device& device,
                     const ir::Catalogue& catalogue);

/// Rows that are read besides those of the prediction's own kernels: a report must not wait for a
/// large table.
inline constexpr std::int64_t kMaxSampledRows = 256;

/// What rows of a selection reach, for any number of predictions: the rows that all of them look at
/// are read and parsed once.
class CeilingRows {
 public:
  /// The rows of plan::kDispatchKey, and at most `max_rows` others spread evenly over the table,
  /// those of the selection.
  static Result<CeilingRows> read(const table::Table& table, const Selection& selection,
                                  std::int64_t max_rows = kMaxSampledRows);
  CeilingRows(CeilingRows&&) noexcept;
  CeilingRows& operator=(CeilingRows&&) noexcept;
  ~CeilingRows();
  /// From those and from the rows of the prediction's kernels, in the table of read().
  [[nodiscard]] Result<Ceilings> of(const table::Table& table, const Prediction& prediction) const;

 private:
  struct Impl;
  explicit CeilingRows(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// CeilingRows of one prediction.
Result<Ceilings> find_ceilings(const table::Table& table, const Selection& selection,
                               const Prediction& prediction,
                               std::int64_t max_rows = kMaxSampledRows);

/// The type that decides how fast a kernel multiplies: that of its first weights of two dimensions
/// or more, else of its first operand; u8 counts as i8. Nothing: no operands.
std::optional<ir::Dtype> work_dtype(const ir::Key& key);

}  // namespace oplat::predict
