// SPDX-License-Identifier: Apache-2.0
/// Transactions are all or nothing, alone and nested; readers see what is committed.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

class TransactionTest : public TableTest {
 protected:
  void SetUp() override {
    table_ = must_open(file(), Mode::Create);
    must(table_->put_device(sample_device()));
    must(table_->put_setting(sample_setting()));
  }
  Status put(const std::string& key) {
    OPLAT_CHECK(table_->put_row(1, 1, std::nullopt, sample_row(key, 5)));
    return {};
  }
  std::size_t rows(const std::string& key) { return must(table_->rows_of(key, 1, 1)).size(); }

  std::optional<Table> table_;
};

TEST_F(TransactionTest, AnErrorUndoesEverything) {
  const Status status = table_->transaction([&]() -> Status {
    OPLAT_CHECK(put(kRelu));
    EXPECT_EQ(rows(kRelu), 1U) << "the writer sees its own rows";
    return fail(Code::Runtime, "worker gone");
  });
  expect_error(status, Code::Runtime, "worker gone");
  EXPECT_EQ(rows(kRelu), 0U);
  EXPECT_EQ(must(table_->counts()).kernels, 0);
  // The kernel's number that was remembered is of no use any more.
  must(put(kAdd));
  must(put(kRelu));
  EXPECT_EQ(rows(kRelu), 1U);
  EXPECT_EQ(rows(kAdd), 1U);
}

TEST_F(TransactionTest, AReaderThatStaysOnlyDelaysACommit) {
  must(put(kAdd));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT * FROM kernel", nullptr, nullptr, nullptr),
            SQLITE_OK);
  // Longer than a connection waits by itself.
  std::thread leaves([reader] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    sqlite3_close(reader);
  });
  const Status stored = put(kRelu);
  leaves.join();
  must(stored);
  EXPECT_EQ(rows(kRelu), 1U);
}

TEST_F(TransactionTest, SuccessKeepsEverything) {
  must(table_->transaction([&]() -> Status {
    OPLAT_CHECK(put(kRelu));
    return put(kAdd);
  }));
  table_.reset();
  table_ = must_open(file(), Mode::Read);
  EXPECT_EQ(rows(kRelu) + rows(kAdd), 2U);
}

TEST_F(TransactionTest, AnInnerErrorUndoesItsPartOnly) {
  must(table_->transaction([&]() -> Status {
    OPLAT_CHECK(put(kRelu));
    const Status inner = table_->transaction([&]() -> Status {
      OPLAT_CHECK(put(kAdd));
      return fail(Code::Runtime, "inner");
    });
    EXPECT_FALSE(inner);
    return put("C{}()->()");
  }));
  EXPECT_EQ(rows(kRelu), 1U);
  EXPECT_EQ(rows(kAdd), 0U);
  EXPECT_EQ(rows("C{}()->()"), 1U);
}

TEST_F(TransactionTest, AFailingCallInsideLeavesTheRest) {
  must(table_->transaction([&]() -> Status {
    OPLAT_CHECK(put(kRelu));
    EXPECT_FALSE(table_->put_row(99, 1, std::nullopt, sample_row(kAdd, 1)));
    return {};
  }));
  EXPECT_EQ(rows(kRelu), 1U);
  EXPECT_EQ(must(table_->counts()).kernels, 1) << "the kernel of the refused row must not stay";
}

TEST_F(TransactionTest, AnExceptionUndoesEverything) {
  EXPECT_THROW(static_cast<void>(table_->transaction([&]() -> Status {
                 EXPECT_TRUE(put(kRelu));
                 throw std::runtime_error("thrown by the caller");
               })),
               std::runtime_error);
  EXPECT_EQ(rows(kRelu), 0U);
  must(put(kRelu));
}

TEST_F(TransactionTest, AReaderSeesCommittedRowsWhileTheWriterIsOpen) {
  must(put(kRelu));
  const Table reader = must_open(file(), Mode::Read);
  EXPECT_EQ(must(reader.rows_of(kRelu, 1, 1)).size(), 1U);
  must(table_->transaction([&]() -> Status {
    OPLAT_CHECK(put(kAdd));
    EXPECT_EQ(must(reader.counts()).timings, 1) << "not committed yet";
    EXPECT_EQ(must(must_open(file(), Mode::Read).counts()).timings, 1);
    return {};
  }));
  EXPECT_EQ(must(reader.counts()).timings, 2);
}

TEST_F(TransactionTest, AReadingSeesOneState) {
  must(put(kRelu));
  const Table reader = must_open(file(), Mode::Read);
  std::thread writer;
  {
    const Table::Reading reading(reader);
    const Table::Reading inner(reader);  // the outer one stays
    EXPECT_EQ(must(reader.counts()).timings, 1);
    EXPECT_EQ(must(must_open(file(), Mode::Read).counts()).timings, 1) << "others read, too";
    writer = std::thread([&] { must(put(kAdd)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(must(reader.counts()).timings, 1) << "the writer waits";
  }
  writer.join();
  EXPECT_EQ(must(reader.counts()).timings, 2);
  const Table::Reading of_a_writer(*table_);
  must(put("C{}()->()"));
}

TEST_F(TransactionTest, AReaderCannotWrite) {
  Table reader = must_open(file(), Mode::Read);
  expect_error(reader.put_device(sample_device()), Code::Refused, "reading only");
  expect_error(reader.transaction([] { return Status{}; }), Code::Refused, "reading only");
}

/// Lets no file of this process grow past `bytes`, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uintmax_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    // The signal would end the process; ignored, the write fails.
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{static_cast<rlim_t>(bytes), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(TransactionTest, ADiskWithoutSpaceIsAWriteErrorAndKeepsWhatWasCommitted) {
  must(put(kRelu));
  Status status;
  {
    const FileSizeLimit limit(std::filesystem::file_size(file()) + 20'000);
    status = table_->transaction([&]() -> Status {
      for (int i = 0; i < 1000; ++i) {
        OPLAT_CHECK(put(fmt::format("Big{}{{s=\"{}\"}}()->()", i, std::string(4000, 'x'))));
      }
      return {};
    });
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(static_cast<int>(status.error().code), static_cast<int>(Code::Write))
      << status.error().message;
  EXPECT_EQ(rows(kRelu), 1U);
  EXPECT_EQ(must(table_->counts()).timings, 1);
  EXPECT_TRUE(must(table_->integrity()).empty());
  must(put(kAdd));
  EXPECT_EQ(rows(kAdd), 1U) << "the table goes on when there is space again";
}

}  // namespace
}  // namespace oplat::table
