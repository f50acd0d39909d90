// SPDX-License-Identifier: Apache-2.0
/// A writer that is killed at any moment loses nothing that it said was kept.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using KillTest = TableTest;

/// Adds blocks of rising pass for ever and says each number on the pipe once it is kept.
[[noreturn]] void write_blocks(const std::filesystem::path& file, std::int64_t first, int pipe) {
  auto table = Table::open(file, Mode::Write);
  if (!table) _exit(3);
  for (std::int64_t pass = first;; ++pass) {
    const auto put =
        table->put_row(1, 1, std::nullopt, sample_row(fmt::format("Op{}{{}}()->()", pass % 50), 5));
    if (!put || !table->add_block(1, {pass, 0, 5, {}, {}, 1, 0, 0})) _exit(4);
    if (write(pipe, &pass, sizeof pass) != sizeof pass) _exit(5);
  }
}

/// Runs a writer and kills it after `delay_us`, counted from its first block; the last pass that it
/// acknowledged.
std::int64_t run_and_kill(const std::filesystem::path& file, std::int64_t first, int delay_us) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_blocks(file, first, ends[1]);
  }
  close(ends[1]);
  std::int64_t last = first - 1;
  std::int64_t pass = 0;
  EXPECT_EQ(read(ends[0], &pass, sizeof pass), static_cast<ssize_t>(sizeof pass))
      << "the writer did not start";
  last = pass;
  usleep(static_cast<useconds_t>(delay_us));
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
  while (read(ends[0], &pass, sizeof pass) == static_cast<ssize_t>(sizeof pass)) last = pass;
  close(ends[0]);
  return last;
}

TEST_F(KillTest, EveryAcknowledgedBlockIsThere) {
  {
    Table table = must_open(file(), Mode::Create);
    must(table.put_device(sample_device()));
    must(table.put_setting(sample_setting()));
    must(table.put_row(1, 1, std::nullopt, sample_row(kRelu, 5)));
  }
  std::mt19937 random(4711);
  std::int64_t next = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t acknowledged =
        run_and_kill(file(), next, static_cast<int>(random() % 60'000));
    const Table table = must_open(file(), Mode::Read);
    EXPECT_TRUE(must(table.integrity()).empty());
    const auto blocks = must(table.blocks_of(1));
    // At most one more than was acknowledged: killed between the commit and the word.
    ASSERT_GE(static_cast<std::int64_t>(blocks.size()), acknowledged + 1);
    ASSERT_LE(static_cast<std::int64_t>(blocks.size()), acknowledged + 2);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(blocks[i].pass, static_cast<std::int64_t>(i));
    next = static_cast<std::int64_t>(blocks.size());
  }
  must_open(file(), Mode::Write);
}

}  // namespace
}  // namespace oplat::table
