// SPDX-License-Identifier: Apache-2.0
/// From the name of hardware to a file.
#include "compat/paddleslim/table_files.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/text.hpp"

namespace oplat::compat::paddleslim {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kTableNames = {"SD625", "SD710", "SD845", "SD865",
                                                         "RK3288"};
constexpr const char* kFolders = "OPLAT_TABLES";

struct Place {
  fs::path folder;
  std::string words;  ///< for messages
};

std::vector<Place> places(const std::string& table_dir) {
  std::vector<Place> found = {{".", "the current folder"}};
  if (!table_dir.empty()) found.push_back({table_dir, "--table-dir " + table_dir});
  const char* folders = std::getenv(kFolders);
  for (const std::string& folder : base::split(folders == nullptr ? "" : folders, ':'))
    if (!folder.empty()) found.push_back({folder, fmt::format("{} of ${}", folder, kFolders)});
  if (folders == nullptr) found.push_back({{}, fmt::format("${} (not set)", kFolders)});
  return found;
}

/// std::nullopt if there is no such file.
fs::path file_in(const fs::path& folder, const std::string& name) {
  std::error_code error;
  if (fs::is_regular_file(folder / name, error)) return (folder / name).lexically_normal();
  std::vector<fs::path> alike;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (base::lower(at->path().filename().string()) == base::lower(name))
      alike.push_back(at->path());
  }
  return alike.empty() ? fs::path()
                       : std::min_element(alike.begin(), alike.end())->lexically_normal();
}

/// Whether a word is one of the names that PaddleSlim and its page give tables.
bool is_table_name(std::string_view word) {
  return std::any_of(kTableNames.begin(), kTableNames.end(),
                     [&](std::string_view name) { return base::lower(name) == base::lower(word); });
}

}  // namespace

std::string table_file_name(const TableName& name) {
  return fmt::format("{}_threads_{}_power_mode_{}.pkl", name.hardware, name.threads,
                     name.power_mode);
}

Result<fs::path> find_table_file(const TableName& name, const std::string& table_dir) {
  const std::string file = table_file_name(name);
  std::vector<std::string> searched;
  for (const Place& place : places(table_dir)) {
    if (const fs::path found = place.folder.empty() ? fs::path() : file_in(place.folder, file);
        !found.empty())
      return found;
    searched.push_back(place.words);
  }
  return fail(Code::Input,
              "{}: no such file in {}; put the table into one of these folders (oplat never "
              "downloads one), or build a table: run Paddle-Lite's profiler on the device, import "
              "its summary with 'oplat import FILE --format paddle-lite-profile --device {} "
              "--table T.oplat', and use --table T.oplat",
              base::printable(file), base::printable(base::join(searched, ", "), 400),
              base::printable(name.hardware));
}

Result<std::string> table_path(const TableName& file_or_name, const std::string& table_dir) {
  std::error_code error;
  if (!is_table_name(file_or_name.hardware) || fs::exists(file_or_name.hardware, error))
    return file_or_name.hardware;
  OPLAT_TRY(path, find_table_file(file_or_name, table_dir));
  return path.string();
}

}  // namespace oplat::compat::paddleslim
