// SPDX-License-Identifier: Apache-2.0
/// From models and keys to a campaign.
#include "app/profile.hpp"

#include <cstdint>
#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"

namespace oplat::app {
namespace {

constexpr std::uint64_t kMaxKeysFileBytes = std::uint64_t{1} << 30;

void keep_first_of_equals(std::vector<std::string>& keys) {
  std::unordered_set<std::string> seen;
  std::erase_if(keys, [&](const std::string& key) { return !seen.insert(key).second; });
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

Result<ProfileResult> profile(const ProfileRequest& request, Events& events) {
  if (request.models.empty() && request.keys_file.empty())
    return fail(Code::Usage, "nothing to profile; give --model FILE or --keys FILE");
  OPLAT_CHECK(check_runtime(request.runtime));
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
  return ProfileResult{request.table, std::move(summary)};
}

}  // namespace oplat::app
