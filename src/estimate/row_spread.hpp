// SPDX-License-Identifier: Apache-2.0
/// How sure a row is that says nothing of it itself, from how far rows left out lay from what the
/// others say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::estimate {

/// A row that was left out of a fit, and what the fit said of it.
struct LeftOutRow {
  double log_ns = 0;  ///< its time
  double error = 0;   ///< the answer's, as a logarithm
};

/// The error of such an answer is the model's and the row's own together, so rows err less than
/// that: whatever a row of this duration hides, nine in ten hide no more.
class RowSpread {
 public:
  /// Nothing for too few rows.
  static std::optional<RowSpread> learn(std::span<const LeftOutRow> rows);
  /// Standard deviation of the logarithm of a row's time.
  [[nodiscard]] double at(double log_ns) const;

  /// docs/reference/table-format.md "fit".
  [[nodiscard]] std::string save() const;
  static std::optional<RowSpread> load(std::string_view bytes);

 private:
  struct Band {
    double log_ns;  ///< up to here; the last goes on
    double sd_log;
  };
  std::vector<Band> bands_;
};

/// Of the fit record in the table.
inline constexpr std::string_view kRowSpreadFormat = "oplat.row-spread/1";

}  // namespace oplat::estimate
