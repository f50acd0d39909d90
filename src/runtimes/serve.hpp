// SPDX-License-Identifier: Apache-2.0
/// The loop of a worker process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Keeps the real standard output as the private descriptor of the protocol and points fd 1 at fd
/// 2, since runtimes print. Call before anything of the runtime is loaded. Returns the private
/// descriptor, -1 if there is none to have.
int claim_protocol_descriptor();
/// Answers requests from fd 0 on `protocol_fd` until `shutdown` or end of input. Returns the
/// process's exit status.
int serve(Worker& worker, int protocol_fd);
/// Answers every request with `error`, so that the client learns why the worker cannot start. Ends
/// as serve() does, with exit status 1.
int serve_failure(const Error& error, int protocol_fd);
/// Restarts this executable as `oplat worker NAME [ARGUMENTS]` without the variables of the
/// environment that could change times (runtimes/process.hpp). The client does that for workers
/// that it starts here; one that is started over ssh gets the environment of the login. Returns if
/// there is nothing to remove, or if the system refuses.
void drop_environment(std::string_view name, const std::vector<std::string>& arguments);
/// What `oplat worker NAME [ARGUMENTS]` does: claims the descriptor, makes the worker of that name
/// and serves it.
int run_worker(std::string_view name, const std::vector<std::string>& arguments);

}  // namespace oplat::runtimes
