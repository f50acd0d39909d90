// SPDX-License-Identifier: Apache-2.0
#include "runtimes/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "table/table.hpp"

namespace oplat::runtimes {
namespace {

using measure::Handle;
using measure::OpenOutcome;
using measure::OpenRequest;
using measure::Topology;

/// What the arguments ask for.
struct Choice {
  std::string table;
  std::optional<std::string> device, runtime, version;
};

Result<Choice> parse_arguments(const std::vector<std::string>& arguments) {
  Choice choice;
  if (arguments.empty()) return fail(Code::Usage, "worker replay needs the path of a table");
  choice.table = arguments.front();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    auto* to = name == "device"    ? &choice.device
               : name == "runtime" ? &choice.runtime
               : name == "version" ? &choice.version
                                   : nullptr;
    if (equals == std::string::npos || to == nullptr) {
      return fail(Code::Usage,
                  "worker replay: \"{}\" is none of device=NAME, runtime=NAME, version=VERSION",
                  base::printable(arguments[i]));
    }
    *to = arguments[i].substr(equals + 1);
  }
  return choice;
}

/// A recorded time that is called again and again.
struct Recording {
  double ns = 0;  ///< of one call without noise
  double sd_log = 0;
  base::Random noise;
};

/// The outcome of a row without a time, as an answer to open.
OpenOutcome refusal_of(const table::Outcome& outcome) {
  if (const auto* unsupported = std::get_if<table::Unsupported>(&outcome)) return *unsupported;
  if (const auto* skipped = std::get_if<table::Skipped>(&outcome)) return *skipped;
  if (const auto* failed = std::get_if<table::Failed>(&outcome)) return *failed;
  return table::Failed{"a row with a time was taken for one without"};
}

/// The row measured in the state asked for: cold is the one with the most bytes between two uses of
/// a weight, hot the one with the fewest. Rows without a state answer where no other does.
const table::StoredRow* choose_row(const std::vector<table::StoredRow>& rows, bool cold) {
  const table::StoredRow* best = nullptr;
  for (const auto& row : rows) {
    if (!std::holds_alternative<table::Timing>(row.row.outcome)) continue;
    if (best == nullptr) {
      best = &row;
      continue;
    }
    const auto& reuse = row.row.reuse_bytes;
    const auto& so_far = best->row.reuse_bytes;
    if (!reuse) continue;
    if (!so_far || (cold ? *reuse > *so_far : *reuse < *so_far)) best = &row;
  }
  return best;
}

/// Whether both execute the same. Plans of earlier versions say less of a kernel, and nothing else
/// that differs changes what is executed.
bool same_kernels(const table::Plan& a, const table::Plan& b) {
  return std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(),
                    [](const table::PlanKernel& one, const table::PlanKernel& other) {
                      return one.name == other.name && one.key == other.key &&
                             one.count == other.count;
                    });
}

class ReplayWorker final : public Worker {
 public:
  ReplayWorker(table::Table table, table::Device device, table::DeviceId device_id,
               std::vector<std::pair<table::SettingId, table::Setting>> settings)
      : table_(std::move(table)),
        device_(std::move(device)),
        device_id_(device_id),
        settings_(std::move(settings)) {}

  Result<Hello> hello() override {
    const table::Setting& main = settings_.front().second;
    Hello hello;
    hello.runtime = main.runtime;
    hello.worker = "replay";
    hello.version = main.version;
    hello.build = main.build;
    hello.device = device_;
    hello.max_threads = 1;
    hello.rewrites_batch = true;  // plans of the table were compared when they were made
    std::set<std::string> precisions;
    std::map<std::string, std::set<std::string>> values;
    for (const auto& [id, setting] : settings_) {
      hello.max_threads = std::max(hello.max_threads, setting.threads);
      precisions.insert(setting.precision);
      for (const auto& [name, value] : setting.options) values[name].insert(value);
    }
    hello.precisions = {main.precision};
    for (const auto& precision : precisions) {
      if (precision != main.precision) hello.precisions.push_back(precision);
    }
    for (const auto& [name, value] : main.options) {
      hello.options[name] = SettingOption{{values[name].begin(), values[name].end()}, value};
    }
    return hello;
  }

