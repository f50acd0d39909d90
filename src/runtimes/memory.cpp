// SPDX-License-Identifier: Apache-2.0
#include "runtimes/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::runtimes {

namespace {

namespace fs = std::filesystem;

/// Control groups of version 1 say this, rounded to pages, where there is no limit.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::string small_file(const fs::path& path) {
  return base::read_file(path, 1 << 20).value_or(std::string());
}

/// The number in a file that holds nothing else; "max" is none.
std::optional<std::int64_t> number_in(const fs::path& path) {
  const std::string text = small_file(path);
  return base::parse_int(std::string_view(text).substr(0, text.find('\n')));
}

/// The number behind a name, in a file of lines of both.
std::optional<std::int64_t> number_behind(const std::string& text, std::string_view name) {
  for (const std::string& line : base::split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::size_t begin = line.find_first_of("0123456789", name.size());
    const std::size_t end = line.find_last_of("0123456789");
    if (begin == std::string::npos) return std::nullopt;
    return base::parse_int(std::string_view(line).substr(begin, end - begin + 1));
  }
  return std::nullopt;
}

/// Files of one version of control groups.
struct GroupFiles {
  const char* place;
  const char* limit;
  const char* used;
  const char* reclaimable;  ///< in memory.stat
};
constexpr GroupFiles kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_inactive_file "};
constexpr GroupFiles kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};

void take_min(std::optional<std::int64_t>& least, std::optional<std::int64_t> bytes) {
  if (bytes && (!least || *bytes < *least)) least = bytes;
}

/// What the group of this name and those above it leave. A container sees its own group as the
/// topmost, under a name that may lead nowhere.
void take_groups(std::optional<std::int64_t>& least, const fs::path& root, const GroupFiles& files,
                 const fs::path& name) {
  fs::path group = name.relative_path().lexically_normal();
  if (group.string().starts_with("..")) group.clear();
  while (true) {
    const fs::path folder = root / files.place / group;
    const auto limit = number_in(folder / files.limit);
    const auto used = number_in(folder / files.used);
    if (limit && used && *limit < kNoLimit) {
      const std::int64_t given_up =
          number_behind(small_file(folder / "memory.stat"), files.reclaimable).value_or(0);
      take_min(least,
               std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - given_up)));
    }
    if (group.empty()) return;
    group = group.parent_path();
  }
}

}  // namespace

std::optional<std::int64_t> available_memory(const fs::path& root) {
  std::optional<std::int64_t> least;
  if (const auto kib = number_behind(small_file(root / "proc/meminfo"), "MemAvailable:"))
    least = *kib * 1024;
  for (const std::string& line : base::split(small_file(root / "proc/self/cgroup"), '\n')) {
    // Number, controllers, name; a name may hold colons.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string name = line.substr(second + 1);
    if (controllers.empty()) take_groups(least, root, kVersion2, name);
    for (const std::string& controller : base::split(controllers, ',')) {
      if (controller == "memory") take_groups(least, root, kVersion1, name);
    }
  }
  return least;
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
