// SPDX-License-Identifier: Apache-2.0
/// Zip archives read by libzip; the only file that names it.
#include "compat/mobile_vision/zip_file.hpp"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.hpp"

namespace oplat::compat::mobile_vision {
namespace {

constexpr zip_int64_t kMaxZipEntries = 10'000;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

/// libzip's word for what went wrong; takes the error's memory back.
std::string take_text(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Result<std::unique_ptr<zip_t, Discard>> open_archive(std::string_view bytes,
                                                     std::string_view shown) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr)
    return fail(Code::Input, "{}: is not a zip archive: {}", shown, take_text(error));
  zip_t* const archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    return fail(Code::Input, "{}: is not a zip archive: {}", shown, take_text(error));
  }
  zip_error_fini(&error);
  return std::unique_ptr<zip_t, Discard>(archive);
}

Result<zip_uint64_t> find_entry(zip_t* archive, std::string_view suffix, std::string_view shown) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count > kMaxZipEntries)
    return fail(Code::Input, "{}: has {} entries; the limit is {}", shown, count, kMaxZipEntries);
  std::vector<zip_uint64_t> found;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* const name = zip_get_name(archive, index, ZIP_FL_ENC_GUESS);
    const std::string_view entry = name == nullptr ? std::string_view() : std::string_view(name);
    // macOS adds a shadow of every file under this folder.
    if (entry.ends_with(suffix) && !entry.starts_with("__MACOSX/")) found.push_back(index);
  }
  if (found.size() == 1) return found.front();
  return fail(Code::Input, "{}: holds {} entries named *{}; expected one", shown, found.size(),
              suffix);
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

Result<std::string> unzip(std::string_view bytes, std::string_view suffix, std::uint64_t max_bytes,
                          std::string_view shown) {
  OPLAT_TRY(archive, open_archive(bytes, shown));
  OPLAT_TRY(index, find_entry(archive.get(), suffix, shown));
  const std::unique_ptr<zip_file_t, Close> file(zip_fopen_index(archive.get(), index, 0));
  if (!file)
    return fail(Code::Input, "{}: cannot be unpacked: {}", shown,
                base::printable(zip_strerror(archive.get())));
  std::string content;
  std::vector<char> piece(std::size_t{1} << 18);
  // What the archive says of the size is untrusted; what comes out is counted.
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), piece.data(), piece.size());
    if (got < 0)
      return fail(Code::Input, "{}: is damaged: {}", shown,
                  base::printable(zip_file_strerror(file.get())));
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > max_bytes) {
      return fail(Code::Input, "{}: unpacks to more than {} bytes", shown, max_bytes);
    }
    content.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace oplat::compat::mobile_vision
