// SPDX-License-Identifier: Apache-2.0
/// The runtime's profile of one run, as executions of nodes.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/plan.hpp"

namespace oplat::runtimes::onnxruntime {

/// Executions of the only run in a profile (Chrome trace JSON), in order of time. Times are not
/// taken: the profiler adds microseconds to every node (measuring.md 0.4).
Result<std::vector<plan::NodeRun>> parse_profile(const std::string& json);

}  // namespace oplat::runtimes::onnxruntime
