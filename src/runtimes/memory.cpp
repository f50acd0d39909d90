// SPDX-License-Identifier: Apache-2.0
#include "runtimes/memory.hpp"

#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::runtimes {

std::optional<std::int64_t> available_memory() {
  const auto text = base::read_file("/proc/meminfo", 1 << 20);
  if (!text) return std::nullopt;
  for (const std::string& line : base::split(*text, '\n')) {
    if (!line.starts_with("MemAvailable:")) continue;
    const std::size_t begin = line.find_first_of("0123456789");
    const std::size_t end = line.find_last_of("0123456789");
    const auto kib = begin == std::string::npos
                         ? std::nullopt
                         : base::parse_int(std::string_view(line).substr(begin, end - begin + 1));
    if (kib) return *kib * 1024;
  }
  return std::nullopt;
}

}  // namespace oplat::runtimes
