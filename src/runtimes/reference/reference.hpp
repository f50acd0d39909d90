// SPDX-License-Identifier: Apache-2.0
/// The worker of the plain loops.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Takes no arguments. Opens keys of float32 operators on one thread; everything else is
/// Unsupported.
Result<std::unique_ptr<Worker>> create_reference(const std::vector<std::string>& arguments);

}  // namespace oplat::runtimes
