// SPDX-License-Identifier: Apache-2.0
#include "runtimes/uploads.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace oplat::runtimes {
namespace fs = std::filesystem;
namespace {

Status check_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 200 && name.front() != '.' &&
                     name.find_first_of("/\\") == std::string::npos &&
                     name.find('\0') == std::string::npos;
  if (!plain)
    return fail(Code::Input, "put: \"{}\" is not a plain file name", base::printable(name));
  return {};
}

Status check_hexadecimal(const std::string& text) {
  const bool good =
      text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!good) return fail(Code::Input, "put: \"{}\" is not a hash", base::printable(text));
  return {};
}

tl::unexpected<Error> write_error(const fs::path& path) {
  return fail(Code::Write, "{}: {}", path.string(), std::strerror(errno));
}

/// Appends at `offset`, which must be where the file ends; 0 begins anew. Follows no link.
Status append(const fs::path& path, std::int64_t offset, const std::string& bytes) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_TRUNC : 0);
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) return write_error(path);
  struct stat facts {};
  Status status;
  if (::fstat(fd, &facts) != 0) {
    status = write_error(path);
  } else if (facts.st_size != offset) {
    status = fail(Code::Input, "put: a piece at {} of {}, which holds {} bytes", offset,
                  path.filename().string(), static_cast<std::int64_t>(facts.st_size));
  }
  std::size_t done = 0;
  while (status && done < bytes.size()) {
    const ssize_t wrote = ::pwrite(fd, bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno != EINTR) {
      status = write_error(path);
    }
  }
  if (::close(fd) != 0 && status) status = write_error(path);
  return status;
}

}  // namespace

Result<Uploads> Uploads::standard() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return Uploads(fs::path(cache) / "oplat" / "uploads");
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/')
    return Uploads(fs::path(home) / ".cache" / "oplat" / "uploads");
  return fail(Code::Runtime, "put: neither XDG_CACHE_HOME nor HOME names a folder");
}

Result<PutOutcome> Uploads::put(const PutRequest& request) const {
  OPLAT_CHECK(check_hexadecimal(request.folder));
  OPLAT_CHECK(check_hexadecimal(request.hash));
  OPLAT_CHECK(check_name(request.name));
  const auto length = static_cast<std::int64_t>(request.bytes.size());
  if (request.size < 0 || request.size > kMaxFileBytes) {
    return fail(Code::Input, "put: {} is larger than {} bytes", request.name, kMaxFileBytes);
  }
  if (request.offset < 0 || request.offset > request.size - length) {
    return fail(Code::Input, "put: a piece beyond the end of {}", request.name);
  }
  const fs::path folder = root_ / request.folder;
  const fs::path whole = folder / request.name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return fail(Code::Write, "{}: {}", folder.string(), error.message());
  if (request.offset == 0 && fs::is_regular_file(fs::symlink_status(whole, error))) {
    const auto hash = base::hash_file(whole);
    if (hash && hash->hex() == request.hash) return PutOutcome{true, whole.string()};
  }
  fs::path part = whole;
  part += ".part";
  OPLAT_CHECK(append(part, request.offset, request.bytes));
  if (request.offset + length < request.size) return PutOutcome{};
  OPLAT_TRY(hash, base::hash_file(part));
  if (hash.hex() != request.hash) {
    fs::remove(part, error);
    return fail(Code::Input, "put: {} arrived with hash {}, expected {}", request.name, hash.hex(),
                request.hash);
  }
  fs::rename(part, whole, error);
  if (error) return fail(Code::Write, "{}: {}", whole.string(), error.message());
  return PutOutcome{true, whole.string()};
}

}  // namespace oplat::runtimes
