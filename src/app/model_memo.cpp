// SPDX-License-Identifier: Apache-2.0
/// What a file is recognised by, on both ways.
#include "app/model_memo.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "formats/format_reader.hpp"
#include "plan/identity.hpp"

namespace oplat::app {
namespace {

struct Stamp {
  std::string absolute;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
};

Result<Stamp> stamp_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(Code::Input, "{}: {}", path, std::strerror(errno));
  std::error_code error;
  return Stamp{std::filesystem::absolute(path, error).lexically_normal().string(), info.st_size,
               std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

Result<std::string> model_hash(const table::Table& table, const std::string& path) {
  OPLAT_TRY(stamp, stamp_of(path));
  OPLAT_TRY(known, table.known_model_hash(stamp.absolute, stamp.size, stamp.mtime_ns));
  if (known) return *known;
  return plan::model_hash(path);
}

Status remember_model(table::Table& table, const std::string& path) {
  OPLAT_TRY(stamp, stamp_of(path));
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(siblings, reader->siblings(source));
  if (!siblings.empty()) return {};
  OPLAT_TRY(hash, plan::model_hash(source));
  return table.remember_model_hash(stamp.absolute, stamp.size, stamp.mtime_ns, hash);
}

}  // namespace oplat::app
