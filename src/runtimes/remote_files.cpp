// SPDX-License-Identifier: Apache-2.0
#include "runtimes/remote_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/format_reader.hpp"
#include "plan/identity.hpp"
#include "runtimes/messages.hpp"

namespace oplat::runtimes {
namespace fs = std::filesystem;

Result<std::string> RemoteFiles::model(const std::string& path) {
  if (const auto known = sent_.find(path); known != sent_.end()) return known->second;
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(siblings, reader->siblings(source));
  OPLAT_TRY(folder, plan::model_hash(path));
  for (const std::string& name : siblings) {
    if (name != fs::path(name).filename().string())
      return fail(Code::Input,
                  "{}: refers to {} in another folder, which cannot be sent to the worker; put "
                  "both into one folder",
                  path, base::printable(name));
    OPLAT_TRY(sibling, source.sibling_path(name));
    OPLAT_CHECK(send(folder, name, sibling.string()));
  }
  OPLAT_TRY(remote, send(folder, fs::path(path).filename().string(), path));
  sent_.emplace(path, remote);
  return remote;
}

Result<std::string> RemoteFiles::file(const std::string& path) {
  if (const auto known = sent_.find(path); known != sent_.end()) return known->second;
  OPLAT_TRY(hash, base::hash_file(path));
  OPLAT_TRY(remote, send(hash.hex(), fs::path(path).filename().string(), path));
  sent_.emplace(path, remote);
  return remote;
}

Result<std::string> RemoteFiles::send(const std::string& folder, const std::string& name,
                                      const std::string& path) {
  OPLAT_TRY(hash, base::hash_file(path));
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return fail(Code::Input, "{}: {}", path, std::strerror(errno));
  PutRequest piece;
  piece.folder = folder;
  piece.name = name;
  piece.hash = hash.hex();
  piece.size = size;
  // The first piece is empty: the worker may have the file already.
  OPLAT_TRY(first, put_(piece));
  PutOutcome outcome = first;
  while (!outcome.complete && piece.offset < size) {
    piece.bytes.resize(std::min<std::size_t>(kMaxPieceBytes, static_cast<std::size_t>(size)));
    file.read(piece.bytes.data(), static_cast<std::streamsize>(piece.bytes.size()));
    piece.bytes.resize(static_cast<std::size_t>(file.gcount()));
    if (piece.bytes.empty() || piece.offset > size - file.gcount())
      return fail(Code::Input, "{}: its size changed while it was sent to the worker", path);
    OPLAT_TRY(next, put_(piece));
    outcome = next;
    piece.offset += static_cast<std::int64_t>(piece.bytes.size());
  }
  if (!outcome.complete)
    return fail(Code::Runtime, "{}: the worker did not confirm that it has the whole file", path);
  return outcome.path;
}

}  // namespace oplat::runtimes
