// SPDX-License-Identifier: Apache-2.0
/// Codes of the library as exit codes.
#include "cli/exit_code.hpp"

#include <csignal>

#include "base/interrupt.hpp"

namespace oplat::cli {

int exit_code(Code code) {
  switch (code) {
    case Code::Usage:
      return kUsage;
    case Code::Input:
      return kInput;
    case Code::Missing:
      return kMissing;
    case Code::Runtime:
      return kRuntime;
    case Code::Refused:
      return kRefused;
    case Code::GateNotMet:
      return kGateNotMet;
    case Code::Write:
      return kWrite;
    case Code::Interrupted:
      return 128 + (base::interrupted() != 0 ? base::interrupted() : SIGINT);
    case Code::Internal:
      break;
  }
  return kInternal;
}

}  // namespace oplat::cli
