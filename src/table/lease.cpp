// SPDX-License-Identifier: Apache-2.0
/// Taking, keeping and releasing the writer's lease.
#include "table/lease.hpp"

#include <fmt/chrono.h>

#include <optional>
#include <random>

#include "table/cells.hpp"
#include "table/process.hpp"

namespace oplat::table {
namespace {

struct Holder {
  std::string token;
  ProcessIdentity process;
  std::int64_t since_ms = 0;
  std::int64_t heartbeat_ms = 0;
};

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

/// Years 1970 to 9999: what an untrusted file says beyond that is not a time.
bool is_time(std::int64_t ms) { return ms >= 0 && ms <= std::int64_t{253'402'300'799'000}; }

std::string utc(std::int64_t ms) {
  if (!is_time(ms)) return "an unknown time";
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

/// Unlike the seeds of campaigns this must differ from run to run: it tells two writers apart.
std::string random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

Result<std::optional<Holder>> holder_of(Database& database) {
  OPLAT_TRY(statement,
            database.prepare(
                "SELECT id, token, pid, process_start, host, since_ms, heartbeat_ms FROM lease"));
  OPLAT_TRY(row, statement.step());
  if (!row) return std::nullopt;
  Cells cells(statement, "lease");
  Holder holder;
  holder.token = cells.text(1);
  holder.process.pid = cells.integer(2);
  holder.process.start = cells.optional_integer(3);
  holder.process.host = cells.text(4);
  holder.since_ms = cells.integer(5);
  holder.heartbeat_ms = cells.integer(6);
  OPLAT_CHECK(cells.status());
  return std::optional(std::move(holder));
}

Status refuse_if_alive(Database& database, const Holder& holder) {
  const auto alive = is_alive(holder.process);
  if (alive && !*alive) return {};
  // A heartbeat from the future is a clock that was set back, unless it is only two hosts' clocks
  // apart.
  constexpr std::int64_t kLife = std::chrono::milliseconds(Lease::kLifetime).count();
  const std::int64_t age = is_time(holder.heartbeat_ms) ? now_ms() - holder.heartbeat_ms : kLife;
  const bool young = age < kLife && age > -kLife;
  const std::string since = utc(holder.since_ms);
  if (alive && (young || holder.process.start)) {
    return fail(Code::Refused,
                "{}: is locked: process {} has been writing to it since {}; wait until it has "
                "finished, or stop it (kill {})",
                database.shown(), holder.process.pid, since, holder.process.pid);
  }
  if (!alive && young) {
    return fail(Code::Refused,
                "{}: is locked: process {} of another host has been writing to it since {}; its "
                "last heartbeat was {} s ago; if it is gone, try again {} s after that",
                database.shown(), holder.process.pid, since, age < 0 ? 0 : age / 1000,
                Lease::kLifetime.count());
  }
  return {};
}

Status write_holder(Database& database, const Holder& holder) {
  OPLAT_TRY(statement,
            database.prepare(
                "INSERT OR REPLACE INTO lease(id, token, pid, process_start, host, since_ms, "
                "heartbeat_ms) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)"));
  statement.add(std::string_view(holder.token)).add(holder.process.pid).add(holder.process.start);
  statement.add(std::string_view(holder.process.host))
      .add(holder.since_ms)
      .add(holder.heartbeat_ms);
  return statement.run();
}

Result<std::string> take_inside(Database& database) {
  OPLAT_CHECK(Lease::check_free(database));
  const std::int64_t now = now_ms();
  const Holder own{random_token(), this_process(), now, now};
  OPLAT_CHECK(write_holder(database, own));
  return own.token;
}

}  // namespace

Result<Lease> Lease::take(Database& database) {
  OPLAT_CHECK(database.execute("BEGIN IMMEDIATE"));
  auto token = take_inside(database);
  Status end = token ? database.execute("COMMIT") : Status{};
  if (database.in_transaction()) static_cast<void>(database.execute("ROLLBACK"));
  if (!token) return fail(std::move(token).error());
  OPLAT_CHECK(std::move(end));
  return Lease(*std::move(token));
}

Status Lease::check_free(Database& database) {
  OPLAT_TRY(holder, holder_of(database));
  return holder ? refuse_if_alive(database, *holder) : Status{};
}

Status Lease::keep(Database& database) {
  OPLAT_TRY(holder, holder_of(database));
  if (!holder || holder->token != token_) {
    return fail(Code::Refused,
                "{}: another writer{} took over the table; run this again when it has finished",
                database.shown(),
                holder ? fmt::format(" (process {})", holder->process.pid) : std::string());
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - beat_ < kRefresh) return {};
  OPLAT_TRY(statement, database.prepare("UPDATE lease SET heartbeat_ms = ?1 WHERE id = 1"));
  OPLAT_CHECK(statement.add(now_ms()).run());
  beat_ = now;
  return {};
}

void Lease::release(Database& database) {
  auto statement = database.prepare("DELETE FROM lease WHERE token = ?1");
  if (statement) static_cast<void>(statement->add(std::string_view(token_)).run());
}

}  // namespace oplat::table
