// SPDX-License-Identifier: Apache-2.0
/// Table in Python: an open table, shared by threads and safe after a fork.
#pragma once

#include <nanobind/nanobind.h>
#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "oplat/table.hpp"
#include "python/events.hpp"

namespace oplat::python {

/// A mutex that knows whether the calling thread holds it.
class OwnedMutex {
 public:
  void lock() {
    mutex_.lock();
    owner_ = std::this_thread::get_id();
  }
  void unlock() {
    owner_ = std::thread::id();
    mutex_.unlock();
  }
  [[nodiscard]] bool is_mine() const { return owner_ == std::this_thread::get_id(); }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

/// An open table, for one thread at a time.
struct OpenTable {
  OpenTable(Table opened, std::vector<std::string> said);

  /// Runs `call` by `events` with the table's mutex, which it takes without the GIL, since its
  /// owner may be waiting for the GIL. With the GIL. Throws Refused in a handler of a signal, or
  /// whatever else Python runs within a call, if that call uses the table: it would wait for
  /// itself.
  template <class Call>
  auto use(PythonEvents& events, const Call& call) {
    if (mutex_.is_mine()) refuse_nested_use();
    return events.run([&] {
      const std::lock_guard lock(mutex_);
      return call();
    });
  }

  pid_t process;
  Table table;
  std::vector<std::string> warnings;  ///< of opening it: they hold for every prediction

 private:
  [[noreturn]] static void refuse_nested_use();
  OwnedMutex mutex_;
};

/// What Python holds. SQLite forbids to use a connection in a child process, or to close it there:
/// the child opens the table again and leaves its parent's connection alone.
class TableHandle {
 public:
  /// Throws InputError or Refused.
  TableHandle(std::string path, OpenOptions options);
  ~TableHandle();
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;

  /// As it was given. Once the current folder is another one, from which that would lead elsewhere,
  /// the absolute path.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] const std::string& absolute_path() const { return absolute_; }
  [[nodiscard]] const OpenOptions& options() const { return options_; }
  /// Throws ValueError once it is closed.
  void check_open() const;
  /// Of this process. Throws as the constructor, and ValueError once it is closed. With the GIL.
  std::shared_ptr<OpenTable> opened();
  /// Opens the file anew, to see what was written since. With the GIL.
  void reopen();
  void close();

 private:
  std::shared_ptr<OpenTable> open() const;
  void forget();
  std::string path_;
  std::string absolute_;
  OpenOptions options_;
  std::shared_ptr<OpenTable> opened_;
};

void bind_table(nanobind::module_& module);

}  // namespace oplat::python
