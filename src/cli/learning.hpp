// SPDX-License-Identifier: Apache-2.0
/// Learning from rows with progress on stderr, shared by the subcommands that fit.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "estimate/learned.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// --seed, --jobs, --calibrate.
struct LearnOptions {
  std::uint64_t seed = 1;
  int jobs = 0;  ///< 0: all cores
  bool calibrate = true;
  bool set_aside = false;
};
/// --set-aside.
void add_set_aside(const Command& command, bool& to);
void add_learn_options(const Command& command, LearnOptions& to);
/// --calibrate and --no-calibrate alone.
void add_calibrate(const Command& command, bool& to);
/// --profile accurate|fast.
void add_estimate_profile(const Command& command, std::string& to);

/// Draws steps with the time left on `bar`; false after Ctrl-C. `lease`: a table open for writing,
/// whose lease is kept alive meanwhile; nullptr: none. Both must outlive the function that is
/// returned.
std::function<bool(int done, int all)> learning_progress(ProgressBar& bar, table::Table* lease);
/// The options as a request, without progress.
estimate::LearnRequest learn_request(const LearnOptions& options);

/// As estimate::learn(), with a bar; notes Ctrl-C from here on: Code::Interrupted.
Result<estimate::LearnedFit> learn_with_progress(const estimate::RowSource& rows,
                                                 const LearnOptions& options,
                                                 const Verbosity& verbosity, table::Table* lease);

/// Stores fits of one device and setting together: all of them or none.
Status store_fits(table::Table& table, table::DeviceId device, table::SettingId setting,
                  std::span<const table::Fit> fits);

}  // namespace oplat::cli
