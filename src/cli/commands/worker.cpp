// SPDX-License-Identifier: Apache-2.0
/// oplat worker NAME: the other end of the protocol.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "runtimes/serve.hpp"

namespace oplat::cli {

void add_worker(const Command& app) {
  const Command command = app.add_subcommand(
      "worker",
      "serve a runtime over standard input and output (docs/reference/worker-protocol.md)");
  struct WorkerFlags {
    std::string name;
    std::vector<std::string> arguments;
  };
  const auto flags = std::make_shared<WorkerFlags>();
  command.add_option("NAME", flags->name, "runtime to serve").required();
  command.add_option("ARGUMENTS", flags->arguments, "arguments of the worker");
  command.runs([flags] {
    runtimes::drop_environment(flags->name, flags->arguments);
    return runtimes::run_worker(flags->name, flags->arguments);
  });
}

}  // namespace oplat::cli
