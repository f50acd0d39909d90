// SPDX-License-Identifier: Apache-2.0
/// Bounded reads, atomic writes, siblings that cannot lead astray.
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/lfs.hpp"
#include "base/text.hpp"

namespace oplat::base {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Opens a regular file for reading; `size` is its length.
Result<int> open_regular(const fs::path& path, std::uint64_t& size) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(Code::Input, "{}: cannot open: {}", path.string(), std::strerror(errno));
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(Code::Input, "{}: {}", path.string(),
                S_ISDIR(info.st_mode) ? "is a folder, not a file"
                                      : "is not a regular file; save its content to a file first");
  }
  size = static_cast<std::uint64_t>(info.st_size);
  return fd;
}

/// Hands the file to `take` in pieces.
template <class Take>
Status read_pieces(const fs::path& path, int fd, std::string& buffer, Take take) {
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(Code::Input, "{}: cannot read: {}", path.string(), std::strerror(errno));
    if (n == 0) return {};
    if (!take(std::string_view(buffer.data(), static_cast<std::size_t>(n)))) return {};
  }
}

/// Gives what errno says, 0 where all went well.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Likewise.
int flush(int fd) {
  // Pipes and some devices cannot be flushed.
  return ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// The folder of what the symbolic link `path` names; empty if it is not one.
fs::path target_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return {};
  const fs::path target = fs::canonical(path, error);
  return error ? fs::path() : target.parent_path();
}

/// Both canonical.
bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::uint64_t max_bytes) {
  std::uint64_t size = 0;
  OPLAT_TRY(fd, open_regular(path, size));
  const Descriptor file(fd);
  if (size > max_bytes) {
    return fail(Code::Input, "{}: has {} bytes; the limit is {}", path.string(), size, max_bytes);
  }
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(size));
  std::string buffer(std::size_t{1} << 20, '\0');
  // A file may grow while it is read: the bound holds for what arrives, not for what was announced.
  OPLAT_CHECK(read_pieces(path, file.get(), buffer, [&](std::string_view piece) {
    bytes += piece;
    return bytes.size() <= max_bytes;
  }));
  if (bytes.size() > max_bytes)
    return fail(Code::Input, "{}: grew beyond {} bytes while it was read", path.string(),
                max_bytes);
  return bytes;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

tl::unexpected<Error> FileWriter::failed(const fs::path& path, int error) {
  return fail(Code::Write, "{}: cannot write: {}", path.string(), std::strerror(error));
}

Result<FileWriter> FileWriter::create(const fs::path& path) {
  FileWriter writer;
  writer.path_ = path;
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  // A pipe or a device takes the bytes itself: a file in its place would destroy it.
  if (exists && !S_ISREG(info.st_mode)) {
    writer.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (writer.fd_ < 0) return failed(path, errno);
    return writer;
  }
  // What a symbolic link names is written, and the link stays.
  std::error_code unresolved;
  writer.target_ = exists ? fs::canonical(path, unresolved) : path;
  if (unresolved) return failed(path, unresolved.value());
  const fs::path temporary = writer.target_.string() + fmt::format(".{}.tmp", ::getpid());
  writer.fd_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd_ < 0) return failed(path, errno);
  writer.temporary_ = temporary;
  return writer;
}

Status FileWriter::add(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes)) return failed(path_, error);
  return {};
}

Status FileWriter::finish() {
  if (const int error = flush(fd_)) return failed(path_, error);
  ::close(std::exchange(fd_, -1));
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return failed(path_, errno);
  temporary_.clear();
  return {};
}

Status write_file(const fs::path& path, std::string_view bytes) {
  OPLAT_TRY(writer, FileWriter::create(path));
  OPLAT_CHECK(writer.add(bytes));
  return writer.finish();
}

Status each_piece(const fs::path& path, const std::function<bool(std::string_view)>& take) {
  std::uint64_t size = 0;
  OPLAT_TRY(fd, open_regular(path, size));
  const Descriptor file(fd);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string buffer(kPiece, '\0');
  return read_pieces(path, file.get(), buffer, take);
}

bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code error;
  const auto place = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  // The second knows hard links.
  return place(one) == place(other) || std::filesystem::equivalent(one, other, error);
}

Result<Hash128> hash_file(const fs::path& path) {
  Hasher hasher;
  OPLAT_CHECK(each_piece(path, [&](std::string_view piece) {
    hasher.add(piece);
    return true;
  }));
  return hasher.finish();
}

Result<Source> Source::open(const fs::path& path) {
  OPLAT_TRY(bytes, read_file(path));
  Source source;
  source.name_ = path.string();
  source.bytes_ = std::move(bytes);
  source.folder_ = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return source;
}

Source Source::from_bytes(std::string name, std::string bytes) {
  Source source;
  source.name_ = std::move(name);
  source.bytes_ = std::move(bytes);
  return source;
}

Result<fs::path> Source::sibling_path(std::string_view name) const {
  const fs::path wanted{std::string(name)};
  const auto refuse = [&](std::string_view why) {
    return fail(Code::Input, "{}: names the file '{}', which {}", name_, printable(name), why);
  };
  if (folder_.empty()) return refuse("cannot be found, since the model was not read from a folder");
  if (name.empty() || name.find('\0') != std::string_view::npos)
    return refuse("is not a file name");
  if (wanted.is_absolute())
    return refuse("is an absolute path; only files in the model's folder are read");
  for (const fs::path& part : wanted) {
    if (part == "..") return refuse("leads out of the model's folder");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error) return refuse(fmt::format("cannot be found: {}", error.message()));
  fs::path resolved = fs::canonical(folder_ / wanted, error);
  const fs::path target = target_folder(name_);
  if (error && !target.empty()) {
    std::error_code elsewhere;
    resolved = fs::canonical(target / wanted, elsewhere);
    if (!elsewhere) error.clear();
  }
  if (error) {
    return refuse(fmt::format("is not next to the model ({}); keep the files of a model together",
                              error.message()));
  }
  if (lies_in(resolved, folder)) return resolved;
  if (!target.empty() && lies_in(resolved, target)) return resolved;
  return refuse(
      "is a link that leaves the model's folder; copy the files to one folder, for instance with "
      "'cp -L'");
}

Result<std::string> Source::sibling(std::string_view name) const {
  OPLAT_TRY(path, sibling_path(name));
  if (is_lfs_pointer_file(path)) {
    return fail(Code::Input,
                "{}: names the file '{}', which is a Git LFS pointer, not the data; fetch it with: "
                "git lfs pull",
                name_, printable(name));
  }
  return read_file(path);
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view prefix) {
  std::error_code error;
  const fs::path root = fs::temp_directory_path(error);
  if (error)
    return fail(Code::Write, "cannot find a folder for temporary files: {}; set TMPDIR",
                error.message());
  std::string pattern = (root / fmt::format("{}.XXXXXX", prefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::Write, "{}: cannot create a temporary folder: {}", root.string(),
                std::strerror(errno));
  }
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace oplat::base
