// SPDX-License-Identifier: Apache-2.0
/// From kernels to a model: coefficients, sum, shares and spread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "predict/prediction.hpp"

namespace oplat::predict {

/// Coefficients of the selection's fit. Without one those of the prior, and the selection's
/// sum_spread is in the spread; notes in `warnings` where no campaign measured an empty call, where
/// networks were never compared with such sums, and where the fit is of models of a busy machine.
Result<Composition> composition_of(const table::Table& table, const Selection& selection,
                                   std::vector<std::string>& warnings);

/// A call of the runtime that computes nothing.
struct KnownCall {
  double ns = 0;
  bool shared = false;  ///< never timed on a core of its own at full clock, as far as is known
};
/// Shortest empty call of the selection's campaigns; std::nullopt if none was measured.
Result<std::optional<KnownCall>> empty_call(const table::Table& table, const Selection& selection);

/// What is known of a composition of these rows before a model is measured. `call`: empty_call().
CoefficientPrior prior_of(const Selection& selection, const std::optional<KnownCall>& call);

/// Of a sum that takes `total_ns`. What loops execute again and again counts once.
Exposure exposure_of(const SumParts& parts, double total_ns);

/// A kernel as a part of a sum; of one without a spread it is 0.
Term term_of_kernel(const KernelPrediction& kernel, double share);

/// Distinct keys of what has a time, with shares of `total_ns`: kernels of one key share the rows,
/// and so the error.
std::vector<Term> terms_of(const std::vector<KernelPrediction>& kernels, double total_ns);

/// Fills latency, spread, interval, coverage and missing from `kernels`, `composition`, `mismatch`,
/// `level` and `policy`. Code::Input if the numbers run over.
Status compose(Prediction& prediction);

}  // namespace oplat::predict
