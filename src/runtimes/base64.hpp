// SPDX-License-Identifier: Apache-2.0
/// Base64 (RFC 4648, with padding), for the pieces of files that travel in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oplat::runtimes {

std::string base64_encode(std::string_view bytes);
/// std::nullopt if `text` is not exactly what base64_encode writes.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace oplat::runtimes
