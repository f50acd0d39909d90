// SPDX-License-Identifier: Apache-2.0
/// Untrusted files, read with bounds and clear errors; temporary folders; writes that lose
/// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace oplat::base {

/// The whole file. Code::Input if it is missing, no regular file, unreadable, or larger than
/// `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::uint64_t max_bytes = std::uint64_t{4} << 30);
/// Writes next to `path` and renames over it, so that a reader sees the old bytes or the new; of a
/// symbolic link, what it names. Pipes and devices are written into. Code::Write on failure.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// The same, piece by piece.
class FileWriter {
 public:
  static Result<FileWriter> create(const std::filesystem::path& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  /// Without finish(), what `path` named before stays as it was.
  ~FileWriter();
  Status add(std::string_view bytes);
  /// Once, after the last add(): `path` names the new bytes from now on.
  Status finish();

 private:
  FileWriter() = default;
  static tl::unexpected<Error> failed(const std::filesystem::path& path, int error);
  std::filesystem::path path_;       ///< for messages
  std::filesystem::path target_;     ///< what is renamed over
  std::filesystem::path temporary_;  ///< empty: the bytes go where they belong
  int fd_ = -1;
};

/// Whether both paths lead to one file, by links too. Neither need be there yet.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

/// Hash of a file's bytes, read in pieces.
Result<Hash128> hash_file(const std::filesystem::path& path);

/// Hands a file's bytes to `take` in pieces of up to 1 MiB, until that returns false. Code::Input
/// as read_file.
Status each_piece(const std::filesystem::path& path,
                  const std::function<bool(std::string_view)>& take);

/// A file and its siblings, as a format reader sees them: no name given by the file can lead out of
/// its folder.
class Source {
 public:
  /// Opens a file on disk. Code::Input as read_file.
  static Result<Source> open(const std::filesystem::path& path);
  /// Bytes without a folder, as tests and fuzzers hold them: every sibling is missing.
  static Source from_bytes(std::string name, std::string bytes);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// For messages: the path as the user gave it.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Bytes of another file of the same folder. Refuses absolute names, "..", and links that leave
  /// the folder.
  [[nodiscard]] Result<std::string> sibling(std::string_view name) const;
  /// The path behind sibling(), after the same checks.
  [[nodiscard]] Result<std::filesystem::path> sibling_path(std::string_view name) const;

 private:
  std::string name_;
  std::string bytes_;
  std::filesystem::path folder_;  // empty: no siblings
};

/// A folder of its own under the system's temporary folder, removed with what it holds.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(std::string_view prefix);
  TemporaryFolder(TemporaryFolder&&) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) noexcept;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace oplat::base
