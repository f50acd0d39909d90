// SPDX-License-Identifier: Apache-2.0
/// Table in Python: an open table, shared by threads and safe after a fork.
#pragma once

#include <nanobind/nanobind.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "oplat/table.hpp"

namespace oplat::python {

/// An open table, for one thread at a time: whoever uses it holds `mutex`, and takes that without
/// the GIL, since its owner may be waiting for the GIL.
struct OpenTable {
  OpenTable(Table opened, std::vector<std::string> said);
  pid_t process;
  std::mutex mutex;
  Table table;
  std::vector<std::string> warnings;  ///< of opening it: they hold for every prediction
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

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of this process. Throws as the constructor, and ValueError once it is closed. With the GIL.
  std::shared_ptr<OpenTable> opened();
  /// Opens the file anew, to see what was written since. With the GIL.
  void reopen();
  void close();

 private:
  std::shared_ptr<OpenTable> open() const;
  void forget();
  std::string path_;
  OpenOptions options_;
  std::shared_ptr<OpenTable> opened_;
};

void bind_table(nanobind::module_& module);

}  // namespace oplat::python
