// SPDX-License-Identifier: Apache-2.0
/// The worker's cache of files that a client without a shared file system sends in pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

class Uploads {
 public:
  /// Largest file that is taken.
  static constexpr std::int64_t kMaxFileBytes = std::int64_t{32} << 30;

  explicit Uploads(std::filesystem::path root) : root_(std::move(root)) {}
  /// $XDG_CACHE_HOME/oplat/uploads, else ~/.cache/oplat/uploads. Code::Runtime where neither is
  /// known.
  static Result<Uploads> standard();

  /// Appends one piece to ROOT/FOLDER/NAME.part; the last piece renames it, once the hash of the
  /// whole agrees. A file that is there already answers complete at once. Code::Input: bad name,
  /// gap, wrong hash. Code::Write.
  Result<PutOutcome> put(const PutRequest& request) const;

 private:
  std::filesystem::path root_;
};

}  // namespace oplat::runtimes