  Result<table::Plan> plan(const PlanRequest& request) override {
    OPLAT_TRY(plans, table_.plans());
    const std::string name = std::filesystem::path(request.model).filename().string();
    const table::Plan* found = nullptr;
    for (const auto& plan : plans) {
      if (plan.model != name || (request.batch && plan.batch != *request.batch)) continue;
      if (found != nullptr && (found->batch != plan.batch || !same_kernels(*found, plan))) {
        return fail(
            Code::Usage,
            "{}: the table holds several plans of this model that differ; give --batch, or a table "
            "of one setting",
            name);
      }
      if (found == nullptr || (!plan::says_inputs(*found) && plan::says_inputs(plan)))
        found = &plan;
    }
    if (found == nullptr) {
      return fail(Code::Input, "{}: the table holds no plan of it{}", name,
                  request.batch ? fmt::format(" at batch {}", *request.batch) : "");
    }
    return *found;
  }

  Result<OpenOutcome> open(const OpenRequest& request) override {
    const auto setting = std::find_if(settings_.begin(), settings_.end(), [&](const auto& entry) {
      return entry.second == request.setting;
    });
    if (setting == settings_.end()) {
      return table::Unsupported{"the table holds nothing of this device under " +
                                table::describe(request.setting)};
    }
    if (request.key.empty()) return open_model(request, setting->first);
    return open_key(request, setting->first);
  }

  Result<double> run(Handle handle) override {
    const auto found = open_.find(handle);
    if (found == open_.end()) return fail(Code::Usage, "unknown handle {}", handle);
    Recording& recording = found->second;
    return recording.ns * std::exp(recording.sd_log * recording.noise.normal());
  }

  Status close(Handle handle) override {
    if (open_.erase(handle) == 0) return fail(Code::Usage, "unknown handle {}", handle);
    return {};
  }

  [[nodiscard]] bool virtual_time() const override { return true; }

 private:
  Result<OpenOutcome> open_key(const OpenRequest& request, table::SettingId setting) {
    OPLAT_TRY(rows, table_.rows_of(request.key, device_id_, setting));
    const auto* row = choose_row(rows, request.distinct_weights);
    if (row == nullptr) {
      if (rows.empty()) return table::Unsupported{"the table holds no row of this key"};
      return refusal_of(rows.front().row.outcome);
    }
    OPLAT_TRY(call_ns, empty_call_ns(row->campaign));
    const auto& timing = std::get<table::Timing>(row->row.outcome);
    const auto& recorded = row->row.method.topology;
    const bool many = request.copies > 1;
    // The recorded time holds for the topology it was measured in, whatever is asked for now.
    std::string topology = !many                                      ? "single"
                           : recorded == "fan" || recorded == "chain" ? recorded
                                                                      : "fan";
    // A single copy does not say whether its weights will be cold and is priced hot; so is the
    // first of many, or the slope over them would not be the recorded time.
    const auto* first = many ? choose_row(rows, false) : row;
    const double ns = call_ns + std::get<table::Timing>(first->row.outcome).median_ns +
                      static_cast<double>(request.copies - 1) * timing.median_ns;
    return keep(request, ns, timing.sd_log, std::move(topology));
  }

