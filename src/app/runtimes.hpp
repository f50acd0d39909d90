// SPDX-License-Identifier: Apache-2.0
/// Use case: which runtimes can execute models here.
#pragma once

#include <span>
#include <string>

#include "app/events.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "report/lists.hpp"

namespace oplat::app {

struct RuntimesRequest {
  std::string executable = {};  ///< path of oplat, which serves the workers; empty: this process's
};

/// All runtimes that oplat knows, in the order of its list. Each worker is
/// started and asked: only an answer proves that the runtime is there.
/// Code::Interrupted if `events` says cancelled.
Result<report::RuntimeList> list_runtimes(const RuntimesRequest& request, Events& events);

/// The runtime that executes these model files, where none was named: the only one that reads their
/// format and is installed, which a note says. Code::Usage if there are several; Code::Runtime if
/// none is installed; Code::Input: a model file.
Result<std::string> runtime_for(std::span<const std::string> models, Events& events);

/// parse_runtime() for a request about models: where neither a runtime nor a remote worker is
/// named, runtime_for() these.
Result<RuntimeRequest> parse_runtime_for(const RuntimeTexts& texts,
                                         std::span<const std::string> models, Events& events);

}  // namespace oplat::app
