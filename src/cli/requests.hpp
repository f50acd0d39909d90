// SPDX-License-Identifier: Apache-2.0
/// From flags that several commands share to what the use cases of app ask for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/session.hpp"
#include "cli/options.hpp"

namespace oplat::cli {

/// The words of --worker. Code::Usage if there is none or a quote is not closed.
Result<std::vector<std::string>> worker_words(const std::string& command);

/// --runtime, --worker, --threads, --precision, --option, --device, --cpu, --worker-argument.
/// Code::Usage if an option is not NAME=VALUE or the worker's command cannot be split; of an option
/// that is given twice, the last value counts.
Result<app::RuntimeRequest> runtime_request(const RunOptions& options);
/// The same of a command about models, in which --runtime may be left out: app::runtime_for().
Result<app::RuntimeRequest> runtime_request(const RunOptions& options,
                                            std::span<const std::string> models,
                                            app::Events& events);

}  // namespace oplat::cli
