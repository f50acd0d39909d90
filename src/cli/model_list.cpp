// SPDX-License-Identifier: Apache-2.0
#include "cli/model_list.hpp"

#include <cstdint>
#include <iostream>
#include <iterator>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::cli {
namespace {

constexpr std::uint64_t kMaxListBytes = std::uint64_t{16} << 20;

Result<std::string> list_text(const std::string& list) {
  if (list != "-") return base::read_file(list, kMaxListBytes);
  std::string text;
  for (std::istreambuf_iterator<char> at(std::cin), end; at != end; ++at) {
    if (text.size() >= kMaxListBytes)
      return fail(Code::Input, "--list -: standard input is longer than {} MiB",
                  kMaxListBytes >> 20);
    text += *at;
  }
  return text;
}

}  // namespace

void add_models(const Command& command, ModelListFlags& to, const std::string& help) {
  const Option models = command.add_option("MODEL", to.models, help).required();
  command
      .add_option("--list", to.list,
                  "file that names more models, a path a line; - is standard input")
      .type_name("FILE")
      .stands_for(models);
}

Result<std::vector<std::string>> listed_models(const ModelListFlags& flags) {
  std::vector<std::string> models = flags.models;
  if (!flags.list) return models;
  if (flags.list->empty())
    return fail(Code::Usage,
                "--list: the name of the file is empty; name a file, or - for "
                "standard input");
  OPLAT_TRY(text, list_text(*flags.list));
  for (std::string& line : base::split(text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) models.push_back(std::move(line));
  }
  if (models.empty())
    return fail(Code::Usage, "--list {}: names no model; write a path a line",
                base::printable(*flags.list, 400));
  return models;
}

}  // namespace oplat::cli
