// SPDX-License-Identifier: Apache-2.0
/// The runtime's profile of one run, as executions of nodes.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/plan.hpp"

namespace oplat::runtimes::onnxruntime {

/// Executions of the only run in a profile (Chrome trace JSON), in order of time.
Result<std::vector<plan::NodeRun>> parse_profile(const std::string& json);

/// How long one execution of a node took in a profile, in whole microseconds.
struct NodeDuration {
  std::string node;
  double us = 0;
};
/// Those of all runs in a profile, each node's in order of time. The profiler's own work for the
/// node, some microseconds, is part of them.
Result<std::vector<NodeDuration>> parse_durations(const std::string& json);

}  // namespace oplat::runtimes::onnxruntime
