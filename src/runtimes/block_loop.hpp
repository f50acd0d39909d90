// SPDX-License-Identifier: Apache-2.0
/// The timed block that all C++ workers share.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "measure/kernel_runner.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Rounds of a block whose worker answers without waiting; medians of more would only cost time.
inline constexpr std::int64_t kVirtualRounds = 32;

/// References, warm-up rounds, then rounds over the handles until the duration is over; see
/// docs/reference/worker-protocol.md. An error of run() is data: Failed. Code::Usage for a request
/// without handles.
Result<measure::BlockOutcome> run_block(Worker& worker, const measure::BlockRequest& request);

}  // namespace oplat::runtimes
