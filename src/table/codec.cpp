// SPDX-License-Identifier: Apache-2.0
/// Choosing among the codecs of a list.
#include "table/codec.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace oplat::table {

std::vector<std::string> codec_names(CodecList codecs) {
  std::vector<std::string> names;
  for (const TableCodec* codec : codecs) names.emplace_back(codec->name());
  return names;
}

std::string codec_list(CodecList codecs) {
  std::vector<std::string> lines;
  for (const TableCodec* codec : codecs)
    lines.push_back(fmt::format("{} ({})", codec->name(), codec->description()));
  return base::join(lines, ", ");
}

Result<const TableCodec*> find_codec(CodecList codecs, std::string_view name) {
  for (const TableCodec* codec : codecs) {
    if (codec->name() == name) return codec;
  }
  return fail(Code::Usage, "'{}' is not a table format; expected one of {}", base::printable(name),
              base::join(codec_names(codecs), ", "));
}

const TableCodec* likely_codec(CodecList codecs, std::string_view bytes) {
  const auto found = std::find_if(codecs.begin(), codecs.end(), [&](const TableCodec* codec) {
    return codec->looks_like(bytes);
  });
  return found == codecs.end() ? nullptr : *found;
}

}  // namespace oplat::table
