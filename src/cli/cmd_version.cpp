// SPDX-License-Identifier: Apache-2.0
/// oplat version
#include "cli/command.hpp"
#include "oplat/base/version.hpp"

namespace oplat::cli {

void add_version(const Command& app) {
  const Command command = app.add_subcommand("version", "print version, commit and build");
  command.runs([]() -> Result<int> {
    fmt::print("oplat {} (commit {}, {}, {})\n", base::version(), base::commit(), base::build_type(), base::compiler());
    return 0;
  });
}

}  // namespace oplat::cli
