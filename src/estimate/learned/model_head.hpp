// SPDX-License-Identifier: Apache-2.0
/// What the bytes of every kind of model begin and end with: docs/reference/fit-format.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "estimate/learned.hpp"
#include "estimate/learned/machine.hpp"
#include "estimate/learned/reference.hpp"
#include "estimate/learned/space.hpp"

namespace oplat::estimate {

/// A kind of model in bytes.
struct ModelFormat {
  std::string_view magic;
  std::uint32_t number = 1;
  std::string_view name;          ///< in messages
  std::uint32_t oldest = number;  ///< of the formats that can be read
  /// "NAME: WHAT; run oplat fit again".
  [[nodiscard]] Error broken(std::string_view what) const;
};

struct ModelHead {
  std::uint32_t number = 0;  ///< of the format
  Machine machine;
  Space space;
};

void write_head(base::ByteWriter& writer, const ModelFormat& format, const Machine& machine,
                const Space& space);
void write_reference(base::ByteWriter& writer, const Reference& reference);
/// The bytes with their checksum behind them.
std::string sealed(base::ByteWriter writer);
/// By magic, format and checksum. Code::Input if they are damaged, or of a format too old to be
/// read.
Result<FitAge> age_of(std::string_view bytes, const ModelFormat& format);
/// The bytes before the checksum. Code::Refused if the format is newer, which comes first;
/// Code::Input if the checksum does not fit, or where magic or format are others.
Result<std::string_view> unsealed(std::string_view bytes, const ModelFormat& format);
/// From the beginning of what unsealed() gave.
Result<ModelHead> read_head(base::ByteReader& reader, const ModelFormat& format);
Result<Reference> read_reference(base::ByteReader& reader, const ModelFormat& format);

}  // namespace oplat::estimate
