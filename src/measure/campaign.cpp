// SPDX-License-Identifier: Apache-2.0
/// The loop of a campaign: passes over rows, blocks, refusals, budget and interruption.
#include "measure/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/random.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "measure/best_cores.hpp"
#include "measure/environment.hpp"
#include "measure/forecast.hpp"
#include "measure/kernel_block.hpp"
#include "measure/kernel_runner_pool.hpp"
#include "measure/model_block.hpp"
#include "measure/priority.hpp"
#include "measure/references.hpp"
#include "measure/row_store.hpp"
#include "measure/schedule.hpp"
#include "measure/shared_error.hpp"
#include "measure/summary.hpp"

namespace oplat::measure {
namespace {

/// Blocks after which the costs of the first pass are known well enough to warn of the budget.
constexpr std::int64_t kBlocksBeforeWarning = 5;
constexpr std::int64_t kMaxStoredCopies = 1024;
/// A neighbour on the core doubles an empty call for seconds, and every prediction of the campaign
/// holds it: it is timed again now and then, for this share of the time, and the shortest counts
/// (docs/adr/0046).
constexpr double kEmptyCallShare = 0.05;
constexpr double kMinSecondsBetweenEmptyCalls = 1;
/// At the end, until one found its core alone; each takes 0.1 to 0.5 s.
constexpr double kMaxSecondsOfLastEmptyCalls = 4;
/// Share of a budget that whole models may take before the kernels had their passes.
constexpr double kMaxForModels = 0.5;

struct MeasuredBlock {
  table::Block block;
  table::Method method;
  std::optional<double> call_ns = std::nullopt;  ///< see measure::KernelBlock
};
using Measured = std::variant<MeasuredBlock, table::Unsupported, table::Skipped, table::Failed>;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Errors that the next process would meet again and that say nothing about a kernel.
bool ends_the_campaign(Code code) {
  return code == Code::Usage || code == Code::Refused || code == Code::Write;
}

std::int64_t count_not_apart(std::span<const table::Block> blocks) {
  return std::count_if(blocks.begin(), blocks.end(), table::is_not_apart);
}

class CampaignRun {
 public:
  CampaignRun(const CampaignRequest& request, table::Table& table, const RunnerFactory& factory,
              Progress& progress, table::DeviceId device, table::SettingId setting,
              CampaignRows rows)
      : request_(request),
        table_(table),
        progress_(progress),
        device_(device),
        setting_(setting),
        rows_(std::move(rows)),
        pool_(factory, std::max<std::int64_t>(request.keys_per_process, 1), next_process()),
        store_(table, device, setting, request.stop),
        forecast_(request.stop.min_blocks),
        priority_(request.models, request.networks),
        started_(now()) {}

  Result<Summary> run();

 private:
  [[nodiscard]] double now() const {
    return request_.seconds ? request_.seconds() : steady_seconds();
  }
  [[nodiscard]] bool stop_asked() const { return request_.stop_asked && request_.stop_asked(); }
  [[nodiscard]] double elapsed() const { return now() - started_; }
  [[nodiscard]] bool budget_over() const {
    return request_.budget_seconds && elapsed() >= *request_.budget_seconds;
  }
  [[nodiscard]] std::int64_t next_process() const;
  /// Whether earlier campaigns left blocks of these rows: then their empty call stands, so that k
  /// and single calls do not change in the middle of a row.
  [[nodiscard]] bool resumed() const;
  void mark_finished();
  Status begin();
  Status time_empty_call();
  Status time_empty_call_again();  ///< now and then: see kEmptyCallShare
  Result<bool> add_empty_call();   ///< false: what was known stands
  Result<bool> take_empty_call();  ///< likewise
  /// Makes sure that one timing had its core alone and at full clock, as far as possible in
  /// kMaxSecondsOfLastEmptyCalls, and stores whether one had. `full_clock_ns`: of the compute
  /// reference.
  Status settle_empty_call(const std::optional<double>& full_clock_ns);
  Status store_campaign();
  Status passes();
  /// That of the next pass, and which rows can wait meanwhile.
  [[nodiscard]] std::optional<std::int64_t> next_level();
  /// The whole model that cannot wait for its pass, since what is left of the budget just suffices
  /// for its blocks.
  [[nodiscard]] CampaignRow* urgent_model();
  Status visit(CampaignRow& row, std::int64_t pass);
  /// std::nullopt if the user asked to stop meanwhile, or where it failed and the budget is over.
  Result<std::optional<Measured>> measure_with_retry(CampaignRow& row);
  std::optional<Measured> give_up(const CampaignRow& row, const table::Failed& failure);
  Result<Measured> measure_once(measure::KernelRunner& runner, const CampaignRow& row) const;
  Result<Measured> measure_kernel(measure::KernelRunner& runner, const CampaignRow& row) const;
  Result<Measured> measure_model(measure::KernelRunner& runner, const CampaignRow& row) const;
  /// Looks whether the cores turned out to be better than they were until now: what was measured
  /// until then, `last` included, had worse ones, and says so (docs/adr/0083).
  Status compare_cores(Measured* last = nullptr);
  /// Takes over from the table which blocks had worse cores; their rows get others.
  Status reopen_far_rows();
  Status take(CampaignRow& row, Measured measured, std::int64_t pass);
  Status finish();
  void tell(Phase phase, const CampaignRow* row);
  void warn_of_budget();

