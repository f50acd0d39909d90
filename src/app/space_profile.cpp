// SPDX-License-Identifier: Apache-2.0
/// Rounds of choosing and measuring.
///
/// The problem: a device is to be profiled before anybody knows the models it will be asked about.
/// Networks are made of kernels that are alike, so some of those that known networks have, and
/// others of sizes between them, teach the rest. Which ones is decided while measuring: what was
/// measured says where estimates are unsure, and the next round measures what takes most from the
/// error of the space's networks for each second (estimate/sampler.hpp). A row gets one block:
/// noise of a few per cent is small next to what estimates lack, and one more kernel teaches more.
///
/// The small networks are measured in turn with all that: a shared host is another one from minute
/// to minute, and how kernels add up is what networks take over what their kernels take at about
/// the same time (docs/adr/0084).
///
/// How good predictions of models never seen are is estimated as it will be asked: networks of one
/// family are predicted from kernels that no network of the family gave reason to measure
/// (estimate/unseen.hpp).
#include "app/space_profile.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "app/check.hpp"
#include "app/fit.hpp"
#include "app/learning.hpp"
#include "app/measure_models.hpp"
#include "app/space_candidates.hpp"
#include "app/table_source.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "estimate/sampler.hpp"
#include "estimate/unseen.hpp"
#include "formats/format_reader.hpp"
#include "ir/int8.hpp"

namespace oplat::app {
namespace {

constexpr std::int64_t kBlocksOfRow = 1;
/// Until rows tell: of a kernel in its cache states, with opening.
constexpr double kSecondsOfKernel = 0.25;
/// Runs of a long kernel that its blocks take, calibration and warm-up included.
constexpr double kRunsOfKernel = 20;
constexpr double kShareOfFirstRound = 0.15;
constexpr std::size_t kMinFirstRound = 40;
constexpr int kRounds = 6;
constexpr double kMinSecondsOfRound = 10;
/// Of the budget: for whole models, and for further blocks of what matters most.
constexpr double kShareOfLastPart = 0.15;
constexpr double kSecondsOfModel = 4;
constexpr double kMaxShareOfModels = 0.3;
/// Of the budget, for the space's small networks and their kernels: as many as fit.
constexpr double kShareOfSmallNetworks = 0.4;
constexpr double kSecondsOfSmallNetwork = 10;
constexpr double kMinSmallNetworks = 4;
/// Without a budget, a round takes so long.
constexpr double kSecondsOfRound = 60;
constexpr std::size_t kFolds = 4;
constexpr std::size_t kMinNetworksForError = 4;
constexpr double kEffortOfError = 0.25;
/// Of a round, for rows that were measured while others used their cores.
constexpr double kShareOfLoud = 0.15;
/// Estimating the error takes no more of the time than this, but for once at the end.
constexpr double kShareOfError = 0.05;
/// A network of which less was measured says little. Most of a network is measured where one or two
/// kernels that are like no others make it up, so that a larger share would choose the worst known.
constexpr double kMinMeasured = 0.1;
double seconds_of(double ns) { return kSecondsOfKernel + kRunsOfKernel * ns * 1e-9; }

/// Times of candidates that the table holds: of their least footprint, which is hot.
class Times {
 public:
  Times(const table::Table& table, const Session& session) : table_(table), session_(session) {}

  enum class Found { No, Time, Refused };
  /// Reads the rows of this candidate again.
  Result<Found> read(std::size_t candidate, const std::string& key) {
    OPLAT_TRY(known, find_population());
    if (!known) return Found::No;
    OPLAT_TRY(rows, table_.rows_of(key, *device_, *setting_));
    never_quiet_.erase(candidate);
    Found found = Found::No;
    std::optional<double> least;
    for (const table::StoredRow& stored : rows) {
      const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
      if (timing == nullptr) {
        if (found == Found::No) found = Found::Refused;
        continue;
      }
      if (!(timing->median_ns > 0)) continue;
      if (stored.row.method.has(table::kNeverQuiet)) never_quiet_.insert(candidate);
      const double bytes = stored.row.reuse_bytes.value_or(0);
      if (least && bytes >= *least) continue;
      least = bytes;
      log_ns_[candidate] = std::log(timing->median_ns);
      found = Found::Time;
    }
    return found;
  }
  /// Reads all rows again that have a time: a campaign that finds better cores than earlier ones
  /// had says so of their rows.
  Status read_again(std::span<const std::string> keys) {
    std::vector<std::size_t> known;
    for (const auto& [candidate, log_ns] : log_ns_) known.push_back(candidate);
    for (const std::size_t candidate : known)
      OPLAT_CHECK(read(candidate, keys[candidate]).map([](Found) {}));
    return {};
  }
  [[nodiscard]] const std::map<std::size_t, double>& log_ns() const { return log_ns_; }
  /// Those of which some row never had its cores alone, or apart.
  [[nodiscard]] const std::set<std::size_t>& never_quiet() const { return never_quiet_; }

