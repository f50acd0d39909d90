// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems that oplat speaks with.
#pragma once

#include <span>
#include <string_view>

#include "table/codec.hpp"

namespace oplat::compat {

/// Names of the systems, as their folders are called. Lives as long as the process.
std::span<const std::string_view> systems();

/// The table formats of all systems, by name. Lives as long as the process.
table::CodecList codecs();
/// The format of this name. Code::Usage for an unknown name, listing those that there are.
Result<const table::TableCodec*> find_codec(std::string_view name);

}  // namespace oplat::compat
