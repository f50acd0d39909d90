// SPDX-License-Identifier: Apache-2.0
/// The worker that answers from a recorded table, so that everything behind a runtime can be tried
/// without one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Arguments: TABLE [device=NAME] [runtime=NAME] [version=VERSION]. Speaks for the context of
/// the table that holds the most times among those that fit, and for the settings of the same
/// device, runtime and version with it. Never invents: what the table lacks is Unsupported.
Result<std::unique_ptr<Worker>> create_replay(const std::vector<std::string>& arguments);

}  // namespace oplat::runtimes
