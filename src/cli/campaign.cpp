// SPDX-License-Identifier: Apache-2.0
/// Campaigns from the command line.
#include "cli/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/model_memo.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/progress.hpp"
#include "compat/registry.hpp"
#include "measure/environment.hpp"

namespace oplat::cli {
namespace {

/// No machine repeats itself better than that.
constexpr double kMinTargetError = 0.001;

using Clock = std::chrono::steady_clock;

/// Opening a large model takes some seconds.
constexpr std::chrono::seconds kMinDeadline{20};

/// A worker that hangs does not hang far beyond the budget.
std::chrono::seconds deadline_within(double budget_seconds, Clock::duration elapsed,
                                     std::chrono::seconds usual) {
  const double left = budget_seconds - std::chrono::duration<double>(elapsed).count();
  if (left >= static_cast<double>(usual.count())) return usual;
  return std::max(kMinDeadline, std::chrono::seconds(static_cast<std::int64_t>(std::ceil(left))));
}

class CampaignProgress final : public measure::Progress {
 public:
  explicit CampaignProgress(ProgressBar& bar) : bar_(bar) {}
  void update(const measure::ProgressState& state) override {
    const char* phase = state.phase == measure::Phase::Preparing   ? "preparing"
                        : state.phase == measure::Phase::Measuring ? "measuring"
                                                                   : "finishing";
    bar_.update(phase, state.done, state.total, state.eta_seconds.value_or(-1),
                state.state.empty() ? state.current : state.state + " " + state.current);
  }
  void notice(const std::string& message) override { bar_.note("oplat: " + message); }

 private:
  ProgressBar& bar_;
};

}  // namespace

Result<std::vector<PlannedModel>> plan_models(RuntimeSession& session,
                                              const std::vector<std::string>& models,
                                              const ModelOptions& options,
                                              const Verbosity& verbosity) {
  OPLAT_TRY(shapes, shape_options(options));
  OPLAT_TRY(inputs, input_options(options));
  ProgressBar bar(verbosity);
  std::vector<PlannedModel> planned;
  for (const std::string& path : models) {
    bar.update("planning", static_cast<std::int64_t>(planned.size()),
               static_cast<std::int64_t>(models.size()), -1, path);
    runtimes::PlanRequest request;
    request.model = path;
    request.shapes = shapes.shapes;
    request.batch = shapes.batch;
    request.inputs = inputs;
    request.setting = session.setting;
    OPLAT_TRY(plan, ask_plan(session, request));
    measure::ModelTarget target;
    target.path = path;
    target.name = plan.model;
    target.plan_identity = plan.identity;
    target.shapes = shapes.shapes;
    target.batch = shapes.batch;
    target.executed_batch = plan.batch;
    target.inputs = inputs;
    planned.push_back({path, std::move(plan), std::move(target)});
  }
  return planned;
}

Status store_plans(table::Table& table, const std::vector<PlannedModel>& models) {
  for (const PlannedModel& model : models) {
    OPLAT_CHECK(table.put_plan(model.plan));
    OPLAT_CHECK(app::remember_model(table, model.path));
  }
  return {};
}

void add_campaign_options(const Command& command, CampaignOptions& to) {
  command
      .add_option("--budget", to.budget,
                  "stop after this time with a complete table: 4m, 1.5h, counted once models are "
                  "planned (default: until every row is good enough)")
      .type_name("TIME");
  command.add_option("--seed", to.seed, "of order, weights and inputs").capture_default_str();
  command
      .add_option(
          "--blocks", to.blocks,
          "at least this many blocks of every row, each in a process of its own (default: 5)")
      .range(5, 1000);
  command
      .add_option("--target-error", to.target_error,
                  "a row is good enough when its 95 % interval is at most this wide on either "
                  "side: 5%, 0.05 (default: 3 %, of kernels up to 20 us 5 %)")
      .type_name("E");
}

void add_retry(const Command& command, CampaignOptions& to) {
  command.add_flag("--retry-refused", to.retry_refused,
                   "measure again what the table holds as failed, unsupported or skipped");
  command.add_flag("--retry-loaded", to.retry_loaded,
                   "give rows that were measured while other programs kept the machine busy as "
                   "many further blocks as clear them if those are quiet");
}

namespace {

/// "5%" or "0.05" as 0.05.
Result<double> parse_target_error(std::string_view text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  const auto number = base::parse_double(digits);
  const double share = number ? *number / (percent ? 100 : 1) : 0;
  if (!(share >= kMinTargetError && share <= 1)) {
    return fail(
        Code::Usage,
        "--target-error {}: expected a share of the time from 0.1% to 100%, such as 5% or 0.05",
        base::printable(text));
  }
  return share;
}

}  // namespace

Result<CampaignFlags> campaign_flags(const CampaignOptions& options) {
  CampaignFlags flags;
  flags.seed = options.seed;
  flags.argv = command_line();
  flags.retry_refused = options.retry_refused;
  flags.retry_loaded = options.retry_loaded;
  if (options.blocks > 0) flags.least_blocks = options.blocks;
  if (!options.target_error.empty()) {
    OPLAT_TRY(half_width, parse_target_error(options.target_error));
    flags.half_width = half_width;
  }
  if (!options.budget.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(options.budget));
    flags.budget_seconds = ns / 1e9;
  }
  return flags;
}

