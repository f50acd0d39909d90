// SPDX-License-Identifier: Apache-2.0
/// The estimator seam: key -> latency with spread. A new way to estimate is one class and one line
/// in chain.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "estimate/estimate.hpp"
#include "estimate/reuse.hpp"
#include "table/table.hpp"

namespace oplat::estimate {

/// One row to learn from.
struct Sample {
  std::string key;
  double log_ns = 0;  ///< ln of the median time in ns
  std::optional<double> reuse_bytes =
      std::nullopt;  ///< of its cache state: bytes that pass between two runs; std::nullopt if it
                     ///< has none
  std::size_t state = 0;     ///< 0 hot, 1 out of the core's own cache, 2 out of every cache; see
                             ///< read_samples_in_states()
  bool never_quiet = false;  ///< table::kNeverQuiet
  /// Of a hot row: the state that the bytes of the kernel itself make of its weights.
  std::size_t state_of_its_own = 0;
  double cycle_ns =
      0;  ///< of copies with weights of their own, from one use of a weight to the next
};

/// One question. What it points at must outlive the call.
struct Query {
  std::string_view key;
  std::optional<double>
      reuse_bytes;  ///< the model's footprint in bytes; nothing: not known, taken as hot
  bool explain =
      true;  ///< whether Estimate::why is wanted: its sentence costs more than the number
  ForeignBytes foreign = {};
  std::optional<base::Hash128> hash = std::nullopt;  ///< of the key, where it is known already
};

/// A way to answer. Thread-safe: estimate() changes nothing that a caller can see. What learns from
/// rows does so in the function that makes the estimator; it fails where the rows are too few.
class Estimator {
 public:
  virtual ~Estimator() = default;
  /// For people and logs: "exact", "learned", "roofline".
  [[nodiscard]] std::string_view name() const { return do_name(); }
  /// Fills the entries of `answers` that are still empty and that it can answer; both spans have
  /// one length, or Code::Internal.
  [[nodiscard]] Status estimate(std::span<const Query> queries,
                                std::span<std::optional<Estimate>> answers) const;

 private:
  [[nodiscard]] virtual std::string_view do_name() const = 0;
  [[nodiscard]] virtual Status do_estimate(std::span<const Query> queries,
                                           std::span<std::optional<Estimate>> answers) const = 0;
};

}  // namespace oplat::estimate
