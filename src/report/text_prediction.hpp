// SPDX-License-Identifier: Apache-2.0
/// The text reports about predictions.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "report/report_model.hpp"

namespace oplat::report {

/// "compute 87 %": how much of the time the bound explains; "none 2 %" where no bound explains
/// more.
std::string bound_text(const predict::KernelDiagnosis& diagnosis);
/// "106 GFLOP/s" or "12.3 GB/s", whichever the bound is about; "-" for dispatch alone.
std::string bounding_rate(const std::optional<predict::Bound>& bound,
                          const std::optional<double>& gflops_per_s,
                          const std::optional<double>& gbytes_per_s);

/// Cells of the table by operator.
struct OperatorLine {
  std::string name, calls, time, share, missing, rate, bound;
};
struct OperatorLines {
  std::vector<OperatorLine> shown;
  bool has_shares = false;
  bool has_missing = false;
  bool has_bounds = false;
};
/// Operators that take time or lack one, at most `max`; the others are one more line.
OperatorLines operator_lines(const predict::Diagnosis& diagnosis, std::size_t max);

/// What is missing, then what answers it, a line each. Of a prediction with missing kernels.
std::vector<std::string> missing_lines(const predict::Prediction& prediction);

/// How well the composition is known.
std::string composition_text(const predict::Composition& composition);
/// What others bring into the last level during a run; empty where nobody was seen.
std::string others_text(const predict::Composition& composition);
/// "measured: 99 us (97 to 101 us, 95 % CI of the median)".
std::string measured_text(const predict::MeasuredModel& measured);
/// What would narrow the interval, one line each; empty if nothing would.
std::vector<std::string> remedy_lines(const PredictionReport& report, const Options& options);

/// The table by operator and the costliest kernels.
void print_operators_and_costliest(const PredictionReport& report, const Options& options,
                                   std::ostream& out);
void print_prediction(const PredictionReport& report, const Options& options, std::ostream& out);
void print_validation(const predict::Validation& validation, const Options& options,
                      std::ostream& out);
void print_estimates(const EstimateListing& listing, const Options& options, std::ostream& out);

}  // namespace oplat::report