 private:
  /// Whether the table has rows of this device and setting by now.
  Result<bool> find_population() {
    if (!device_) {
      OPLAT_TRY(device, table_.find_device(session_.device.name));
      device_ = device;
    }
    if (!setting_) {
      OPLAT_TRY(setting, table_.find_setting(session_.setting));
      setting_ = setting;
    }
    return device_ && setting_;
  }

  const table::Table& table_;
  const Session& session_;
  std::optional<table::DeviceId> device_;
  std::optional<table::SettingId> setting_;
  std::map<std::size_t, double> log_ns_;
  std::set<std::size_t> never_quiet_;
};

/// Networks by what their kernels compute with.
enum class Kind { All, In8Bits, Others };

/// What was said of a network of the space, as if unseen.
struct SaidOfNetwork {
  estimate::UnseenNetwork error;
  bool in_8_bits = false;
};

/// Mean error of the sum of a network's kernels; of fewer networks than say something: none.
struct KernelErrors {
  double all = 0;
  std::optional<double> in_8_bits = {}, others = {};
};

bool is_of(Kind kind, bool in_8_bits) {
  return kind == Kind::All || in_8_bits == (kind == Kind::In8Bits);
}

class SpaceProfile {
 public:
  SpaceProfile(const ProfileRequest& request, const Session& session,
               const search::KernelSpace& space, std::span<const PlannedModel> models,
               table::Table& table, Events& events)
      : request_(request),
        session_(session),
        models_(models),
        table_(table),
        events_(events),
        candidates_(
            make_candidates(space, session.device, session.setting.threads, request.campaign.seed)),
        times_(table, session) {
    for (std::size_t i = 0; i < candidates_.keys.size(); ++i)
      candidate_of_.emplace(candidates_.keys[i], i);
    report_.name = space.name;
    report_.kernels = static_cast<std::int64_t>(candidates_.own);
    report_.candidates = static_cast<std::int64_t>(candidates_.keys.size());
    report_.networks = static_cast<std::int64_t>(space.networks.size());
    for (const estimate::NetworkOfRows& network : candidates_.networks) {
      const auto of_8_bits = [this](const auto& row) {
        return ir::has_int8_tensor(candidates_.keys[row.first]);
      };
      in_8_bits_.push_back(std::ranges::any_of(network.rows, of_8_bits));
    }
    report_.target = request.campaign.target_error;
  }

  Result<measure::Summary> run();
  /// After run() and the fits that follow it.
  Status finish();
  [[nodiscard]] const report::SpaceSummary& report() const { return report_; }

