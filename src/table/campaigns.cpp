// SPDX-License-Identifier: Apache-2.0
/// Campaigns and the environments in which they ran.
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/json_text.hpp"
#include "table/limits.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

Status validate_campaign(const Campaign& campaign) {
  OPLAT_CHECK(validate_text("commit", campaign.commit));
  OPLAT_CHECK(validate_number("reference_compute_ns", campaign.reference_compute_ns));
  OPLAT_CHECK(validate_number("reference_memory_ns", campaign.reference_memory_ns));
  return validate_number("empty_call_ns", campaign.empty_call_ns);
}

/// A command that lists thousands of files may be longer than a text may be: its beginning.
std::string recorded_argv(const Campaign& campaign) {
  const std::string& argv = campaign.argv;
  if (argv.size() <= kMaxText) return argv;
  constexpr std::string_view kCut = " ...";
  std::size_t end = kMaxText - kCut.size();
  const auto continues = [&] { return (static_cast<unsigned char>(argv[end]) & 0xC0U) == 0x80U; };
  while (end > 0 && continues()) --end;  // a character of UTF-8 stays whole
  return argv.substr(0, end).append(kCut);
}

std::uint64_t read_seed(Cells& cells, int column) {
  const std::string text = cells.text(column);
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (code != std::errc() || end != text.data() + text.size())
    cells.bad(column, "text that is not a decimal number");
  return seed;
}

StoredCampaign read_campaign(Cells& cells) {
  StoredCampaign stored;
  stored.id = cells.id();
  stored.device = cells.integer(1);
  stored.setting = cells.integer(2);
  stored.campaign.argv = cells.text(3);
  stored.campaign.commit = cells.text(4);
  stored.campaign.seed = read_seed(cells, 5);
  stored.campaign.reference_compute_ns = cells.optional_number(6);
  stored.campaign.reference_memory_ns = cells.optional_number(7);
  stored.campaign.empty_call_ns = cells.optional_number(8);
  stored.environment.kernel = cells.text(9);
  stored.environment.hostname_hash = cells.text(10);
  stored.environment.started_at = cells.text(11);
  stored.environment.load_average = cells.number(12);
  if (auto facts = parse_json_object(cells.text(13))) {
    stored.environment.facts = *std::move(facts);
  } else {
    cells.bad(13, "text that is not a JSON object of strings");
  }
  return stored;
}

/// In memory. Campaigns share environments in the file.
std::size_t environment_bytes(const Environment& environment) {
  constexpr std::size_t kBytesOfFact = 128;
  std::size_t bytes = environment.kernel.size() + environment.hostname_hash.size();
  for (const auto& [name, value] : environment.facts)
    bytes += name.size() + value.size() + kBytesOfFact;
  return bytes;
}

Result<std::int64_t> add_environment(Database& database, const Environment& environment) {
  OPLAT_CHECK(validate_text("kernel", environment.kernel));
  OPLAT_CHECK(validate_text("hostname_hash", environment.hostname_hash));
  OPLAT_CHECK(validate_text("started_at", environment.started_at));
  OPLAT_CHECK(validate_number("load_average", environment.load_average));
  OPLAT_TRY(facts, json_object(environment.facts));
  OPLAT_CHECK(validate_text("facts", facts));
  OPLAT_TRY(statement,
            database.prepare(
                "INSERT INTO environment(kernel, hostname_hash, started_at, load_average, facts) "
                "VALUES (?1, ?2, ?3, ?4, ?5)"));
  statement.add(environment.kernel).add(environment.hostname_hash).add(environment.started_at);
  OPLAT_CHECK(statement.add(environment.load_average).add(facts).run());
  return sqlite3_last_insert_rowid(database.handle());
}

}  // namespace

