// SPDX-License-Identifier: Apache-2.0
#include "runtimes/memory.hpp"

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

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

std::optional<std::int64_t> resident_memory() {
  const auto text = base::read_file("/proc/self/statm", 1 << 12);
  if (!text) return std::nullopt;
  const std::vector<std::string> fields = base::split(*text, ' ');
  const auto pages = fields.size() > 1 ? base::parse_int(fields[1]) : std::nullopt;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  if (!pages || page <= 0) return std::nullopt;
  return *pages * page;
}

}  // namespace oplat::runtimes