 private:
  [[nodiscard]] double share_of_models() const {
    return std::min(kMaxShareOfModels,
                    kSecondsOfModel * static_cast<double>(models_.size()) /
                        request_.campaign.budget_s.value_or(kRounds * kSecondsOfRound));
  }
  Status tell_known(estimate::Sampler& sampler);
  /// What the table holds of a candidate. `ask_again`: after a refusal, too.
  Status tell(estimate::Sampler& sampler, std::size_t candidate, bool ask_again);
  /// Kernels, views among them, of the models and small networks whose turn came up to this round:
  /// the composition needs every one.
  [[nodiscard]] std::vector<std::string> kernels_of_models(int round) const;
  /// Those of them that have neither time nor refusal.
  [[nodiscard]] std::vector<std::string> open_kernels_of_models(int round) const;
  /// Times these kernels, and each model once more. False: interrupted.
  Result<bool> models_in_turn(CampaignInParts& campaign, estimate::Sampler& sampler, int round,
                              double seconds);
  Result<measure::Summary> rounds(CampaignInParts& campaign);
  /// Whether rounds go on until the error is as small as asked for, and only how kernels add up
  /// is in the way, which is a guess before models have times.
  [[nodiscard]] bool lacks_models() const {
    return report_.target && report_.expected && report_.expected->kernels <= *report_.target &&
           !meets_target() && !models_timed_ && !models_.empty();
  }
  [[nodiscard]] bool meets_target() const {
    return report_.target && report_.expected && report_.expected->mean <= *report_.target;
  }
  Result<measure::Summary> time_models(CampaignInParts& campaign, double budget_s);
  /// Another block for rows that never had their cores alone, or apart: that passes.
  Result<bool> measure_loud_again(CampaignInParts& campaign, estimate::Sampler& sampler,
                                  double budget_s);
  /// One block of each.
  Result<measure::Summary> measure_kernels(CampaignInParts& campaign, estimate::Sampler& sampler,
                                           std::vector<std::string> keys, double budget_s);
  [[nodiscard]] std::vector<std::string> keys_of_candidates(
      std::span<const std::size_t> candidates) const;
  Result<measure::Summary> last_part(CampaignInParts& campaign);
  /// What was said of the space's networks as if unseen, of those of one fold or of all; none where
  /// too little is known.
  Result<std::vector<SaidOfNetwork>> unseen_networks(std::optional<std::size_t> fold);
  /// Of what the table's whole models say by now, or what is assumed before them; in the mean of
  /// the networks of this kind.
  [[nodiscard]] double error_of_composition(const predict::Selection& selection, Kind kind) const;
  /// Of all families, or of some of them.
  Status say_error(const KernelErrors& kernels, bool of_all);
  /// By the networks of all families for the report, or by those of one fold for people to see.
  Status estimate_error(std::optional<std::size_t> fold = std::nullopt);

