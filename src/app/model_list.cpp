// SPDX-License-Identifier: Apache-2.0
#include "app/model_list.hpp"

#include <cstdint>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::app {
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

Result<std::vector<std::string>> listed_models(const ModelList& asked) {
  std::vector<std::string> models = asked.models;
  if (!asked.list) return models;
  if (asked.list->empty())
    return fail(Code::Usage,
                "--list: the name of the file is empty; name a file, or - for "
                "standard input");
  OPLAT_TRY(text, list_text(*asked.list));
  for (std::string& line : base::split(text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) models.push_back(std::move(line));
  }
  if (models.empty())
    return fail(Code::Usage, "--list {}: names no model; write a path a line",
                base::printable(*asked.list, 400));
  return models;
}

}  // namespace oplat::app
