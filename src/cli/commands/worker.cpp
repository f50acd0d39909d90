// SPDX-License-Identifier: Apache-2.0
/// oplat worker NAME: the other end of the protocol.
#include "cli/commands/commands.hpp"
#include "runtimes/serve.hpp"

namespace oplat::cli {
namespace {

struct WorkerFlags {
  std::string name;
  std::vector<std::string> arguments;
};

Result<int> run_worker_command(const WorkerFlags& flags) {
  runtimes::drop_environment(flags.name, flags.arguments);
  return runtimes::run_worker(flags.name, flags.arguments);
}

}  // namespace

void add_worker(const Command& app) {
  const auto [command, flags] = add_command(
      app, "worker",
      "serve a runtime over standard input and output (docs/reference/worker-protocol.md)",
      run_worker_command);
  command.add_option("NAME", flags->name, "runtime to serve").required();
  command.add_option("ARGUMENTS", flags->arguments, "arguments of the worker");
}

}  // namespace oplat::cli