  const ProfileRequest& request_;
  const Session& session_;
  std::span<const PlannedModel> models_;
  table::Table& table_;
  Events& events_;
  Candidates candidates_;
  std::vector<bool> in_8_bits_;                                     ///< of each of their networks
  std::unordered_map<std::string_view, std::size_t> candidate_of_;  ///< by key
  std::unordered_set<std::string> settled_;  ///< keys with a time or a refusal
  Times times_;
  report::SpaceSummary report_;
  KernelErrors kernel_errors_;  ///< of report_.expected
  double seconds_of_error_ = 0;
  std::optional<double> correlation_;  ///< of the errors of learned kernels
  bool models_timed_ = false;          ///< within the rounds
};

Status SpaceProfile::tell_known(estimate::Sampler& sampler) {
  for (std::size_t i = 0; i < candidates_.keys.size(); ++i) {
    OPLAT_CHECK(tell(sampler, i, request_.campaign.retry_refused));
  }
  return {};
}

Status SpaceProfile::tell(estimate::Sampler& sampler, std::size_t candidate, bool ask_again) {
  OPLAT_TRY(found, times_.read(candidate, candidates_.keys[candidate]));
  if (found == Times::Found::Time) {
    sampler.tell(candidate, times_.log_ns().at(candidate));
  } else if (found == Times::Found::Refused && !ask_again) {
    sampler.drop(candidate);
  } else {
    sampler.put_back(candidate);
    return {};
  }
  settled_.insert(candidates_.keys[candidate]);
  return {};
}

Result<std::vector<SaidOfNetwork>> SpaceProfile::unseen_networks(std::optional<std::size_t> fold) {
  const std::vector<SaidOfNetwork> none;
  const std::size_t folds = std::min(kFolds, candidates_.families);
  if (folds < 2 || candidates_.networks.size() < kMinNetworksForError) return none;
  std::vector<ir::Description> rows;
  std::vector<double> log_ns;
  std::vector<std::vector<std::size_t>> groups;
  std::unordered_map<std::size_t, std::size_t> place;
  for (const auto& [candidate, log] : times_.log_ns()) {
    place.emplace(candidate, rows.size());
    rows.push_back(candidates_.descriptions[candidate]);
    log_ns.push_back(log);
    groups.push_back(candidates_.groups[candidate]);
  }
  std::vector<estimate::NetworkOfRows> networks;
  std::vector<SaidOfNetwork> said;
  for (std::size_t i = 0; i < candidates_.networks.size(); ++i) {
    const estimate::NetworkOfRows& network = candidates_.networks[i];
    if (fold && network.group % folds != *fold % folds) continue;
    estimate::NetworkOfRows measured{network.group, {}};
    double total = 0;
    double known = 0;
    for (const auto& [candidate, count] : network.rows) {
      const double ns = count * guessed_ns(candidates_.descriptions[candidate].work);
      total += ns;
      const auto at = place.find(candidate);
      if (at == place.end()) {
        measured.without_row.emplace_back(&candidates_.descriptions[candidate], count);
        continue;
      }
      known += ns;
      measured.rows.emplace_back(at->second, count);
    }
    if (!(known >= kMinMeasured * total)) continue;
    networks.push_back(std::move(measured));
    said.push_back({{}, in_8_bits_[i]});
  }
  if (networks.size() < kMinNetworksForError) return none;
  estimate::LearnRequest learn = learn_request({.seed = request_.campaign.seed});
  learn.effort = kEffortOfError;
  learn.progress = [this](int, int) { return !events_.cancelled(); };
  auto errors = estimate::errors_of_unseen(rows, log_ns, groups, networks, folds, learn);
  if (!errors && (errors.error().code == Code::Refused || errors.error().code == Code::Interrupted))
    return none;
  if (!errors) return fail(errors.error());
  for (std::size_t i = 0; i < said.size(); ++i) said[i].error = (*errors)[i];
  return said;
}

double SpaceProfile::error_of_composition(const predict::Selection& selection, Kind kind) const {
  // Of a normal distribution the mean magnitude is 0.8 deviations.
  constexpr double kMeanMagnitude = 0.7978845608;
  if (!selection.fit)
    return kMeanMagnitude * std::hypot(predict::kCompositionSd, selection.sum_spread.sd_log);
  double sum = 0;
  double networks = 0;
  for (std::size_t i = 0; i < candidates_.networks.size(); ++i) {
    if (!is_of(kind, in_8_bits_[i])) continue;
    predict::Exposure exposure;
    for (const auto& [candidate, count] : candidates_.networks[i].rows) {
      const ir::Work& work = candidates_.descriptions[candidate].work;
      const auto at = times_.log_ns().find(candidate);
      exposure.reuse_bytes += count * (work.bytes_weights + work.bytes_out);
      exposure.ns +=
          count * (at == times_.log_ns().end() ? guessed_ns(work) : std::exp(at->second));
    }
    exposure.touched_bytes = exposure.reuse_bytes;
    sum += selection.fit->sd_log_of_a_moment(exposure);
    ++networks;
  }
  return networks > 0 ? kMeanMagnitude * sum / networks : 0;
}

Status SpaceProfile::estimate_error(std::optional<std::size_t> fold) {
  const auto start = std::chrono::steady_clock::now();
  OPLAT_TRY(said, unseen_networks(fold));
  seconds_of_error_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (said.empty()) return {};
  const auto of = [&](Kind kind) {
    std::vector<estimate::UnseenNetwork> networks;
    for (const SaidOfNetwork& network : said) {
      if (is_of(kind, network.in_8_bits)) networks.push_back(network.error);
    }
    return networks;
  };
  const std::vector<estimate::UnseenNetwork> all = of(Kind::All);
  const std::optional<double> correlation = estimate::learned_correlation(all);
  const auto error_of = [&](const std::vector<estimate::UnseenNetwork>& networks) {
    return estimate::error_of_whole_networks(networks,
                                             correlation.value_or(predict::kLearnedCorrelation));
  };
  const auto error_of_kind = [&](Kind kind) -> std::optional<double> {
    const auto networks = of(kind);
    if (networks.size() < kMinNetworksForError || networks.size() == all.size()) return {};
    return error_of(networks);
  };
  if (!fold) correlation_ = correlation;
  return say_error({error_of(all), error_of_kind(Kind::In8Bits), error_of_kind(Kind::Others)},
                   !fold);
}

Status SpaceProfile::say_error(const KernelErrors& kernels, bool of_all) {
  // Rows that came since the last fit make it out of date.
  if (models_timed_) update_composition(session_, table_, events_);
  OPLAT_TRY(selection, select_rows(table_, rows_of(session_)));
  const auto expected = [&](double of_kernels, Kind kind) {
    const double composition = error_of_composition(selection, kind);
    return report::ExpectedError{std::hypot(of_kernels, composition), of_kernels, composition};
  };
  const report::ExpectedError error = expected(kernels.all, Kind::All);
  if (of_all) {
    kernel_errors_ = kernels;
    report_.expected = error;
    report_.expected_in_8_bits.reset();
    report_.expected_of_others.reset();
    if (kernels.in_8_bits) report_.expected_in_8_bits = expected(*kernels.in_8_bits, Kind::In8Bits);
    if (kernels.others) report_.expected_of_others = expected(*kernels.others, Kind::Others);
  }
  events_.note(fmt::format(
      "expected error of models never seen: {:.1f} % ({:.1f} % by kernels, {:.1f} % by their sum), "
      "from {} kernels{}",
      100 * error.mean, 100 * error.kernels, 100 * error.composition, times_.log_ns().size(),
      of_all ? "" : ", for some of the families"));
  return {};
}

std::vector<std::string> SpaceProfile::kernels_of_models(int round) const {
  std::vector<table::Plan> plans;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (i % kRounds <= static_cast<std::size_t>(round)) plans.push_back(models_[i].plan);
  }
  return measure::keys_of(plans);
}

std::vector<std::string> SpaceProfile::open_kernels_of_models(int round) const {
  std::vector<std::string> keys = kernels_of_models(round);
  std::erase_if(keys, [this](const std::string& key) { return settled_.contains(key); });
  return keys;
}

Result<bool> SpaceProfile::models_in_turn(CampaignInParts& campaign, estimate::Sampler& sampler,
                                          int round, double seconds) {
  std::vector<std::string> kernels = open_kernels_of_models(round);
  if (!kernels.empty()) {
    OPLAT_TRY(measured,
              measure_kernels(campaign, sampler, std::move(kernels), kMaxShareOfModels * seconds));
    if (measured.interrupted) return false;
  }
  if (models_.empty()) return true;
  CampaignInParts::Part part;
  part.models = models_;
  part.blocks = round + 1;
  part.budget_s = share_of_models() * seconds;
  OPLAT_TRY(timed, campaign.run(part));
  return !timed.interrupted;
}

Result<measure::Summary> SpaceProfile::time_models(CampaignInParts& campaign, double budget_s) {
  CampaignInParts::Part part;
  part.models = models_;
  part.budget_s = budget_s;
  models_timed_ = true;
  return campaign.run(part);
}

Result<bool> SpaceProfile::measure_loud_again(CampaignInParts& campaign, estimate::Sampler& sampler,
                                              double budget_s) {
  if (session_.setting.threads > 1) OPLAT_CHECK(times_.read_again(candidates_.keys));
  const std::set<std::size_t> loud = times_.never_quiet();
  if (loud.empty()) return true;
  const std::vector<std::size_t> candidates(loud.begin(), loud.end());
  OPLAT_TRY(summary, measure_kernels(campaign, sampler, keys_of_candidates(candidates), budget_s));
  return !summary.interrupted;
}

std::vector<std::string> SpaceProfile::keys_of_candidates(
    std::span<const std::size_t> candidates) const {
  std::vector<std::string> keys;
  keys.reserve(candidates.size());
  for (const std::size_t i : candidates) keys.push_back(candidates_.keys[i]);
  return keys;
}

Result<measure::Summary> SpaceProfile::measure_kernels(CampaignInParts& campaign,
                                                       estimate::Sampler& sampler,
                                                       std::vector<std::string> keys,
                                                       double budget_s) {
  CampaignInParts::Part part;
  part.keys = std::move(keys);
  part.budget_s = budget_s;
  part.blocks = kBlocksOfRow;
  OPLAT_TRY(summary, campaign.run(part));
  for (const std::string& key : part.keys) {
    const auto candidate = candidate_of_.find(key);
    if (candidate == candidate_of_.end()) {
      // A view; once is enough.
      if (!summary.budget_ended && !summary.interrupted) settled_.insert(key);
      continue;
    }
    OPLAT_CHECK(tell(sampler, candidate->second, false));
  }
  return summary;
}

Result<measure::Summary> SpaceProfile::rounds(CampaignInParts& campaign) {
  estimate::LearnRequest learn = learn_request({.seed = request_.campaign.seed});
  estimate::Demand demand{candidates_.weights, seconds_of, candidates_.own,
                          [this](std::span<const double> log_ns) {
                            std::vector<double> ns;
                            for (const double log : log_ns) ns.push_back(std::exp(log));
                            return weights_of(candidates_, ns);
                          },
                          [this] { return !events_.cancelled(); }};
  estimate::Sampler sampler(candidates_.descriptions, std::move(demand), learn);
  OPLAT_CHECK(tell_known(sampler));
  measure::Summary last;
  double seconds_of_kernel = kSecondsOfKernel;
  const double budget = request_.campaign.budget_s.value_or(0);
  const double kept = budget * std::max(kShareOfLastPart, share_of_models());
  for (int round = 0; !events_.cancelled(); ++round) {
    double seconds = kSecondsOfRound;
    if (request_.campaign.budget_s) {
      const double left = campaign.left_s() - kept;
      if (left < kMinSecondsOfRound) break;
      const double share =
          round == 0 ? kShareOfFirstRound * budget : left / std::max(1, kRounds - round);
      seconds = std::clamp(share, std::min(kMinSecondsOfRound, left), left);
    }
    OPLAT_TRY(goes_on, measure_loud_again(campaign, sampler, kShareOfLoud * seconds));
    if (!goes_on) break;
    const double of_models =
        std::min(kMaxShareOfModels * seconds,
                 seconds_of_kernel * static_cast<double>(open_kernels_of_models(round).size())) +
        (models_.empty() ? 0 : share_of_models() * seconds);
    const double of_chosen = seconds - of_models;
    const std::size_t most =
        std::max(kMinFirstRound, static_cast<std::size_t>(of_chosen / seconds_of_kernel));
    events_.progress(
        {.done = round,
         .total = kRounds,
         .eta_s = request_.campaign.budget_s ? std::optional(std::max(0.0, campaign.left_s()))
                                             : std::nullopt,
         .what = "choosing",
         .item = fmt::format("kernels to measure, {} so far", times_.log_ns().size())});
    auto next = sampler.next(most);
    if (!next && next.error().code == Code::Interrupted) break;
    if (!next) return fail(next.error());
    const std::vector<std::size_t>& chosen = *next;
    if (chosen.empty()) break;
    const std::size_t before = times_.log_ns().size();
    OPLAT_TRY(summary,
              measure_kernels(campaign, sampler, keys_of_candidates(chosen),
                              request_.campaign.budget_s
                                  ? std::max(0.0, std::min(of_chosen, campaign.left_s() - kept))
                                  : std::numeric_limits<double>::infinity()));
    last = summary;
    report_.rounds = round + 1;
    const std::size_t measured = times_.log_ns().size() - before;
    if (summary.interrupted) break;
    if (measured > 0) seconds_of_kernel = summary.seconds / static_cast<double>(measured);
    OPLAT_TRY(in_turn, models_in_turn(campaign, sampler, round, seconds));
    if (!in_turn) break;
    // Where nothing depends on it, a quarter of the families at a time says enough.
    const bool cheap = seconds_of_error_ <= kShareOfError * seconds;
    if (report_.target) OPLAT_CHECK(estimate_error());
    if (!report_.target && cheap) OPLAT_CHECK(estimate_error(static_cast<std::size_t>(round)));
    if (lacks_models()) {
      OPLAT_TRY(timed, time_models(campaign, request_.campaign.budget_s
                                                 ? kept
                                                 : std::numeric_limits<double>::infinity()));
      if (timed.interrupted) break;
      OPLAT_CHECK(say_error(kernel_errors_, true));
    }
    report_.target_met = meets_target();
    if (report_.target_met) break;
    if (measured == 0 && summary.kernels.left == summary.kernels.total) break;
  }
  return last;
}

Result<measure::Summary> SpaceProfile::last_part(CampaignInParts& campaign) {
  CampaignInParts::Part part;
  part.models = models_;
  part.budget_s = campaign.left_s();
  // Those of models, views among them, first: a fit of the composition needs them all.
  part.keys = kernels_of_models(kRounds);
  // What is good enough gets no further blocks.
  if (!report_.target_met && request_.campaign.budget_s) {
    std::unordered_set<std::string> known(part.keys.begin(), part.keys.end());
    for (const auto& [candidate, log_ns] : times_.log_ns()) {
      if (known.insert(candidates_.keys[candidate]).second)
        part.keys.push_back(candidates_.keys[candidate]);
    }
  }
  for (const estimate::NetworkOfRows& network : candidates_.networks) {
    std::map<std::string, double> calls;
    for (const auto& [candidate, count] : network.rows) calls[candidates_.keys[candidate]] += count;
    part.networks.push_back(std::move(calls));
  }
  return campaign.run(part);
}

Result<measure::Summary> SpaceProfile::run() {
  // The target is of models; rows are as good as they are worth.
  CampaignOptions options = request_.campaign;
  options.target_error.reset();
  OPLAT_TRY(campaign,
            CampaignInParts::begin(session_, options, candidates_.keys.size(), table_, events_));
  OPLAT_TRY(summary, rounds(campaign));
  if (!summary.interrupted && !events_.cancelled()) {
    OPLAT_TRY(all, last_part(campaign));
    summary = std::move(all);
    OPLAT_CHECK(campaign.end(summary));
  }
  summary.interrupted = summary.interrupted || events_.cancelled();
  summary = campaign.with_all_parts(std::move(summary));
  summary.seconds = campaign.elapsed_s();
  report_.measured = static_cast<std::int64_t>(times_.log_ns().size());
  return summary;
}

Status SpaceProfile::finish() {
  if (events_.cancelled()) return {};
  OPLAT_CHECK(estimate_error());
  report_.target_met = meets_target();
  if (!correlation_) return {};
  OPLAT_TRY(selection, select_rows(table_, rows_of(session_)));
  return store_fits(table_, selection.device_id, selection.setting_ids.front(),
                    std::vector<table::Fit>{{std::string(predict::kLearnedCorrelationFormat), 0,
                                             predict::encode_correlation(*correlation_)}});
}

/// Too few rows to learn from answer for themselves alone; says what a budget has to be.
void warn_of_small_budget(const ProfileRequest& request, const report::SpaceSummary& space,
                          const measure::Summary& summary, Events& events) {
  const auto least = static_cast<std::int64_t>(estimate::kMinRowsLearned);
  if (!request.campaign.budget_s || summary.interrupted || space.measured >= least) return;
  events.warn(fmt::format(
      "{} of {} kernels were measured in {}, and {} are needed to learn from; a kernel takes about "
      "0.2 s and a round at least 10 s: give --budget 2m or more",
      space.measured, space.candidates, base::clock_text(*request.campaign.budget_s), least));
}

/// The small networks of a built-in space, as files while they are needed. A space of the user's
/// own has none: --model names models for it. Where all would leave a short budget little time for
/// other kernels, some stand for the others.
class SpaceNetworks {
 public:
  static Result<SpaceNetworks> write(const std::string& space, std::optional<double> budget_s) {
    SpaceNetworks networks;
    std::vector<const search::SmallNetwork*> all;
    for (const search::SmallNetwork& network : search::small_networks()) {
      if (network.space == space) all.push_back(&network);
    }
    if (all.empty()) return networks;
    std::vector<const search::SmallNetwork*> of_space;
    for (const std::size_t i : small_networks_in(all.size(), budget_s)) of_space.push_back(all[i]);
    OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-space"));
    networks.folder_ = std::make_unique<base::TemporaryFolder>(std::move(folder));
    for (const search::SmallNetwork* network : of_space) {
      const auto path = networks.folder_->path() / network->name;
      OPLAT_CHECK(base::write_file(path, network->bytes));
      networks.paths_.push_back(path.string());
    }
    return networks;
  }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::unique_ptr<base::TemporaryFolder> folder_;
  std::vector<std::string> paths_;
};

/// A fit of all rows, so that the table answers for kernels that it does not hold.
Status learn_kernels(const ProfileRequest& request, const Session& session, table::Table& table,
                     Events& events) {
  OPLAT_TRY(selection, select_rows(table, rows_of(session)));
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  auto learned = learn(rows, {.seed = request.campaign.seed}, events, &table);
  if (!learned && learned.error().code == Code::Refused) {
    events.warn(fmt::format("nothing was learned of kernels that were not measured: {}",
                            learned.error().message));
    return {};
  }
  if (!learned && learned.error().code == Code::Interrupted) return {};
  if (!learned) return fail(learned.error());
  return store_fits(table, selection.device_id, selection.setting_ids.front(), learned->fits);
}

}  // namespace

