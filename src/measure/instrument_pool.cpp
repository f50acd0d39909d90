// SPDX-License-Identifier: Apache-2.0
/// Starting and replacing instruments.
#include "measure/instrument_pool.hpp"

namespace oplat::measure {

Result<measure::Instrument*> InstrumentPool::get() {
  if (instrument_ && uses_ >= most_uses_) discard();
  if (!instrument_) {
    auto made = (*factory_)();
    // A machine that is short of memory for a moment is the usual reason; one that cannot start a
    // worker fails again.
    if (!made && made.error().code != Code::Interrupted) made = (*factory_)();
    if (!made) return fail(std::move(made).error());
    if (!*made) return fail(Code::Internal, "the instrument factory made nothing");
    instrument_ = std::make_unique<PatientInstrument>(std::move(*made), patience_);
    uses_ = 0;
    ++next_;
  }
  ++uses_;
  return instrument_.get();
}

}  // namespace oplat::measure