  Result<OpenOutcome> open_model(const OpenRequest& request, table::SettingId setting) {
    if (request.copies != 1) return fail(Code::Usage, "{} copies of a whole model", request.copies);
    const std::string name = std::filesystem::path(request.model).filename().string();
    OPLAT_TRY(rows, table_.model_rows());
    const table::StoredModelRow* found = nullptr;
    bool found_plan = false;
    for (const auto& row : rows) {
      const bool fits = row.device == device_id_ && row.setting == setting &&
                        row.row.name == name && (!request.batch || row.row.batch == *request.batch);
      if (!fits) continue;
      // A row whose plan was replaced is of an earlier format.
      OPLAT_TRY(plan, table_.find_plan(row.row.plan_identity));
      if (found != nullptr && found_plan && !plan) continue;
      if (found != nullptr && found_plan == plan.has_value())
        return table::Unsupported{"the table holds several models named " + name};
      found = &row;
      found_plan = plan.has_value();
    }
    if (found == nullptr) return table::Unsupported{"the table holds no model named " + name};
    const auto* timing = std::get_if<table::Timing>(&found->row.outcome);
    if (timing == nullptr) return refusal_of(found->row.outcome);
    return keep(request, timing->median_ns, timing->sd_log, "single");
  }

  OpenOutcome keep(const OpenRequest& request, double ns, double sd_log, std::string topology) {
    const std::uint64_t seed = base::hash64(request.key + request.model, request.seed) +
                               static_cast<std::uint64_t>(request.copies);
    const Handle handle = next_++;
    open_.emplace(handle, Recording{ns, sd_log, base::Random(seed)});
    return measure::Opened{handle, 0, std::move(topology)};
  }

  /// What a call cost besides the kernels, as the campaign of the row measured it; 0 where none
  /// did: a slope over copies, which is what rows are made of, does not see it.
  Result<double> empty_call_ns(std::optional<table::CampaignId> id) {
    if (!campaigns_) {
      OPLAT_TRY(stored, table_.campaigns());
      campaigns_.emplace();
      for (const auto& campaign : stored)
        campaigns_->emplace(campaign.id, campaign.campaign.empty_call_ns.value_or(0));
    }
    const auto found = id ? campaigns_->find(*id) : campaigns_->end();
    return found == campaigns_->end() ? 0.0 : found->second;
  }

  table::Table table_;
  table::Device device_;
  table::DeviceId device_id_;
  std::vector<std::pair<table::SettingId, table::Setting>> settings_;  // the main one first
  std::optional<std::map<table::CampaignId, double>> campaigns_;
  std::map<Handle, Recording> open_;
  Handle next_ = 1;
};

}  // namespace

Result<std::unique_ptr<Worker>> create_replay(const std::vector<std::string>& arguments) {
  OPLAT_TRY(choice, parse_arguments(arguments));
  OPLAT_TRY(table, table::Table::open(choice.table, table::Mode::Read));
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(contexts, table.contexts());
  std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  const table::Context* main = nullptr;
  for (const auto& context : contexts) {
    const auto device = device_of.find(context.device);
    const auto setting = setting_of.find(context.setting);
    if (device == device_of.end() || setting == setting_of.end()) continue;
    const bool fits = (!choice.device || device->second.name == *choice.device) &&
                      (!choice.runtime || setting->second.runtime == *choice.runtime) &&
                      (!choice.version || setting->second.version == *choice.version);
    if (fits && (main == nullptr || context.timings > main->timings)) main = &context;
  }
  if (main == nullptr)
    return fail(Code::Input, "{}: holds no rows to replay under the device and runtime asked for",
                choice.table);
  const table::Setting& first = setting_of.at(main->setting);
  std::vector<std::pair<table::SettingId, table::Setting>> answered{{main->setting, first}};
  for (const auto& context : contexts) {
    const auto setting = setting_of.find(context.setting);
    const bool beside = context.device == main->device && context.setting != main->setting &&
                        setting != setting_of.end() && setting->second.runtime == first.runtime &&
                        setting->second.version == first.version;
    if (beside) answered.emplace_back(context.setting, setting->second);
  }
  return std::make_unique<ReplayWorker>(std::move(table), device_of.at(main->device), main->device,
                                        std::move(answered));
}

}  // namespace oplat::runtimes
