// SPDX-License-Identifier: Apache-2.0
/// Finding the files of a net and asking it for its queries.
#include "compat/mobile_vision/nets.hpp"

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
constexpr std::string_view kLfsHead = "version https://git-lfs.github.com/spec/";
constexpr std::uintmax_t kMaxPointer = 1024;

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

/// A pointer has some 130 bytes; what is large is none.
bool is_lfs_pointer(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > kMaxPointer) return false;
  const auto bytes = base::read_file(path, kMaxPointer);
  return bytes && bytes->starts_with(kLfsHead);
}

Result<fs::path> net_file(const fs::path& folder) {
  std::error_code error;
  for (const char* const name : {"model.pb", "model.pbtxt"}) {
    if (fs::is_regular_file(folder / name, error)) return folder / name;
  }
  return fail(
      Code::Input,
      "{}: holds neither model.pb nor model.pbtxt; give the folder of a Caffe2 net: model.pb with "
      "model_init.pb, or model.pbtxt with model_def.svg",
      folder.string());
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
  if (!bytes.starts_with(kLfsHead)) return {};
  return fail(Code::Input,
              "{}: is a Git LFS pointer, not the file itself; fetch the file with: git lfs pull",
              shown);
}

Result<LutNet> open_net(const std::string& path, const formats::ShapeOptions& shapes) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(file, error)) {
    OPLAT_TRY(found, net_file(file));
    file = found;
  }
  OPLAT_TRY(source, base::Source::open(file));
  OPLAT_CHECK(refuse_lfs_pointer(source.bytes(), file.string()));
  for (const char* const name : {"model_init.pb", "model_init.pbtxt", "model_def.svg"}) {
    const fs::path sibling = file.parent_path() / name;
    if (is_lfs_pointer(sibling))
      return fail(refuse_lfs_pointer(kLfsHead, sibling.string()).error());
  }
  OPLAT_TRY(queries, formats::caffe2::queries(source, shapes));
  return LutNet{path, std::move(queries)};
}

}  // namespace oplat::compat::mobile_vision
