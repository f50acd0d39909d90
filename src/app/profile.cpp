// SPDX-License-Identifier: Apache-2.0
/// From models and keys to a campaign.
#include "app/profile.hpp"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "app/check.hpp"
#include "app/fit.hpp"
#include "app/measure_models.hpp"
#include "app/space_profile.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"

namespace oplat::app {
namespace {

/// No further model is compared with its rows after this.
constexpr std::chrono::seconds kComparingTime{60};
constexpr std::uint64_t kMaxKeysFileBytes = std::uint64_t{1} << 30;

void keep_first_of_equals(std::vector<std::string>& keys) {
  std::unordered_set<std::string> seen;
  std::erase_if(keys, [&](const std::string& key) { return !seen.insert(key).second; });
}

/// What the runtime's profile of a model says against the rows of its kernels. A worker that gives
/// no profile says nothing.
Result<std::vector<measure::UnlikeKernel>> unlike_in_model(Session& session,
                                                           const PlannedModel& model,
                                                           const ModelInputs& inputs,
                                                           table::Table& table, Events& events) {
  std::vector<measure::UnlikeKernel> none;
  if (events.cancelled()) return none;
  const std::string name = base::printable(model.path, 400);
  // It planned the models, and may have ended since. The report of the rows, which are measured, is
  // not lost where it does not start again.
  const Status started = session.worker->dead() ? session.worker->restart() : Status();
  const auto times =
      started ? session.worker->node_times(plan_request(model.path, inputs, session.setting))
              : fail(started.error());
  if (!times) {
    // Another worker than oplat's own need not know the question.
    if (times.error().code != Code::Usage && times.error().code != Code::Interrupted)
      events.warn(fmt::format("{}: its kernels were not compared with the runtime's profile: {}",
                              name, times.error().message));
    return none;
  }
  if (times->empty()) {
    events.note(fmt::format(
        "{}: the runtime gave no times of kernels inside the model to compare rows with", name));
    return none;
  }
  std::unordered_map<std::string_view, std::vector<const table::PlanKernel*>> kernels_of;
  for (const table::PlanKernel& kernel : model.plan.kernels)
    kernels_of[kernel.name].push_back(&kernel);
  std::vector<measure::KernelInModel> seen;
  for (const runtimes::NodeTime& time : *times) {
    const auto at = kernels_of.find(time.node);
    // A node that runs as several kernels has a time for all of them together.
    if (at == kernels_of.end() || at->second.size() != 1) continue;
    const table::PlanKernel& kernel = *at->second.front();
    seen.push_back({kernel.name, kernel.key, kernel.count, time.ns});
  }
  OPLAT_TRY(device, table.find_device(session.device.name));
  OPLAT_TRY(setting, table.find_setting(session.setting));
  if (!device || !setting) return none;
  return measure::flag_unlike_kernels(table, *device, *setting, compat::catalogue(),
                                      model.plan.model, seen);
}

}  // namespace

Result<std::vector<std::string>> read_keys(const std::string& path) {
  OPLAT_TRY(text, base::read_file(path, kMaxKeysFileBytes));
  std::vector<std::string> keys;
  std::int64_t line_number = 0;
  for (std::string& line : base::split(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (auto key = ir::parse(line); !key)
      return fail(Code::Input, "{}:{}: is not a key: {}", path, line_number, key.error().message);
    keys.push_back(std::move(line));
  }
  if (keys.empty()) return fail(Code::Input, "{}: holds no keys", path);
  return keys;
}

Status check_sources(const ProfileRequest& request) {
  if (request.models.empty() && request.keys_file.empty() && request.space.empty() &&
      request.like.empty())
    return fail(Code::Usage,
                "nothing to profile; give --model FILE, --keys FILE, --space NAME or --like DIR");
  const ModelInputs& inputs = request.inputs;
  const bool has_inputs =
      inputs.shapes.batch || !inputs.shapes.shapes.empty() || !inputs.data.empty();
  if (has_inputs && request.models.empty() && request.like.empty())
    return fail(Code::Usage,
                "--batch, --shape and --input say how models run; give --model FILE, or omit them");
  return {};
}

Status require_finished(bool interrupted) {
  if (!interrupted) return {};
  return fail(Code::Interrupted, "stopped; what was measured is kept; {}", kResume);
}

Status require_kernels(const ProfileResult& result) {
  if (result.every_kernel_failed())
    return fail(Code::Runtime, "every kernel failed; the reasons are above and in the table");
  return {};
}

Result<ProfileResult> profile(const ProfileRequest& request, Events& events) {
  const int spaces = static_cast<int>(!request.space.empty()) +
                     static_cast<int>(!request.like.empty()) +
                     static_cast<int>(!request.keys_file.empty());
  if (spaces > 1) return fail(Code::Usage, "give one of --space, --like and --keys");
  OPLAT_CHECK(check_sources(request));
  if (!request.space.empty() || !request.like.empty()) return profile_space(request, events);
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_options(request.campaign));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  std::vector<std::string> keys;
  if (!request.keys_file.empty()) {
    OPLAT_TRY(listed, read_keys(request.keys_file));
    keys = std::move(listed);
  }
  // Neither a worker that does not start nor a file that is not a model leaves
  // an empty table.
  OPLAT_TRY(session, start_session(request.runtime, events));
  OPLAT_TRY(planned, plan_models(session, request.models, request.inputs, events));
  OPLAT_TRY(table,
            table::Table::open(request.table,
                               request.table_must_exist ? table::Mode::Write : table::Mode::Create,
                               compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, planned));
  std::vector<table::Plan> plans;
  for (const PlannedModel& model : planned) plans.push_back(model.plan);
  for (std::string& key : measure::keys_of(plans)) keys.push_back(std::move(key));
  keep_first_of_equals(keys);
  OPLAT_TRY(summary, run_campaign(session, keys, planned, request.campaign, table, events));
  OPLAT_CHECK(forget_earlier_plans(table, planned));
  ProfileResult result{request.table, std::move(summary)};
  OPLAT_TRY(measured, measurement_of(table, request.models, planned, {}, session, result.summary));
  result.measured = std::move(measured);
  if (result.summary.interrupted) return result;
  std::int64_t done = 0;
  std::int64_t left_out = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const PlannedModel& model : planned) {
    if (!model.has_kernels) continue;
    // The budget is for measuring; what comes after it is short, or is said to be left out.
    if (std::chrono::steady_clock::now() - start > kComparingTime) {
      ++left_out;
      continue;
    }
    events.progress({.done = done++,
                     .total = static_cast<std::int64_t>(planned.size()),
                     .eta_s = {},
                     .what = "comparing",
                     .item = model.path});
    OPLAT_TRY(unlike, unlike_in_model(session, model, model.inputs, table, events));
    result.unlike.insert(result.unlike.end(), std::make_move_iterator(unlike.begin()),
                         std::make_move_iterator(unlike.end()));
  }
  if (left_out > 0 && !events.cancelled())
    events.warn(fmt::format(
        "the kernels of {} models were not compared with the runtime's profile, which took long; "
        "profile the models again, a few at a time, to compare them",
        left_out));
  update_composition(session, table, events);
  if (result.summary.kernels.measured() > 0)
    OPLAT_CHECK(warn_of_rows_too_fast(table, rows_of(session), request.table, events));
  result.summary.interrupted = events.cancelled();
  return result;
}

}  // namespace oplat::app
