// SPDX-License-Identifier: Apache-2.0
#include "measure/patient_instrument.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

using std::chrono::nanoseconds;

/// Cores that are not apart stay so for one to fifteen seconds.
constexpr std::chrono::seconds kMaxForABlock{10};

}  // namespace

nanoseconds Patience::left() const {
  return std::clamp(std::min(measured - waited, most), nanoseconds(0), nanoseconds(kMaxForABlock));
}

Result<measure::BlockOutcome> PatientInstrument::block(const measure::BlockRequest& request) {
  measure::BlockRequest patient = request;
  patient.patience = patience_->left();
  patient.best_cores = patience_->best;
  const auto begin = std::chrono::steady_clock::now();
  OPLAT_TRY(outcome, instrument_->block(patient));
  const nanoseconds taken = std::chrono::steady_clock::now() - begin;
  const auto* samples = std::get_if<measure::BlockSamples>(&outcome);
  // A block that failed does not tell how long it waited.
  const nanoseconds waited =
      samples != nullptr ? std::clamp(nanoseconds(samples->waited_ns), nanoseconds(0), taken)
                         : std::min(taken, patient.patience);
  patience_->waited += waited;
  patience_->measured += taken - waited;
  if (samples != nullptr && samples->best_cores.look_ns > 0) patience_->best = samples->best_cores;
  return std::move(outcome);
}

}  // namespace oplat::measure
