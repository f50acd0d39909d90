// SPDX-License-Identifier: Apache-2.0
/// oplat version
#include "base/version.hpp"
#include "cli/command.hpp"

namespace oplat::cli {

std::string version_line() {
  return fmt::format("oplat {} (commit {}, {}, {})", base::version(), base::commit(),
                     base::build_type(), base::compiler());
}

void add_version(const Command& app) {
  const Command command = app.add_subcommand("version", "print version, commit and build");
  command.runs([]() -> Result<int> {
    fmt::print("{}\n", version_line());
    return 0;
  });
}

}  // namespace oplat::cli
