// SPDX-License-Identifier: Apache-2.0
/// Lets blocks of several threads wait for cores that are apart (docs/adr/0021).
#pragma once

#include <chrono>
#include <memory>

#include "measure/instrument.hpp"

namespace oplat::measure {

/// What a campaign's processes hand on to the next: their cores at their best, and how long they
/// waited for them.
struct Patience {
  measure::Cores best;
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds measured{0};
  std::chrono::nanoseconds most = std::chrono::nanoseconds::max();  ///< of what is left of a budget

  /// What the next block may wait: in all, waiting takes no longer than measuring, and it ends with
  /// the budget.
  [[nodiscard]] std::chrono::nanoseconds left() const;
};

/// An instrument whose blocks wait by `patience`, which outlives it.
class PatientInstrument final : public measure::Instrument {
 public:
  PatientInstrument(std::unique_ptr<measure::Instrument> instrument, Patience& patience)
      : instrument_(std::move(instrument)), patience_(&patience) {}

  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    return instrument_->open(request);
  }
  Result<measure::BlockOutcome> block(const measure::BlockRequest& request) override;
  Status close(measure::Handle handle) override { return instrument_->close(handle); }

 private:
  std::unique_ptr<measure::Instrument> instrument_;
  Patience* patience_;
};

}  // namespace oplat::measure
