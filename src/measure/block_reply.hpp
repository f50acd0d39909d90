// SPDX-License-Identifier: Apache-2.0
/// What kernel and model blocks share: handles that are closed again, and replies that are checked
/// before use.
#pragma once

#include <optional>
#include <vector>

#include "measure/instrument.hpp"

namespace oplat::measure {

/// Closes a handle when it goes out of scope.
class OpenHandle {
 public:
  OpenHandle(Instrument& instrument, Opened opened)
      : instrument_(&instrument), opened_(std::move(opened)) {}
  OpenHandle(OpenHandle&& other) noexcept
      : instrument_(other.instrument_), opened_(std::move(other.opened_)) {
    other.instrument_ = nullptr;
  }
  OpenHandle& operator=(OpenHandle&& other) noexcept {
    std::swap(instrument_, other.instrument_);
    std::swap(opened_, other.opened_);
    return *this;
  }
  ~OpenHandle() {
    // An instrument that cannot close is lost; the next open says so, and what was measured is
    // good.
    if (instrument_ != nullptr) (void)instrument_->close(opened_.handle);
  }
  [[nodiscard]] Handle id() const { return opened_.handle; }
  [[nodiscard]] const std::string& topology() const { return opened_.topology; }

 private:
  Instrument* instrument_;
  Opened opened_;
};

/// Runs a block and checks that every handle has times and that they are finite and not negative.
Result<BlockOutcome> checked_block(Instrument& instrument, const BlockRequest& request);

/// Fills what a block records beside its value.
table::Block block_facts(const BlockSamples& samples);

}  // namespace oplat::measure