std::vector<std::size_t> small_networks_in(std::size_t all, std::optional<double> budget_s) {
  const double fit = budget_s ? std::max(kMinSmallNetworks,
                                         kShareOfSmallNetworks / kSecondsOfSmallNetwork * *budget_s)
                              : std::numeric_limits<double>::infinity();
  const std::size_t count = fit < static_cast<double>(all) ? static_cast<std::size_t>(fit) : all;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * all / count);
  return chosen;
}

Result<std::vector<std::string>> models_of_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return std::vector<std::string>{path};
  if (!fs::is_directory(path, error))
    return fail(Code::Input, "{}: there is no such folder", base::printable(path, 400));
  std::vector<std::string> models;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const auto source = base::Source::open(at->path());
    if (source && formats::reader_for(*source)) models.push_back(at->path().string());
  }
  if (error)
    return fail(Code::Input, "{}: cannot be listed: {}", base::printable(path, 400),
                error.message());
  if (models.empty())
    return fail(Code::Input, "{}: holds no model that oplat can read", base::printable(path, 400));
  std::sort(models.begin(), models.end());
  return models;
}

void add_models(search::KernelSpace& space, std::span<const PlannedModel> models) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < space.kernels.size(); ++i) places.emplace(space.kernels[i].key, i);
  std::size_t kind = space.kinds.size();
  space.kinds.emplace_back("of models");
  for (const PlannedModel& model : models) {
    search::SpaceNetwork network;
    network.name = network.family = model.plan.model;
    for (const auto& [key, count] : model.target.calls) {
      const auto [at, added] = places.emplace(key, space.kernels.size());
      if (added) space.kernels.push_back({key, kind, 0});
      space.kernels[at->second].count += count;
      network.kernels.emplace_back(at->second, count);
    }
    if (!network.kernels.empty()) space.networks.push_back(std::move(network));
  }
}