  const CampaignRequest& request_;
  table::Table& table_;
  Progress& progress_;
  table::DeviceId device_;
  table::SettingId setting_;
  CampaignRows rows_;
  KernelRunnerPool pool_;
  RowStore store_;
  References references_;
  Forecast forecast_;
  Priority priority_;
  double started_;
  measure::EmptyCall empty_call_;
  std::optional<double> min_call_ns_;           ///< of a short kernel in one of its blocks
  std::optional<double> stored_empty_call_ns_;  ///< the shortest of earlier campaigns
  double empty_call_due_ = 0;                   ///< when it is timed again
  table::Campaign campaign_;
  std::optional<table::CampaignId> campaign_id_;
  measure::Cores known_cores_;           ///< from earlier campaigns
  std::optional<measure::Cores> cores_;  ///< at their best when they were compared last
  bool baseline_is_given_ = false;
  std::int64_t blocks_ = 0;
  bool budget_ended_ = false;
  bool interrupted_ = false;
  bool warned_ = false;
};

std::int64_t CampaignRun::next_process() const {
  std::int64_t last = 0;
  for (const CampaignRow& row : rows_.all) {
    for (const table::Block& block : row.blocks) last = std::max(last, block.process);
  }
  return last + 1;
}

bool CampaignRun::resumed() const {
  return std::any_of(rows_.all.begin(), rows_.all.end(), [](const CampaignRow& row) {
    return row.kind != RowKind::Model && !row.blocks.empty();
  });
}

/// What earlier campaigns measured well enough is left alone, but for rows that a block at full
/// clock may make sure of.
void CampaignRun::mark_finished() {
  for (const CampaignRow& row : rows_.all) {
    for (const table::Block& block : row.blocks) references_.add(block);
  }
  const measure::ReferenceMedians medians = references_.medians();
  for (CampaignRow& row : rows_.all) {
    if (row.blocks.empty()) continue;
    const measure::Assessment assessment =
        measure::assess(row.blocks, request_.stop, medians, row.seed());
    row.judge(assessment);
  }
  if (!pass_level(rows_.all)) ask_for_blocks_at_full_clock(rows_.all, request_.stop, references_);
}

void CampaignRun::tell(Phase phase, const CampaignRow* row) {
  ProgressState state;
  state.phase = phase;
  double left = 0;
  for (const CampaignRow& each : rows_.all) {
    state.done += each.attempts();
    left += forecast_.blocks_left(each);
  }
  state.total = state.done + std::llround(left);
  state.eta_seconds = forecast_.seconds_left(rows_.all);
  if (request_.budget_seconds) {
    state.eta_seconds = std::clamp(*request_.budget_seconds - elapsed(), 0.0, *state.eta_seconds);
  }
  if (row != nullptr) {
    state.current = row->name;
    state.state = row->state_name();
  }
  progress_.update(state);
}

void CampaignRun::warn_of_budget() {
  if (warned_ || !request_.budget_seconds || blocks_ < kBlocksBeforeWarning) return;
  const double first_pass = forecast_.first_pass_left(rows_.all);
  if (first_pass <= 0) return;  // every kernel has its block: what is left makes intervals narrower
  const double needed = elapsed() + first_pass;
  if (needed <= *request_.budget_seconds) return;
  warned_ = true;
  progress_.notice(
      fmt::format("one block of every kernel takes about {}, but the budget is {}; some kernels "
                  "will not be measured",
                  base::clock_text(needed), base::clock_text(*request_.budget_seconds)));
}

Status CampaignRun::store_campaign() {
  if (!baseline_is_given_) {
    const measure::ReferenceMedians baseline = references_.baseline();
    campaign_.reference_compute_ns = baseline.compute_ns;
    campaign_.reference_memory_ns = baseline.memory_ns;
  }
  if (campaign_id_) return table_.update_campaign(*campaign_id_, campaign_);
  const table::Environment environment =
      request_.environment ? *request_.environment : measure::probe_environment();
  OPLAT_TRY(id, table_.add_campaign(device_, setting_, campaign_, environment));
  campaign_id_ = id;
  store_.set_campaign(id);
  return {};
}

Status CampaignRun::time_empty_call() {
  if (request_.empty_call_key.empty() || (resumed() && campaign_.empty_call_ns)) return {};
  OPLAT_CHECK(add_empty_call().map([](bool) {}));
  // The first process does not know yet how fast a core of its own is.
  empty_call_.alone = false;
  empty_call_.alone_compute_ns.reset();
  return {};
}

Status CampaignRun::time_empty_call_again() {
  if (!campaign_.empty_call_ns || now() < empty_call_due_ || budget_over()) return {};
  return add_empty_call().map([](bool) {});
}

Result<bool> CampaignRun::add_empty_call() {
  const double before = now();
  OPLAT_TRY(timed, take_empty_call());
  empty_call_due_ =
      now() + std::max(kMinSecondsBetweenEmptyCalls, (now() - before) / kEmptyCallShare);
  return timed;
}

Result<bool> CampaignRun::take_empty_call() {
  if (request_.budget_seconds) pool_.end_waiting_in(*request_.budget_seconds - elapsed());
  auto runner = pool_.get();
  // Whoever asked to stop is answered by the pass, with all that was measured.
  if (!runner && runner.error().code == Code::Interrupted) return false;
  if (!runner) return fail(std::move(runner).error());
  const auto empty =
      measure_empty_call(**runner, request_.empty_call_key, request_.setting, empty_call_);
  if (!empty) {
    if (empty.error().code == Code::Interrupted) return false;
    if (ends_the_campaign(empty.error().code)) return fail(empty.error());
    pool_.discard();
    progress_.notice(fmt::format("the empty call could not be timed: {}", empty.error().message));
    return false;
  }
  references_.add(empty->reference_compute_ns, empty->reference_memory_ns);
  if (!empty->ns) {
    // The reply may hide a crash, after which this process answers nothing more.
    pool_.discard();
    return false;
  }
  empty_call_ = *empty;
  campaign_.empty_call_ns = std::min(*empty->ns, stored_empty_call_ns_.value_or(*empty->ns));
  return true;
}

Status CampaignRun::begin() {
  tell(Phase::Preparing, nullptr);
  campaign_.argv = request_.argv;
  campaign_.commit = base::commit();
  campaign_.seed = request_.seed;
  // The baseline of the first campaign stays, so that later ones compare with the same.
  OPLAT_TRY(campaigns, table_.campaigns());
  for (const table::StoredCampaign& earlier : campaigns) {
    if (earlier.device != device_ || earlier.setting != setting_) continue;
    if (const auto& call = earlier.campaign.empty_call_ns)
      stored_empty_call_ns_ = std::min(*call, stored_empty_call_ns_.value_or(*call));
    if (baseline_is_given_ || !earlier.campaign.reference_compute_ns) continue;
    campaign_.reference_compute_ns = earlier.campaign.reference_compute_ns;
    campaign_.reference_memory_ns = earlier.campaign.reference_memory_ns;
    baseline_is_given_ = true;
  }
  campaign_.empty_call_ns = stored_empty_call_ns_;
  known_cores_ = cores_of(campaigns, device_, setting_);
  pool_.know(known_cores_);
  OPLAT_CHECK(time_empty_call());
  OPLAT_CHECK(store_campaign());
  // Until the end has made sure of it.
  return campaign_.empty_call_ns
             ? table_.add_campaign_facts(*campaign_id_, {{table::kEmptyCallAlone, "no"}})
             : Status();
}

Result<Measured> CampaignRun::measure_kernel(measure::KernelRunner& runner,
                                             const CampaignRow& row) const {
  measure::KernelBlockRequest block;
  block.key = row.name;
  block.setting = request_.setting;
  block.state = row.state;
  block.seed = base::mix_seed(request_.seed, row.seed());
  block.empty_call_ns = campaign_.empty_call_ns;
  block.brief = request_.stop.max_blocks == 1;
  if (!row.blocks.empty()) {
    block.expected_ns = row.blocks.front().value_ns;
    const std::int64_t stored = row.method.copies;
    if (stored >= 1 && stored <= kMaxStoredCopies) block.copies = stored;
  }
  OPLAT_TRY(outcome, measure_kernel_block(runner, block, request_.copies));
  if (auto* measured = std::get_if<measure::KernelBlock>(&outcome)) {
    return Measured(MeasuredBlock{measured->block, std::move(measured->method), measured->call_ns});
  }
  if (auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return Measured(std::move(*unsupported));
  if (auto* skipped = std::get_if<table::Skipped>(&outcome)) return Measured(std::move(*skipped));
  return Measured(std::move(std::get<table::Failed>(outcome)));
}

Result<Measured> CampaignRun::measure_model(measure::KernelRunner& runner,
                                            const CampaignRow& row) const {
  measure::ModelBlockRequest block;
  block.model = row.model->path;
  block.shapes = row.model->shapes;
  block.batch = row.model->batch;
  block.inputs = row.model->inputs;
  block.setting = request_.setting;
  block.seed = request_.seed;
  OPLAT_TRY(outcome, measure_model_block(runner, block));
  if (auto* measured = std::get_if<measure::ModelBlock>(&outcome)) {
    return Measured(MeasuredBlock{measured->block, {}});
  }
  if (auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return Measured(std::move(*unsupported));
  if (auto* skipped = std::get_if<table::Skipped>(&outcome)) return Measured(std::move(*skipped));
  return Measured(std::move(std::get<table::Failed>(outcome)));
}

Result<Measured> CampaignRun::measure_once(measure::KernelRunner& runner,
                                           const CampaignRow& row) const {
  return row.kind == RowKind::Model ? measure_model(runner, row) : measure_kernel(runner, row);
}

Result<std::optional<Measured>> CampaignRun::measure_with_retry(CampaignRow& row) {
  table::Failed failure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (request_.budget_seconds) pool_.end_waiting_in(*request_.budget_seconds - elapsed());
    // A whole model shares its process with nothing: neither its memory nor its caches.
    if (row.kind == RowKind::Model) pool_.discard();
    const Result<measure::KernelRunner*> runner = pool_.get();
    // Interrupted inside a worker's start or a block: the campaign ends as between two blocks, with
    // its summary.
    if (!runner && runner.error().code == Code::Interrupted) return std::optional<Measured>();
    if (!runner) return fail(runner.error());
    Result<Measured> measured = measure_once(**runner, row);
    if (!measured && measured.error().code == Code::Interrupted) {
      pool_.discard();
      return std::optional<Measured>();
    }
    if (!measured && ends_the_campaign(measured.error().code))
      return fail(std::move(measured).error());
    if (!measured) measured = table::Failed{measured.error().message};
    if (row.kind == RowKind::Model) pool_.discard();
    const auto* failed = std::get_if<table::Failed>(&*measured);
    if (failed == nullptr) return std::optional(std::move(*measured));
    failure = *failed;
    pool_.discard();
    // Ctrl-C reaches workers too: what failed then says nothing about the kernel.
    if (stop_asked()) return std::optional<Measured>();
    if (budget_over()) return give_up(row, failure);
  }
  return std::optional<Measured>(std::move(failure));
}

/// Its one retry is due still, so that nothing is recorded of the kernel yet; and its deadline may
/// have been cut to the budget.
std::optional<Measured> CampaignRun::give_up(const CampaignRow& row, const table::Failed& failure) {
  budget_ended_ = true;
  progress_.notice(fmt::format("{} ({}): {}; the budget is used up, so it is left for another run",
                               row.name, row.state_name(), failure.reason));
  return std::nullopt;
}

Status CampaignRun::compare_cores(Measured* last) {
  const measure::Cores best = pool_.best_cores();
  if (last == nullptr && !cores_ && best == known_cores_) return {};  // nobody looked yet
  const std::optional<measure::Cores> before = std::exchange(cores_, best);
  const bool worse = before && were_worse(*before, best);
  const bool first = !before && best.handoff_ns > 0;
  if (!worse && !first) return {};
  auto* good = last != nullptr ? std::get_if<MeasuredBlock>(last) : nullptr;
  if (worse && good != nullptr)
    good->block.steal_ticks = std::max(good->block.steal_ticks, table::kTicksNotApart);
  OPLAT_TRY(marked,
            mark_worse_cores(table_, device_, setting_, best, worse ? campaign_id_ : std::nullopt));
  if (marked == 0) return {};
  OPLAT_CHECK(reopen_far_rows());
  progress_.notice(
      fmt::format("the cores of the threads are nearer to each other, or less shared, than they "
                  "were until now; what was measured before counts as disturbed: {}",
                  marked == 1 ? "1 block" : fmt::format("{} blocks", marked)));
  return {};
}

Status CampaignRun::reopen_far_rows() {
  for (CampaignRow& row : rows_.all) {
    if (!row.id || row.blocks.empty()) continue;
    OPLAT_TRY(blocks, row.kind == RowKind::Model ? table_.blocks_of_model(*row.id)
                                                 : table_.blocks_of(*row.id));
    if (count_not_apart(blocks) == count_not_apart(row.blocks)) continue;
    row.blocks = std::move(blocks);
    // Of single blocks one decides over the others, else two do (stopping.cpp).
    const std::int64_t more = request_.stop.max_blocks == 1 ? 1 : 2;
    row.min_blocks = std::max(row.min_blocks, row.attempts() + more);
    row.finished = row.method.has(kFailedLater);
    OPLAT_CHECK(store_.refresh(row, references_));
  }
  return {};
}

Status CampaignRun::take(CampaignRow& row, Measured measured, std::int64_t pass) {
  if (auto* good = std::get_if<MeasuredBlock>(&measured)) {
    good->block.pass = pass;
    good->block.process = pool_.process();
    ++blocks_;
    if (good->call_ns && *good->call_ns > 0)
      min_call_ns_ = std::min(*good->call_ns, min_call_ns_.value_or(*good->call_ns));
    if (table::is_loaded(good->block)) ++row.loaded_blocks;
    std::set<std::string> flags(row.method.flags.begin(), row.method.flags.end());
    flags.insert(good->method.flags.begin(), good->method.flags.end());
    row.method = std::move(good->method);
    if (row.clearing_blocks() > row.attempts() + 1) {
      flags.insert(table::kUnderLoad);
    } else {
      flags.erase(table::kUnderLoad);
    }
    row.method.flags.assign(flags.begin(), flags.end());
    return store_.add_block(row, good->block, references_);
  }
  table::Outcome refusal = table::Failed{};
  if (auto* unsupported = std::get_if<table::Unsupported>(&measured))
    refusal = std::move(*unsupported);
  if (auto* skipped = std::get_if<table::Skipped>(&measured)) refusal = std::move(*skipped);
  if (auto* failed = std::get_if<table::Failed>(&measured)) {
    progress_.notice(fmt::format("{} ({}): {}", row.name, row.state_name(), failed->reason));
    refusal = std::move(*failed);
  }
  return store_.refuse(row, refusal, references_);
}

Status CampaignRun::visit(CampaignRow& row, std::int64_t pass) {
  if (row.refusal) return store_.refuse(row, *row.refusal, references_);
  tell(Phase::Measuring, &row);
  OPLAT_CHECK(compare_cores());  // empty calls look, too
  const double before = now();
  OPLAT_TRY(measured, measure_with_retry(row));
  OPLAT_CHECK(compare_cores(measured ? &*measured : nullptr));
  if (!measured) {
    interrupted_ = !budget_ended_;
    return {};
  }
  forecast_.add(row, now() - before);
  OPLAT_CHECK(take(row, std::move(*measured), pass));
  warn_of_budget();
  return {};
}

CampaignRow* CampaignRun::urgent_model() {
  // Without kernels to come passes bring every model its blocks in turn.
  const auto is_kernel = [](const CampaignRow& row) {
    return row.kind != RowKind::Model && !row.finished;
  };
  if (!request_.budget_seconds || std::none_of(rows_.all.begin(), rows_.all.end(), is_kernel))
    return nullptr;
  const double left = *request_.budget_seconds - elapsed();
  const double reserve =
      std::min(forecast_.models_left(rows_.all), kMaxForModels * *request_.budget_seconds);
  if (left > reserve) return nullptr;
  CampaignRow* most_urgent = nullptr;
  for (CampaignRow& row : rows_.all) {
    if (forecast_.model_blocks_lacking(row) == 0) continue;
    if (most_urgent == nullptr || row.attempts() < most_urgent->attempts()) most_urgent = &row;
  }
  return most_urgent;
}

std::optional<std::int64_t> CampaignRun::next_level() {
  if (request_.budget_seconds)
    priority_.sort_out(rows_.all, forecast_, *request_.budget_seconds - elapsed());
  const std::optional<std::int64_t> level = pass_level(rows_.all);
  if (level) return level;
  // What was forecast to take the rest of the budget took less.
  for (CampaignRow& row : rows_.all) row.can_wait = false;
  const std::optional<std::int64_t> waiting = pass_level(rows_.all);
  if (waiting || !ask_for_blocks_at_full_clock(rows_.all, request_.stop, references_))
    return waiting;
  return pass_level(rows_.all);
}

Status CampaignRun::passes() {
  while (const std::optional<std::int64_t> level = next_level()) {
    pool_.discard();
    std::deque<std::size_t> order = pass_order(rows_.all, *level, request_.seed);
    while (!order.empty()) {
      CampaignRow& row = rows_.all[order.front()];
      order.pop_front();
      if (row.kind == RowKind::Evicted) decide_demand(row, rows_.all[row.hot]);
      if (row.finished) continue;
      if (row.demand == RowDemand::Unknown) {
        order.push_back(static_cast<std::size_t>(&row - rows_.all.data()));
        continue;
      }
      interrupted_ = interrupted_ || stop_asked();
      budget_ended_ = budget_over();
      if (interrupted_ || budget_ended_) return {};
      if (CampaignRow* model = urgent_model(); model != nullptr && model != &row) {
        order.push_front(static_cast<std::size_t>(&row - rows_.all.data()));
        OPLAT_CHECK(visit(*model, model->attempts() + 1));
        if (interrupted_) return {};
        continue;
      }
      OPLAT_CHECK(visit(row, *level + 1));
      if (interrupted_) return {};
      OPLAT_CHECK(time_empty_call_again());
    }
    // The baseline is worth keeping even if the campaign is killed later.
    if (*level == 0) OPLAT_CHECK(store_campaign());
  }
  return {};
}

Status CampaignRun::settle_empty_call(const std::optional<double>& full_clock_ns) {
  if (!campaign_.empty_call_ns || interrupted_) return {};
  // A neighbour on the core's other thread shows in the clock alone.
  const auto is_settled = [&] {
    return empty_call_.alone && !is_at_lower_clock(empty_call_.alone_compute_ns, full_clock_ns);
  };
  const double begin = now();
  bool timed = false;
  while (!is_settled() && now() - begin < kMaxSecondsOfLastEmptyCalls) {
    interrupted_ = stop_asked();
    if (interrupted_) return {};
    const double before = now();
    timed = add_empty_call().value_or(false);
    if (!timed) break;  // what is known stands
    // A budget that is over leaves one timing, and a clock that stands still no end.
    if (budget_over() || now() <= before) break;
  }
  const bool alone = is_settled();
  // Blocks of short kernels hold a call each. The least of many is not exact, so it counts only
  // where it is plain that a neighbour was there whenever the empty call was timed.
  constexpr double kPlain = 1.15;
  if (!alone && min_call_ns_ && *campaign_.empty_call_ns > kPlain * *min_call_ns_)
    campaign_.empty_call_ns = min_call_ns_;
  if (timed && !alone)
    progress_.notice(
        fmt::format("the empty call, {}, was always timed on a core that another "
                    "tenant uses, or at a lower clock; predictions may be too long by up to that, "
                    "and their intervals say so; profile again when the machine is quiet",
                    base::duration_text(*campaign_.empty_call_ns)));
  return table_.add_campaign_facts(*campaign_id_, {{table::kEmptyCallAlone, alone ? "yes" : "no"}});
}

Status CampaignRun::finish() {
  tell(Phase::Finishing, nullptr);
  const std::optional<double> full_clock = full_clock_ns(rows_.all);
  OPLAT_CHECK(settle_empty_call(full_clock));
  OPLAT_CHECK(compare_cores());
  if (cores_ && cores_->handoff_ns > 0)
    OPLAT_CHECK(table_.add_campaign_facts(*campaign_id_, {{table::kBestCores, encode(*cores_)}}));
  pool_.discard();
  const SpreadOfBlocks spread = spread_of(rows_.all, full_clock);
  return table_.transaction([&]() -> Status {
    for (CampaignRow& row : rows_.all) {
      if (row.blocks.size() == 1) store_.set_single_sd_log(spread.sd_log(row.blocks.front()));
      // A single block has the whole spread of its kind by now.
      store_.set_common_sd_log(row.blocks.size() == 1 ? 0 : spread.common_sd_log(row.blocks));
      OPLAT_CHECK(store_.refresh(row, references_));
    }
    return store_campaign();
  });
}

Result<Summary> CampaignRun::run() {
  mark_finished();
  if (pass_level(rows_.all)) {
    OPLAT_CHECK(begin());
    OPLAT_CHECK(passes());
    OPLAT_CHECK(finish());
  }
  Summary summary = summarise(rows_, request_.stop);
  summary.campaign = campaign_id_;
  summary.blocks = blocks_;
  summary.processes = pool_.started();
  summary.seconds = elapsed();
  summary.waited_seconds = pool_.waited_seconds();
  summary.min_passes = request_.stop.min_blocks;
  summary.target_error = request_.stop.half_width;
  summary.first_pass_seconds = forecast_.first_pass_left(rows_.all);
  summary.more_seconds = forecast_.seconds_left(rows_.all);
  summary.budget_ended = budget_ended_;
  summary.interrupted = interrupted_;
  return summary;
}

}  // namespace

Result<Summary> run(const CampaignRequest& request, table::Table& table,
                    const RunnerFactory& factory, Progress& progress) {
  OPLAT_TRY(device, table.put_device(request.device));
  OPLAT_TRY(setting, table.put_setting(request.setting));
  OPLAT_TRY(rows, load_rows(request, table, device, setting));
  return CampaignRun(request, table, factory, progress, device, setting, std::move(rows)).run();
}

std::vector<std::string> keys_of(std::span<const table::Plan> plans) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  for (const table::Plan& plan : plans) {
    for (const table::PlanKernel& kernel : plan.kernels) {
      if (seen.insert(kernel.key).second) keys.push_back(kernel.key);
    }
  }
  return keys;
}

}  // namespace oplat::measure