Result<std::vector<StoredCampaign>> Table::campaigns() const {
  OPLAT_TRY(statement,
            impl_->database->prepare(
                "SELECT campaign.id, device, setting, argv, commit_id, seed, reference_compute_ns, "
                "reference_memory_ns, empty_call_ns, kernel, hostname_hash, started_at, "
                "load_average, facts "
                "FROM campaign LEFT JOIN environment ON environment.id = campaign.environment "
                "ORDER BY campaign.id"));
  std::vector<StoredCampaign> all;
  SharedBytes environments;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(row, statement.step());
    if (!row) return all;
    Cells cells(statement, "campaign");
    StoredCampaign stored = read_campaign(cells);
    OPLAT_CHECK(cells.status());
    if (!ascending.next(stored.id))
      return impl_->database->corrupt("campaign {} appears twice", stored.id);
    OPLAT_CHECK(environments.add(*impl_->database, environment_bytes(stored.environment)));
    all.push_back(std::move(stored));
  }
}

Result<CampaignId> Table::add_campaign(DeviceId device, SettingId setting, const Campaign& c,
                                       const Environment& e) {
  OPLAT_CHECK(validate_campaign(c));
  return impl_->write_for<CampaignId>([&]() -> Result<CampaignId> {
    OPLAT_TRY(environment, add_environment(*impl_->database, e));
    OPLAT_TRY(statement,
              impl_->database->prepare(
                  "INSERT INTO campaign(device, setting, environment, argv, commit_id, seed, "
                  "reference_compute_ns, reference_memory_ns, empty_call_ns) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
    const std::string seed = std::to_string(c.seed);
    const std::string argv = recorded_argv(c);
    statement.add(device).add(setting).add(environment).add(argv).add(c.commit).add(seed);
    statement.add(c.reference_compute_ns).add(c.reference_memory_ns).add(c.empty_call_ns);
    OPLAT_CHECK(statement.run());
    return sqlite3_last_insert_rowid(impl_->database->handle());
  });
}

Status Table::update_campaign(CampaignId id, const Campaign& c) {
  OPLAT_CHECK(validate_campaign(c));
  return impl_->write([&]() -> Status {
    OPLAT_TRY(
        statement,
        impl_->database->prepare(
            "UPDATE campaign SET argv = ?1, commit_id = ?2, seed = ?3, reference_compute_ns = ?4, "
            "reference_memory_ns = ?5, empty_call_ns = ?6 WHERE id = ?7"));
    const std::string seed = std::to_string(c.seed);
    const std::string argv = recorded_argv(c);
    statement.add(argv).add(c.commit).add(seed);
    statement.add(c.reference_compute_ns).add(c.reference_memory_ns).add(c.empty_call_ns).add(id);
    OPLAT_CHECK(statement.run());
    if (sqlite3_changes64(impl_->database->handle()) == 1) return {};
    return fail(Code::Internal, "{}: has no campaign {} to update", impl_->database->shown(), id);
  });
}

Status Table::add_campaign_facts(CampaignId id, const std::map<std::string, std::string>& facts) {
  return impl_->write([&]() -> Status {
    OPLAT_TRY(found,
              impl_->database->prepare("SELECT environment.id, facts FROM campaign "
                                       "JOIN environment ON environment.id = campaign.environment "
                                       "WHERE campaign.id = ?1"));
    OPLAT_TRY(any, found.add(id).step());
    if (!any)
      return fail(Code::Internal, "{}: has no campaign {} to add facts to",
                  impl_->database->shown(), id);
    Cells cells(found, "environment");
    const std::int64_t environment = cells.id();
    std::optional<TextMap> all = parse_json_object(cells.text(1));
    if (!all) cells.bad(1, "text that is not a JSON object of strings");
    OPLAT_CHECK(cells.status());
    for (const auto& [name, value] : facts) all->insert_or_assign(name, value);
    OPLAT_TRY(text, json_object(*all));
    OPLAT_CHECK(validate_text("facts", text));
    OPLAT_TRY(statement,
              impl_->database->prepare("UPDATE environment SET facts = ?1 WHERE id = ?2"));
    return statement.add(text).add(environment).run();
  });
}

}  // namespace oplat::table