namespace {

/// Among the environment's facts: who measured.
constexpr const char* kWorkerFact = "worker";
constexpr const char* kReplay = "replay";

/// Times of one (device, setting) pair are all measured or all replayed: appended to real blocks,
/// the blocks of a replay would count as further measurements and make intervals narrower.
Status check_replay(const table::Table& table, const RuntimeSession& session) {
  OPLAT_TRY(device, table.find_device(session.device.name));
  OPLAT_TRY(setting, table.find_setting(session.setting));
  if (!device || !setting) return {};
  const bool replay = session.worker_name == kReplay;
  OPLAT_TRY(campaigns, table.campaigns());
  for (const table::StoredCampaign& campaign : campaigns) {
    if (campaign.device != *device || campaign.setting != *setting) continue;
    const auto& facts = campaign.environment.facts;
    const auto worker = facts.find(kWorkerFact);
    const bool replayed = worker != facts.end() && worker->second == kReplay;
    if (replayed == replay) continue;
    return fail(Code::Refused,
                "{}: its rows of {} on {} were {}, and {} times would count as more of the same; "
                "give --table another file, or --device another name",
                table.path().string(), table::describe(session.setting),
                base::printable(session.device.name), replayed ? "replayed" : "measured",
                replay ? "replayed" : "measured");
  }
  return {};
}

}  // namespace

Result<measure::Summary> run_campaign(const RuntimeSession& session,
                                      const std::vector<std::string>& keys,
                                      const std::vector<PlannedModel>& models,
                                      const CampaignFlags& flags, table::Table& table,
                                      const Verbosity& verbosity) {
  OPLAT_CHECK(check_replay(table, session));
  measure::CampaignRequest request;
  request.catalogue = &compat::catalogue();
  request.device = session.device;
  request.setting = session.setting;
  request.keys = keys;
  for (const PlannedModel& model : models) request.models.push_back(model.target);
  request.seed = flags.seed;
  request.budget_seconds = flags.budget_seconds;
  if (flags.least_blocks) request.stop.least_blocks = *flags.least_blocks;
  if (flags.half_width) request.stop.half_width = request.stop.short_half_width = *flags.half_width;
  request.stop.most_blocks = std::max(request.stop.most_blocks, request.stop.least_blocks);
  request.argv = flags.argv;
  request.retry_refused = flags.retry_refused;
  request.retry_loaded = flags.retry_loaded;
  request.environment = measure::probe_environment();
  request.environment->facts[kWorkerFact] = session.worker_name;
  ProgressBar bar(verbosity);
  CampaignProgress progress(bar);
  const auto start = Clock::now();
  const auto factory = [&]() -> Result<std::unique_ptr<measure::Instrument>> {
    runtimes::WorkerOptions options = session.options;
    if (flags.budget_seconds)
      options.request_deadline =
          deadline_within(*flags.budget_seconds, Clock::now() - start, options.request_deadline);
    OPLAT_TRY(worker, runtimes::WorkerClient::start(session.worker_name, options));
    return std::unique_ptr<measure::Instrument>(std::move(worker));
  };
  return measure::run(request, table, factory, progress);
}

void print_budget_end(const measure::Summary& summary, std::string_view way_on) {
  const std::int64_t left = summary.kernels.left + summary.models.left;
  const std::int64_t few = summary.kernels.few + summary.models.few;
  if (!summary.budget_ended || left + few == 0) return;
  fmt::print(stderr,
             "oplat: the budget ended with {} {} unmeasured and {} with fewer blocks than the "
             "rule's least; {}\n",
             left, summary.kernels.total > 0 ? "rows" : "models", few, way_on);
}

Result<std::vector<std::optional<table::StoredModelRow>>> measured_models(
    const table::Table& table, const std::vector<PlannedModel>& models,
    const table::Setting& setting, const table::Device& device) {
  OPLAT_TRY(rows, table.model_rows());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(devices, table.devices());
  const auto fits = [&](const table::StoredModelRow& row) {
    const bool setting_fits = std::any_of(settings.begin(), settings.end(), [&](const auto& s) {
      return s.first == row.setting && s.second == setting;
    });
    const bool device_fits = std::any_of(devices.begin(), devices.end(), [&](const auto& d) {
      return d.first == row.device && d.second.name == device.name;
    });
    return setting_fits && device_fits && std::holds_alternative<table::Timing>(row.row.outcome);
  };
  std::vector<std::optional<table::StoredModelRow>> found;
  for (const PlannedModel& model : models) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
      return row.row.plan_identity == model.plan.identity && fits(row);
    });
    found.push_back(at == rows.end() ? std::nullopt : std::optional(*at));
  }
  return found;
}

std::string command_line() {
  std::string text = base::read_file("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace oplat::cli
