// SPDX-License-Identifier: Apache-2.0
/// Bytes of fits as damage or an older oplat would have left them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "estimate/learned/forest.hpp"
#include "estimate/learned/reference.hpp"

namespace oplat::test {

/// ns a unit of each part, and of what it is.
inline constexpr std::size_t kReferenceBytes = 8 * estimate::kReferenceParts + 4;

/// With the checksum of these bytes, so that what they say is looked at.
inline std::string sealed(std::string body) {
  const std::uint64_t sum = base::hash64(body);
  for (int byte = 0; byte < 8; ++byte) body.push_back(static_cast<char>(sum >> (8 * byte) & 0xff));
  return body;
}

inline std::string unsealed(std::string_view bytes) {
  return std::string(bytes.substr(0, bytes.size() - 8));
}

/// A fit of a GridModel without calibration whose last model, that of shapes, has this spread:
/// factors of both profiles, and a forest.
inline std::string with_last_spread(std::string_view bytes, float factor,
                                    const estimate::Forest& forest) {
  std::string body = unsealed(bytes);
  const std::size_t before = estimate::Forest().save().size();
  body.resize(body.size() - before - 8 - 2 * 4);
  base::ByteWriter writer;
  writer.f32(factor);
  writer.f32(factor);
  writer.text(forest.save());
  return sealed(body + writer.take());
}

/// A fit as one of another format, in which `missing` bytes of the reference's end are not there.
/// It follows the text of the space.
inline std::string of_format(std::string_view bytes, std::string_view magic, char number,
                             std::size_t missing) {
  std::string body = unsealed(bytes);
  const std::size_t at = 8 + magic.size();
  const std::size_t space = at + 4 + 3 * 8 + 4;
  if (body.substr(8, magic.size()) != magic)
    throw std::runtime_error("bytes of another kind of fit");
  body[at] = number;
  std::uint64_t length = 0;
  for (std::size_t byte = 0; byte < 8; ++byte)
    length |= std::uint64_t{static_cast<unsigned char>(body[space + byte])} << (8 * byte);
  body.erase(space + 8 + length + kReferenceBytes - missing, missing);
  return sealed(std::move(body));
}

}  // namespace oplat::test
