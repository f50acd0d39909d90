// SPDX-License-Identifier: Apache-2.0
/// The worker of QNNPACK, to be served by a program of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

Result<std::unique_ptr<Worker>> create_qnnpack(const std::vector<std::string>& arguments);

}  // namespace oplat::runtimes
