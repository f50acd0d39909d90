// SPDX-License-Identifier: Apache-2.0
/// Finding the files of a net and asking it for its queries.
#include "compat/mobile_vision/nets.hpp"
#include "base/lfs.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"
#include "formats/caffe2.hpp"

namespace oplat::compat::mobile_vision {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInputRank = 16;
constexpr std::int64_t kMaxInputDim = std::int64_t{1} << 40;

Status refuse_pointer(std::string_view shown) {
  return fail(Code::Input,
              "{}: is a Git LFS pointer, not the file itself; fetch the file with: git lfs pull",
              shown);
}

Result<std::vector<std::int64_t>> dims_of(const std::string& name, const nlohmann::json& list) {
  const auto bad = [&] {
    return fail(Code::Usage,
                "--input_dims: {} is {}; expected a list of at most {} sizes of at least 1",
                base::printable(name), base::printable(list.dump(-1, ' ', true)), kMaxInputRank);
  };
  if (!list.is_array() || list.empty() || list.size() > kMaxInputRank) return bad();
  std::vector<std::int64_t> dims;
  for (const nlohmann::json& dim : list) {
    if (!dim.is_number_integer()) return bad();
    const auto size = dim.get<std::int64_t>();
    if (size < 1 || size > kMaxInputDim) return bad();
    dims.push_back(size);
  }
  return dims;
}

/// The net's file in the folder. A pointer of Git LFS is taken only if there is nothing else.
Result<fs::path> net_file(const fs::path& folder, std::vector<std::string>& warnings) {
  std::error_code error;
  fs::path pointer;
  for (const char* const name : {"model.pb", "model.pbtxt"}) {
    fs::path file = folder / name;
    if (!fs::is_regular_file(file, error)) continue;
    if (!base::is_lfs_pointer_file(file)) {
      if (!pointer.empty()) {
        warnings.push_back(fmt::format("{}: is a Git LFS pointer; {} is read in its place",
                                       pointer.string(), file.string()));
      }
      return file;
    }
    if (pointer.empty()) pointer = std::move(file);
  }
  if (!pointer.empty()) return pointer;
  return fail(
      Code::Input,
      "{}: holds neither model.pb nor model.pbtxt; give the folder of a Caffe2 net: model.pb with "
      "model_init.pb, or model.pbtxt with model_def.svg",
      folder.string());
}

/// Files that say the shapes of parameters. A pointer of Git LFS among them is an error only if
/// there is nothing else, else a warning.
Status check_companions(const fs::path& file, std::vector<std::string>& warnings) {
  std::error_code error;
  std::vector<fs::path> pointers;
  bool found = false;
  for (const char* const name : {"model_init.pb", "model_init.pbtxt", "model_def.svg"}) {
    const fs::path sibling = file.parent_path() / name;
    if (!fs::is_regular_file(sibling, error)) continue;
    if (base::is_lfs_pointer_file(sibling)) {
      pointers.push_back(sibling);
    } else {
      found = true;
    }
  }
  for (const fs::path& pointer : pointers) {
    if (!found) return refuse_pointer(pointer.string());
    warnings.push_back(fmt::format(
        "{}: is a Git LFS pointer; other files next to it say the shapes", pointer.string()));
  }
  return {};
}

}  // namespace

Result<formats::ShapeOptions> parse_input_dims(const std::string& text) {
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object() || parsed.empty()) {
    return fail(
        Code::Usage,
        R"(--input_dims {}: is not a JSON object of inputs and their sizes; expected {{"data": [1, 3, 224, 224]}})",
        base::printable(text));
  }
  formats::ShapeOptions options;
  for (const auto& [name, list] : parsed.items()) {
    OPLAT_TRY(dims, dims_of(name, list));
    options.shapes.emplace(name, std::move(dims));
  }
  return options;
}

Result<std::vector<std::string>> parse_model_paths(const std::vector<std::string>& texts) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    for (std::string& path : base::split(text, ',')) {
      if (path.empty())
        return fail(Code::Usage, "{}: a model has an empty name; expected DIR[,DIR]",
                    base::printable(text));
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

Status refuse_lfs_pointer(std::string_view bytes, std::string_view shown) {
  return base::is_lfs_pointer(bytes) ? refuse_pointer(shown) : Status();
}

Result<LutNet> open_net(const std::string& path, const formats::ShapeOptions& shapes) {
  std::error_code error;
  fs::path file = path;
  LutNet net;
  net.path = path;
  if (fs::is_directory(file, error)) {
    OPLAT_TRY(found, net_file(file, net.warnings));
    file = found;
  }
  OPLAT_TRY(source, base::Source::open(file));
  OPLAT_CHECK(refuse_lfs_pointer(source.bytes(), file.string()));
  OPLAT_CHECK(check_companions(file, net.warnings));
  OPLAT_TRY(queries, formats::caffe2::queries(source, shapes));
  net.queries = std::move(queries);
  return net;
}

}  // namespace oplat::compat::mobile_vision
