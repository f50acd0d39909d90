// SPDX-License-Identifier: Apache-2.0
/// Exit codes of the command line: a contract (docs/reference/exit-codes.md).
#pragma once

#include "base/result.hpp"

namespace oplat::cli {

enum ExitCode : int {
  kDone = 0,  ///< also: the budget ended with keys left, which stderr and the summary say
  kInternal = 1,
  kUsage = 2,    ///< or several settings fit
  kInput = 3,    ///< a file is missing, unreadable or not what it claims; a table is corrupt
  kMissing = 4,  ///< kernels without an estimate
  kRuntime = 5,  ///< runtime unknown, missing, of a wrong version, or every kernel failed
  kRefused = 6,  ///< newer schema, locked, read-only, setting mismatch
  kGateNotMet = 7,
  kWrite = 8,  ///< disk full, I/O
};

/// 130 or 143 for an interruption.
int exit_code(Code code);

}  // namespace oplat::cli
