// SPDX-License-Identifier: Apache-2.0
/// Process identity from /proc, with plain kill(pid, 0) where that is missing.
#include "table/process.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace oplat::table {
namespace {

struct ProcStat {
  char state = '?';
  std::optional<std::int64_t> start;
};

std::optional<ProcStat> read_stat(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in parentheses and may hold anything, parentheses
  // included.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcStat stat;
  fields >> stat.state;
  // proc(5): starttime is field 22; the state was field 3.
  std::string field;
  for (int number = 4; number <= 22; ++number) fields >> field;
  if (fields) stat.start = base::parse_int(field);
  return stat;
}

std::string host_identity() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 128> space{};
  if (readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) space[0] = '\0';
  return base::hash128(fmt::format("{}\n{}\n{}", name.data(), boot, space.data())).hex();
}

}  // namespace

ProcessIdentity this_process() {
  ProcessIdentity self;
  self.pid = getpid();
  if (const auto stat = read_stat(self.pid)) self.start = stat->start;
  self.host = host_identity();
  return self;
}

std::optional<bool> is_alive(const ProcessIdentity& process) {
  if (process.host != host_identity()) return std::nullopt;
  if (process.pid <= 0 || process.pid > std::numeric_limits<pid_t>::max()) return false;
  if (const auto stat = read_stat(process.pid)) {
    if (stat->state == 'Z' || stat->state == 'X') return false;
    return !process.start || !stat->start || *process.start == *stat->start;
  }
  return kill(static_cast<pid_t>(process.pid), 0) == 0 || errno == EPERM;
}

}  // namespace oplat::table
