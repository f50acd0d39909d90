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

#include "base/result.hpp"
#include "estimate/estimate.hpp"
#include "table/table.hpp"

namespace oplat::estimate {

/// One row to learn from.
struct Sample {
  std::string key;
  double log_ns = 0;  ///< ln of the median time in ns
  std::optional<double> reuse_bytes =
      std::nullopt;  ///< of its cache state: bytes that pass between two runs; nothing where it has
                     ///< none
  std::size_t state = 0;  ///< 0 hot, 1 out of the core's own cache, 2 out of every cache; see
                          ///< read_samples_in_states()
};

/// One question. What it points at must outlive the call.
struct Query {
  std::string_view key;
  const table::Setting* setting = nullptr;  ///< nullptr: the one the estimator was made for
  std::optional<double>
      reuse_bytes;  ///< the model's footprint in bytes; nothing: not known, taken as hot
  std::span<const double> features;  ///< empty: none were computed
  bool explain =
      true;  ///< whether Estimate::why is wanted: its sentence costs more than the number
};

struct FitOptions {
  std::uint64_t seed = 1;
};

/// Thread-safe once fitted or loaded: estimate() changes nothing that a caller can see.
class Estimator {
 public:
  virtual ~Estimator() = default;
  [[nodiscard]] std::string_view name() const { return do_name(); }
  /// Learns from rows. Code::Refused where they are too few or unusable; the estimator then answers
  /// nothing.
  Status fit(std::span<const Sample> samples, const FitOptions& options = {}) {
    return do_fit(samples, options);
  }
  /// Fills the entries of `answers` that are still empty and that it can answer; both spans have
  /// one length.
  [[nodiscard]] Status estimate(std::span<const Query> queries,
                                std::span<std::optional<Estimate>> answers) const;
  /// What fit() learned, as bytes for the table's fit record; empty where there is nothing to keep.
  [[nodiscard]] std::string save() const { return do_save(); }
  /// Takes what save() gave. Code::Input where magic, format number, length or checksum is off.
  Status load(std::string_view bytes) { return do_load(bytes); }

 private:
  [[nodiscard]] virtual std::string_view do_name() const = 0;
  virtual Status do_fit(std::span<const Sample> samples, const FitOptions& options) = 0;
  [[nodiscard]] virtual Status do_estimate(std::span<const Query> queries,
                                           std::span<std::optional<Estimate>> answers) const = 0;
  [[nodiscard]] virtual std::string do_save() const = 0;
  virtual Status do_load(std::string_view bytes) = 0;
};

}  // namespace oplat::estimate
