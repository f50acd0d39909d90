// SPDX-License-Identifier: Apache-2.0
#include "app/groups_file.hpp"

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::app {
namespace {

constexpr std::uint64_t kMaxGroupsBytes = std::uint64_t{1} << 26;

}  // namespace

Result<std::map<std::string, std::string>> read_groups_file(const std::string& path,
                                                            std::string_view name) {
  OPLAT_TRY(text, base::read_file(path, kMaxGroupsBytes));
  std::map<std::string, std::string> groups;
  std::int64_t line_number = 0;
  for (std::string& line : base::split(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string::npos || tab == 0 || tab + 1 == line.size()) {
      return fail(Code::Input, "{}:{}: expected '{}<tab>GROUP', found '{}'", path, line_number,
                  name, base::printable(line));
    }
    groups[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return groups;
}

}  // namespace oplat::app