Result<ProfileResult> profile_space(const ProfileRequest& request, Events& events) {
  if (!request.campaign.budget_s && !request.campaign.target_error)
    return fail(Code::Usage,
                "a space has no end; give --budget, such as --budget 30m, or --target-error, such "
                "as --target-error 5%");
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_options(request.campaign));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  std::optional<search::KernelSpace> space;
  std::vector<std::string> like;
  if (!request.space.empty()) {
    OPLAT_TRY(found, search::find_kernel_space(request.space));
    space = std::move(found);
  } else {
    OPLAT_TRY(found, models_of_folder(request.like));
    like = std::move(found);
  }
  OPLAT_TRY(session, start_session(request.runtime, events));
  if (space && space->runtime != session.setting.runtime)
    return fail(Code::Refused,
                "{}: the space is of kernels of {}, and this runtime is {}; give --like DIR, a "
                "folder of models that it runs",
                request.space, space->runtime, session.setting.runtime);
  OPLAT_TRY(planned, plan_models(session, request.models, request.inputs, events));
  if (!space) {
    OPLAT_TRY(models, plan_models(session, like, request.inputs, events));
    space.emplace();
    space->name = request.like;
    space->runtime = session.setting.runtime;
    add_models(*space, models);
    if (space->kernels.empty())
      return fail(Code::Input, "{}: its models have no kernels to measure",
                  base::printable(request.like, 400));
  }
  const std::size_t of_request = planned.size();
  std::optional<SpaceNetworks> networks;
  if (!request.space.empty()) {
    OPLAT_TRY(made, SpaceNetworks::write(request.space, request.campaign.budget_s));
    networks = std::move(made);
    // What this runtime does not run teaches nothing; models of the request are another matter.
    if (!networks->paths().empty()) {
      OPLAT_TRY(small, plan_models(session, networks->paths(), {}, events));
      planned.insert(planned.end(), std::make_move_iterator(small.begin()),
                     std::make_move_iterator(small.end()));
    }
  }
  add_models(*space, planned);
  OPLAT_TRY(table,
            table::Table::open(request.table,
                               request.table_must_exist ? table::Mode::Write : table::Mode::Create,
                               compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, std::span(planned).first(of_request)));
  for (const PlannedModel& model : std::span(planned).subspan(of_request)) {
    if (model.has_kernels) OPLAT_CHECK(table.put_plan(model.plan));
  }
  SpaceProfile profile(request, session, *space, planned, table, events);
  events.note(fmt::format(
      "space {}: {} kernels of {} networks; with other sizes and forms {} to choose from",
      base::printable(space->name, 400), profile.report().kernels, profile.report().networks,
      profile.report().candidates));
  OPLAT_TRY(summary, profile.run());
  OPLAT_CHECK(forget_earlier_plans(table, planned));
  warn_of_small_budget(request, profile.report(), summary, events);
  ProfileResult result{request.table, std::move(summary)};
  std::vector<std::string> paths;
  for (const PlannedModel& model : planned) paths.push_back(model.path);
  OPLAT_TRY(measured, measurement_of(table, paths, planned, {}, session, result.summary));
  result.measured = std::move(measured);
  // Without a row there is nothing to fit.
  if (result.summary.interrupted || profile.report().measured == 0) {
    result.space = profile.report();
    return result;
  }
  update_composition(session, table, events);
  OPLAT_CHECK(warn_of_rows_too_fast(table, rows_of(session), request.table, events));
  OPLAT_CHECK(learn_kernels(request, session, table, events));
  OPLAT_CHECK(profile.finish());
  result.summary.interrupted = events.cancelled();
  result.space = profile.report();
  return result;
}

}  // namespace oplat::app
