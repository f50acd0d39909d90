// SPDX-License-Identifier: Apache-2.0
/// Flags, bar, and the call itself.
#include "cli/learning.hpp"

#include <algorithm>
#include <chrono>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"

namespace oplat::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMaxJobs = 256;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

void add_calibrate(const Command& command, bool& to) {
  command.add_flag("--calibrate,!--no-calibrate", to,
                   "learn from rows left out in turn how sure estimates are (default); without it, "
                   "several times "
                   "faster, intervals are cautious guesses");
}

void add_set_aside(const Command& command, bool& to) {
  command.add_flag("--set-aside", to,
                   "rows that 'oplat check' faults count for nothing (default: every row does; of "
                   "rows that do not say "
                   "their batch, only those that it does not fault ever teach)");
}

void add_learn_options(const Command& command, LearnOptions& to) {
  command.add_option("--seed", to.seed, "of what is random in learning").capture_default_str();
  command.add_option("--jobs", to.jobs, "cores to learn on (default: all of them)")
      .range(1, kMaxJobs)
      .type_name("N");
  add_calibrate(command, to.calibrate);
}

void add_estimate_profile(const Command& command, std::string& to) {
  command
      .add_option("--profile", to, "learned estimates: accurate, or fast (a few microseconds each)")
      .one_of({"accurate", "fast"})
      .capture_default_str();
}

std::function<bool(int, int)> learning_progress(ProgressBar& bar, table::Table* lease) {
  return [&bar, lease, start = Clock::now()](int done, int all) {
    if (base::interrupted() != 0) return false;
    const double left = done > 0 ? seconds_since(start) / done * (all - done) : -1;
    bar.update("fit", done, all, left, "learning from rows");
    // Whoever took the table over is told when the fit is stored.
    if (lease != nullptr) static_cast<void>(lease->keep_lease());
    return true;
  };
}

estimate::LearnRequest learn_request(const LearnOptions& options) {
  estimate::LearnRequest request;
  request.seed = options.seed;
  request.threads = options.jobs > 0 ? options.jobs : std::min(base::usable_cores(), kMaxJobs);
  request.calibrate = options.calibrate;
  request.set_aside = options.set_aside;
  return request;
}

Result<estimate::LearnedFit> learn_with_progress(const estimate::RowSource& rows,
                                                 const LearnOptions& options,
                                                 const Verbosity& verbosity, table::Table* lease) {
  base::install_interrupt_handlers();
  ProgressBar bar(verbosity);
  estimate::LearnRequest request = learn_request(options);
  request.progress = learning_progress(bar, lease);
  OPLAT_TRY(fit, estimate::learn(rows, request));
  if (base::interrupted() != 0) return fail(Code::Interrupted, "interrupted while fitting");
  return fit;
}

Status store_fits(table::Table& table, table::DeviceId device, table::SettingId setting,
                  std::span<const table::Fit> fits) {
  return table.transaction([&]() -> Status {
    for (const table::Fit& fit : fits) OPLAT_CHECK(table.put_fit(device, setting, fit));
    return {};
  });
}

}  // namespace oplat::cli
