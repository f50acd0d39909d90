// SPDX-License-Identifier: Apache-2.0
/// A child process in a group of its own, with pipes to its three standard descriptors, and a
/// folder for its temporary files that goes when it ends, however it ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace oplat::runtimes {

struct ProcessOptions {
  std::vector<std::string> command;     ///< argv; the first is looked up in PATH if it has no slash
  std::int64_t memory_limit_bytes = 0;  ///< address space; 0: no limit
  std::optional<int> cpu;
};

/// The variables of our environment that a worker sees, and those that it is given. Whatever could
/// change times without standing in a setting (OMP_NUM_THREADS, MALLOC_*, LD_PRELOAD, ...) stays
/// behind. `temporary`: its TMPDIR.
std::vector<std::string> worker_environment(const std::filesystem::path& temporary);

/// Whether this process's environment holds nothing but what worker_environment() lets through.
bool has_worker_environment();

/// Removes folders for temporary files in `root` that were left by processes that are no more,
/// killed before they could: those older than a day, since a process that this one cannot see may
/// stand in another container.
void sweep_temporary(const std::filesystem::path& root);

class Process {
 public:
  /// Code::Runtime where the program cannot be started, Code::Usage for a CPU that does not exist.
  static Result<std::unique_ptr<Process>> start(const ProcessOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the group and reaps the child.
  ~Process();

  [[nodiscard]] pid_t id() const { return pid_; }
  [[nodiscard]] int input() const { return input_; }    ///< a socket: write with MSG_NOSIGNAL
  [[nodiscard]] int output() const { return output_; }  ///< not blocking
  [[nodiscard]] int errors() const { return errors_; }  ///< not blocking
  void close_input();

  /// Whether the child has ended; it stays unreaped.
  [[nodiscard]] bool ended() const;
  /// Waits up to `grace` for the child to end by itself.
  bool wait(std::chrono::milliseconds grace) const;
  /// Kills the whole group, reaps the child and says how it ended: "exit status 3", "signal 11
  /// (SIGSEGV)".
  std::string finish();

  /// Reads what errors() holds, keeping the last few KiB.
  void drain_errors();
  /// The last line that the child wrote to its standard error, cut for a message; empty: none.
  [[nodiscard]] std::string last_words() const;

 private:
  explicit Process(base::TemporaryFolder temporary) : temporary_(std::move(temporary)) {}
  /// To our own standard error, made printable, if that is asked for.
  void show_errors(std::string_view piece, bool last);

  base::TemporaryFolder temporary_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  bool show_errors_ = false;
  std::string unshown_errors_;
  std::string error_tail_;
};

}  // namespace oplat::runtimes
