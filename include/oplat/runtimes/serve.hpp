// SPDX-License-Identifier: Apache-2.0
/// The loop of a worker process.
#pragma once

#include "oplat/runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Keeps the real standard output as the private descriptor of the protocol and points fd 1 at fd 2, since runtimes
/// print. Call before anything of the runtime is loaded. Returns the private descriptor.
int claim_protocol_descriptor();
/// Answers requests from fd 0 on `protocol_fd` until `shutdown` or end of input. Returns the process's exit status.
int serve(Worker& worker, int protocol_fd);

}  // namespace oplat::runtimes
