// SPDX-License-Identifier: Apache-2.0
/// Implausible rows (`oplat check`): it is next to the estimators since what they learn from
/// is what it sets aside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimator.hpp"
#include "ir/catalogue.hpp"

namespace oplat::estimate {

/// A row as it is checked.
struct CheckedRow {
  std::string_view key;
  double ns = 0;
};

enum class Fault : std::uint8_t {
  Sizes,    ///< no kernel of this operator has these sizes
  TooFast,  ///< below the bound of operations or of bytes
  Twin,     ///< of unknown batch, and too far from the row of batch 1
  Order,    ///< of unknown batch, and slower than a larger kernel or faster than a smaller one, by
            ///< too much
};
std::string_view name(Fault fault);

struct SuspectRow {
  std::size_t row = 0;  ///< index among those given
  Fault fault = Fault::Sizes;
  std::string reason;
};

struct SanityRequest {
  /// the machine's, where it is known: nothing is faster
  std::optional<double> peak_flops_per_ns = std::nullopt;
  std::optional<double> peak_bytes_per_ns = std::nullopt;
  double max_ratio = 2;  ///< between rows that should agree
};

struct Sanity {
  std::size_t examined = 0;
  /// rows of which more than the batch is unknown: only what they do say was looked at
  std::size_t unknown = 0;
  /// What nothing may exceed; std::nullopt if rows are too few to tell. Given, or what the best
  /// believable rows reach and half as much again (of bytes, which caches serve: three times as
  /// much).
  std::optional<double> flops_per_ns;
  std::optional<double> bytes_per_ns;
  std::vector<SuspectRow> suspects;  ///< by row, one fault each
};

/// Operations are counted as the cheapest algorithm known does them: Winograd's F(6x6, 3x3) for
/// windows of stride 1. A leading dimension that is unknown counts as 1, the least that it can be.
/// Bounds are derived from rows of known sizes alone, and bound all rows.
Sanity check_rows(std::span<const CheckedRow> rows, const ir::Catalogue& catalogue,
                  const SanityRequest& request = {});

/// The key with 1 for a batch that is unknown ("?" as the leading dimension of every operand and
/// result that is not constant). std::nullopt if nothing is unknown, or more than that.
std::optional<std::string> key_with_batch_one(std::string_view key);

/// Rows of unknown batch as evidence for a batch of 1, which is what such tables are measured with:
/// those that no check faults and that no row of batch 1 makes superfluous, under the key of
/// batch 1. Only of operators of which they are more than the rows of known batch.
std::vector<Sample> stand_ins(std::span<const Sample> samples, const ir::Catalogue& catalogue);

/// What models learn of a table's rows.
struct TrainingSet {
  std::vector<Sample> samples;  ///< the rows, then the stand-ins
  std::size_t stand_ins = 0;
  std::size_t excluded = 0;  ///< rows that are not among the samples
};
/// `exclude_suspects`: without the rows that a check faults.
TrainingSet training_set(std::span<const Sample> rows, bool exclude_suspects,
                         const ir::Catalogue& catalogue);

}  // namespace oplat::estimate
