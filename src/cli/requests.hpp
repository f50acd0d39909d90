// SPDX-License-Identifier: Apache-2.0
/// From flags that several commands share to what the use cases of app ask for.
#pragma once

#include "app/session.hpp"
#include "cli/options.hpp"

namespace oplat::cli {

/// --runtime, --threads, --precision, --option, --device, --cpu, --worker-argument. Code::Usage if
/// an option is not NAME=VALUE; of one that is given twice, the last value counts.
Result<app::RuntimeRequest> runtime_request(const RunOptions& options);

}  // namespace oplat::cli
