// SPDX-License-Identifier: Apache-2.0
/// One writer at a time; the dead and the silent are succeeded, the living are not.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using LeaseTest = TableTest;

/// The pid of a process that has ended and was waited for.
pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return child;
}

TEST_F(LeaseTest, ASecondWriterIsRefusedAndToldWhoHoldsTheTable) {
  const Table first = must_open(file(), Mode::Create);
  const auto second = Table::open(file(), Mode::Write);
  expect_error(second, Code::Refused,
               fmt::format("process {} has been writing to it since 20", getpid()));
  EXPECT_NE(second.error().message.find("wait until it has finished, or stop it"),
            std::string::npos);
  expect_error(Table::open(file(), Mode::Create), Code::Refused, "locked");
}

TEST_F(LeaseTest, IsReleasedOnClosingAndOnMoving) {
  {
    Table first = must_open(file(), Mode::Create);
    EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM lease"), "1");
    first = must_open(file("other.oplat"), Mode::Create);
    EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM lease"), "0");
    Table again = must_open(file(), Mode::Write);
  }
  EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM lease"), "0");
}

TEST_F(LeaseTest, NeverBlocksReaders) {
  fill();
  const Table writer = must_open(file(), Mode::Write);
  const Table reader = must_open(file(), Mode::Read);
  const Table another = must_open(file(), Mode::Read);
  must(read_everything(reader));
  must(read_everything(another));
}

TEST_F(LeaseTest, ADeadProcessOfThisHostIsSucceededAtOnce) {
  fill();
  ProcessIdentity dead = this_process();
  dead.pid = ended_process();
  plant_lease(file(), dead, now_ms());
  Table table = must_open(file(), Mode::Write);
  must(table.put_device(sample_device()));
}

TEST_F(LeaseTest, AProcessThatEndedButWasNotWaitedForIsDead) {
  fill();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ProcessIdentity zombie = this_process();
  zombie.pid = child;
  zombie.start.reset();
  plant_lease(file(), zombie, now_ms());
  must_open(file(), Mode::Write);
  waitpid(child, nullptr, 0);
}

TEST_F(LeaseTest, ALaterProcessWithTheSamePidIsNotTheWriter) {
  fill();
  ProcessIdentity earlier = this_process();
  if (!earlier.start) GTEST_SKIP() << "no /proc here";
  earlier.start = *earlier.start - 1;
  plant_lease(file(), earlier, now_ms());
  must_open(file(), Mode::Write);
}

TEST_F(LeaseTest, ALivingProcessOfThisHostKeepsItHoweverLongItIsSilent) {
  fill();
  const ProcessIdentity self = this_process();
  if (!self.start) GTEST_SKIP() << "no /proc here";
  plant_lease(file(), self, now_ms() - 3'600'000);
  expect_error(Table::open(file(), Mode::Write), Code::Refused, "since 2025-01-02T03:04:05Z");
}

TEST_F(LeaseTest, AnotherHostIsJudgedByItsHeartbeat) {
  fill();
  const ProcessIdentity elsewhere{1234, 99, "another host"};
  plant_lease(file(), elsewhere, now_ms() - 5'000);
  expect_error(Table::open(file(), Mode::Write), Code::Refused, "process 1234 of another host");
  plant_lease(file(), elsewhere, now_ms() + 30'000);
  expect_error(Table::open(file(), Mode::Write), Code::Refused, "another host");
  plant_lease(file(), elsewhere, now_ms() - 61'000);
  must_open(file(), Mode::Write);
  plant_lease(file(), elsewhere, now_ms() + 3'600'000);
  must_open(file(), Mode::Write);
  plant_lease(file(), elsewhere, std::numeric_limits<std::int64_t>::min());
  must_open(file(), Mode::Write);
}

TEST_F(LeaseTest, AWriterThatLostTheTableWritesNoMore) {
  Table table = must_open(file(), Mode::Create);
  must(table.put_device(sample_device()));
  plant_lease(file(), {4321, 1, "another host"}, now_ms());
  Device other = sample_device();
  other.name = "other";
  expect_error(table.put_device(other), Code::Refused,
               "another writer (process 4321) took over the table");
  expect_error(table.keep_lease(), Code::Refused, "took over the table");
  EXPECT_EQ(must(table.devices()).size(), 1U);
  table = must_open(file("elsewhere.oplat"), Mode::Create);
  EXPECT_EQ(raw_value(file(), "SELECT token FROM lease"), "foreign")
      << "only one's own lease may be released";
}

TEST_F(LeaseTest, AFileLockedByAnotherProgramIsRefusedAfterAWhile) {
  fill();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  expect_error(Table::open(file(), Mode::Write), Code::Refused, "locked by another process");
  sqlite3_close(other);
}

TEST_F(LeaseTest, AForkedChildThatExitsLeavesTheParentsLease) {
  Table table = must_open(file(), Mode::Create);
  const pid_t child = fork();
  if (child == 0) {
    { const Table inherited = std::move(table); }
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM lease"), "1");
  must(table.put_device(sample_device()));
}

}  // namespace
}  // namespace oplat::table
