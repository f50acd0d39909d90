// SPDX-License-Identifier: Apache-2.0
#include "table/import_hint.hpp"

#include <fstream>
#include <system_error>

#include "base/text.hpp"
#include "table/codec.hpp"

namespace oplat::table {
namespace {

// Logs begin with what the program prints around its summary.
constexpr std::size_t kHintBytes = std::size_t{256} << 10;

}  // namespace

std::string import_hint(const std::filesystem::path& path, CodecList codecs) {
  // A named pipe would wait for a writer for ever.
  std::error_code code;
  if (codecs.empty() || !std::filesystem::is_regular_file(path, code)) return {};
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(kHintBytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  const TableCodec* codec = likely_codec(codecs, bytes);
  if (codec == nullptr) return {};
  return fmt::format(
      "; it looks like a file of the format {}; import it with: oplat import {} --format {} "
      "--table T.oplat",
      codec->name(), base::printable(path.string(), 400), codec->name());
}

}  // namespace oplat::table
