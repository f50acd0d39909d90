// SPDX-License-Identifier: Apache-2.0
/// Files that were cut, overwritten or left in the middle of a commit.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

class DamageTest : public TableTest {
 protected:
  /// A table of several hundred pages.
  void fill_much() const {
    fill();
    Table table = must_open(file(), Mode::Write);
    must(table.transaction([&]() -> Status {
      for (int i = 0; i < 2000; ++i) {
        OPLAT_TRY(
            row,
            table.put_row(
                1, 1, 1,
                sample_row(fmt::format("Op{}{{pad=\"{}\"}}()->()", i, std::string(99, 'x')), 7)));
        OPLAT_CHECK(table.add_block(row, {0, 0, 7, {}, {}, 3, 0, 0}));
      }
      return {};
    }));
  }
};

TEST_F(DamageTest, CutOffAnywhere) {
  fill_much();
  const std::string whole = read_bytes(file());
  std::vector<std::size_t> lengths = {1,   15,  16,   17,   99,   100, 101,
                                      511, 512, 4095, 4096, 4097, 8192};
  for (std::size_t i = 1; i < 20; ++i) lengths.push_back(whole.size() * i / 20);
  lengths.insert(lengths.end(), {whole.size() - 4096, whole.size() - 4095, whole.size() - 1});
  for (const std::size_t length : lengths) {
    SCOPED_TRACE(length);
    write_bytes(file(), whole.substr(0, length));
    for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
      const auto table = Table::open(file(), mode);
      ASSERT_FALSE(table);
      EXPECT_EQ(static_cast<int>(table.error().code), static_cast<int>(Code::Input))
          << table.error().message;
    }
    EXPECT_EQ(std::filesystem::file_size(file()), length);
  }
}

TEST_F(DamageTest, OverwrittenBytesNeverCrash) {
  fill();
  const std::string whole = read_bytes(file());
  std::mt19937 random(20250102);
  int refused = 0;
  for (int round = 0; round < 250; ++round) {
    std::string bytes = whole;
    const auto changes = 1 + random() % 8;
    for (std::uint32_t i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    write_bytes(file(), bytes);
    const auto table = Table::open(file(), Mode::Read);
    const Status read = table ? read_everything(*table) : Status(fail(table.error()));
    if (!read) {
      ++refused;
      EXPECT_NE(static_cast<int>(read.error().code), static_cast<int>(Code::Internal))
          << read.error().message;
    }
    if (table) static_cast<void>(table->integrity());
  }
  EXPECT_GT(refused, 0);
}

TEST_F(DamageTest, OverwrittenPageHeadersNeverCrashAWriter) {
  fill();
  const std::string whole = read_bytes(file());
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = whole;
    const std::size_t page = 1 + random() % (bytes.size() / 4096 - 1);
    for (int i = 0; i < 3; ++i) bytes[page * 4096 + random() % 24] = static_cast<char>(random());
    write_bytes(file(), bytes);
    auto table = Table::open(file(), Mode::Write);
    if (!table) continue;
    static_cast<void>(table->put_row(1, 1, std::nullopt, sample_row("New{}()->()", 1)));
    static_cast<void>(table->put_plan({"m", "plan-1", "runtime", 1, 0, 0, {{"a", kRelu, 1}}}));
    static_cast<void>(table->add_block(1, {0, 0, 7, {}, {}, 3, 0, 0}));
    static_cast<void>(read_everything(*table));
  }
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

// The format of interior pages: fileformat2.html section 1.6.
TEST_F(DamageTest, PagesThatNameOnePageAgainAndAgainAreRefused) {
  fill_much();
  const auto root = static_cast<std::size_t>(
      std::stoul(raw_value(file(), "SELECT rootpage FROM sqlite_master WHERE name = 'row'")));
  std::string bytes = read_bytes(file());
  const std::size_t page = (root - 1) * 4096;
  ASSERT_EQ(bytes[page], 5) << "an interior page of a table";
  const std::uint32_t cells = big_endian(bytes, page + 3, 2);
  ASSERT_GT(cells, 2U);
  const std::string first = bytes.substr(page + big_endian(bytes, page + 12, 2), 4);
  for (std::uint32_t i = 0; i < cells; ++i)
    bytes.replace(page + big_endian(bytes, page + 12 + 2 * i, 2), 4, first);
  bytes.replace(page + 8, 4, first);
  write_bytes(file(), bytes);
  expect_error(read_everything(must_open(file(), Mode::Read)), Code::Input, "corrupt table");
  EXPECT_FALSE(must(must_open(file(), Mode::Read).integrity()).empty());
}

/// Leaves the file as a writer that was killed inside a commit leaves it: changed pages, and a
/// journal to undo them.
void kill_inside_commit(const std::filesystem::path& file) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sqlite3* handle = nullptr;
    sqlite3_open(file.c_str(), &handle);
    // A cache of one page makes SQLite write changed pages before the commit.
    sqlite3_exec(
        handle,
        "PRAGMA cache_size = 1; PRAGMA synchronous = FULL; BEGIN; UPDATE row SET median_ns = 1; "
        "UPDATE block SET value_ns = 1; UPDATE kernel SET key = key || 'x'",
        nullptr, nullptr, nullptr);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_GT(std::filesystem::file_size(file.string() + "-journal"), 512U);
}

TEST_F(DamageTest, AReaderSeesTheStateBeforeAKilledCommitWithoutWriting) {
  fill_much();
  kill_inside_commit(file());
  const std::string half_written = read_bytes(file());
  const std::string journal = read_bytes(file().string() + "-journal");
  {
    const Table table = must_open(file(), Mode::Read);
    EXPECT_EQ(table.path(), file());
    must(read_everything(table));
    EXPECT_EQ(std::get<Timing>(must(table.rows_of(kRelu, 1, 1)).at(0).row.outcome).median_ns, 1500);
    EXPECT_EQ(must(table.counts()).rows(), 2002);
    EXPECT_TRUE(must(table.integrity()).empty());
  }
  EXPECT_EQ(read_bytes(file()), half_written) << "a reader changes nothing";
  EXPECT_EQ(read_bytes(file().string() + "-journal"), journal);
  {
    Table table = must_open(file(), Mode::Write);
    must(read_everything(table));
    EXPECT_TRUE(must(table.integrity()).empty());
  }
  EXPECT_FALSE(std::filesystem::exists(file().string() + "-journal"));
}

TEST_F(DamageTest, AJournalThatNamesOtherFilesIsNotPlayedBack) {
  fill_much();
  kill_inside_commit(file());
  // fileformat2.html section 3: after the records, the name of the super-journal, its length, its
  // sum, the magic.
  const std::string victim = file("victim").string();
  write_bytes(victim, "precious");
  std::string tail("\x40\x00\x00\x00", 4);
  std::uint32_t sum = 0;
  for (const char c : victim) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
  const auto append = [&](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) tail += static_cast<char>(value >> shift & 0xff);
  };
  tail += victim;
  append(static_cast<std::uint32_t>(victim.size()));
  append(sum);
  tail += "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const std::string journal = file().string() + "-journal";
  write_bytes(journal, read_bytes(journal) + tail);
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Input, "names further files");
  }
  EXPECT_EQ(read_bytes(victim), "precious");
}

TEST_F(DamageTest, AnEmptyJournalIsNoMatter) {
  fill();
  write_bytes(file().string() + "-journal", "");
  must(read_everything(must_open(file(), Mode::Read)));
  must(read_everything(must_open(file(), Mode::Write)));
}

}  // namespace
}  // namespace oplat::table
