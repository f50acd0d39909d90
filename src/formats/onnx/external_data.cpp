// SPDX-License-Identifier: Apache-2.0
/// Bytes of weights: those in the model itself, and external data in files next to it.
///
/// External data are copied into the model, so that what is planned and measured is one message
/// that needs no file. Protobuf's messages end at 2 GiB, and language models do not: of a model
/// whose data are large, only what decides shapes and algorithms is copied (small tensors, and
/// integers that are all equal). The rest stays where it is, and the runtime maps the files. Memory
/// is then bounded by the graph, and keys are the same either way, since they hold no large values.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr int kExternal = 1;  // TensorProto.DataLocation.EXTERNAL

std::string entry(const wire::Tensor& tensor, std::string_view key) {
  for (const wire::StringEntry& e : tensor.external_data()) {
    if (e.key() == key) return e.value();
  }
  return {};
}

/// Calls visit(Tensor) for every tensor of a graph: initialisers and attributes, bodies included.
template <class GraphT, class Visit>
void each_tensor(GraphT& graph, const Visit& visit) {
  for (auto& tensor : graph.initializer()) visit(tensor);
  for (auto& sparse : graph.sparse_initializer()) visit(sparse.values()), visit(sparse.indices());
  for (auto& node : graph.node()) {
    for (auto& attribute : node.attribute()) {
      if (attribute.has_t()) visit(attribute.t());
      if (attribute.has_sparse_tensor()) {
        visit(attribute.sparse_tensor().values());
        visit(attribute.sparse_tensor().indices());
      }
      for (auto& tensor : attribute.tensors()) visit(tensor);
      if (attribute.has_g()) each_tensor(attribute.g(), visit);
      for (auto& body : attribute.graphs()) each_tensor(body, visit);
    }
  }
}

namespace fs = std::filesystem;

struct File {
  fs::path path;         // canonical
  std::string location;  // of the file, from KeptData::folder
  std::int64_t size = 0;
  std::ifstream stream = {};
};
struct Files {
  std::map<std::string, File> files;  // by the name that the model gives
  std::int64_t left = 0;              // bytes that tensors may still take
  bool keep_large = false;            // whether large tensors stay in their files
  std::int64_t kept_bytes = 0;
};
// Tied weights may share bytes; a small file that thousands of tensors point at would fill the
// memory.
constexpr std::int64_t kMaxShares = 8;
// From so many bytes on a model's data are not all copied, and a tensor of a model stays outside.
constexpr std::int64_t kMaxCopied = std::int64_t{512} << 20;
constexpr std::int64_t kLargeTensor = std::int64_t{1} << 20;

/// Hands bytes of the file to `take`, in pieces; false if it ends before or `take` says so.
template <class Take>
bool read_region(File& file, std::int64_t offset, std::int64_t length, const Take& take) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;
  if (!file.stream.is_open()) file.stream.open(file.path, std::ios::binary);
  file.stream.clear();
  file.stream.seekg(offset);
  std::string piece;
  while (length > 0) {
    piece.resize(static_cast<std::size_t>(std::min(length, kPiece)));
    if (!file.stream.read(piece.data(), static_cast<std::streamsize>(piece.size()))) return false;
    if (!take(piece)) return false;
    length -= static_cast<std::int64_t>(piece.size());
  }
  return true;
}

/// Whether integers at this place are all equal: keys say so, whatever their number.
bool all_equal(File& file, std::int64_t offset, std::int64_t length, std::size_t element) {
  std::string first;
  return read_region(file, offset, length, [&](const std::string& piece) {
    if (first.empty()) first = piece.substr(0, element);
    for (std::size_t i = 0; i < piece.size(); i += element) {
      if (piece.compare(i, element, first) != 0) return false;
    }
    return true;
  });
}

/// Whether the tensor's values are of no interest to keys.
bool may_stay(const wire::Tensor& tensor, File& file, std::int64_t offset, std::int64_t length) {
  if (length < kLargeTensor) return false;
  const auto dtype = dtype_of(tensor.data_type());
  if (!dtype) return false;
  if (ir::is_float(*dtype)) return true;
  // Lengths, axes and positions are wide integers; those of 8 bits and less are quantised weights.
  if (ir::bits(*dtype).value_or(64) > 8) return false;
  return !all_equal(file, offset, length, 1);
}

Status take_in(wire::Tensor& tensor, Files& files, const std::string& model) {
  const std::string location = entry(tensor, "location");
  File& file = files.files.at(location);
  const auto wrong = [&](std::string_view what) {
    return fail(Code::Input, "{}: tensor '{}' in '{}': {}", model, base::printable(tensor.name()),
                base::printable(location), what);
  };
  const std::string offset_text = entry(tensor, "offset");
  const std::string length_text = entry(tensor, "length");
  const auto offset =
      offset_text.empty() ? std::optional<std::int64_t>(0) : base::parse_int(offset_text);
  const auto wanted = dense_bytes(tensor);
  if (!wanted) return wrong("its type and dimensions have no size");
  const auto length = length_text.empty() ? wanted : base::parse_int(length_text);
  if (!offset || !length || *offset < 0 || *length < 0)
    return wrong("offset or length is not a number");
  if (*length != *wanted)
    return wrong(fmt::format("{} bytes announced, {} needed for its dimensions", *length, *wanted));
  if (*offset > file.size || *length > file.size - *offset) {
    return wrong(
        fmt::format("{} bytes from offset {} lie beyond the file's end at {}; the file is "
                    "truncated or another one",
                    *length, *offset, file.size));
  }
  if (files.keep_large && may_stay(tensor, file, *offset, *length)) {
    tensor.clear_external_data();
    const std::pair<const char*, std::string> entries[] = {{"location", file.location},
                                                           {"offset", std::to_string(*offset)},
                                                           {"length", std::to_string(*length)}};
    for (const auto& [key, value] : entries) {
      wire::StringEntry& made = *tensor.add_external_data();
      made.set_key(key);
      made.set_value(value);
    }
    files.kept_bytes += *length;
    return {};
  }
  if (*length > files.left)
    return wrong(
        fmt::format("the model's tensors take its bytes more than {} times over", kMaxShares));
  files.left -= *length;
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(*length));
  const bool read = read_region(file, *offset, *length, [&](const std::string& piece) {
    bytes += piece;
    return true;
  });
  if (!read) return wrong("cannot be read to its end");
  tensor.set_raw_data(std::move(bytes));
  tensor.clear_external_data();
  tensor.clear_data_location();
  return {};
}

Status take_in_graph(wire::Graph& graph, Files& files, const std::string& model) {
  const auto one = [&](wire::Tensor& tensor) -> Status {
    return tensor.data_location() == kExternal ? take_in(tensor, files, model) : Status{};
  };
  const auto both = [&](wire::SparseTensor& sparse) -> Status {
    OPLAT_CHECK(one(*sparse.mutable_values()));
    return one(*sparse.mutable_indices());
  };
  for (wire::Tensor& tensor : *graph.mutable_initializer()) OPLAT_CHECK(one(tensor));
  for (wire::SparseTensor& sparse : *graph.mutable_sparse_initializer()) OPLAT_CHECK(both(sparse));
  for (wire::Node& node : *graph.mutable_node()) {
    for (wire::Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) OPLAT_CHECK(one(*attribute.mutable_t()));
      if (attribute.has_sparse_tensor()) OPLAT_CHECK(both(*attribute.mutable_sparse_tensor()));
      for (wire::Tensor& tensor : *attribute.mutable_tensors()) OPLAT_CHECK(one(tensor));
      if (attribute.has_g()) OPLAT_CHECK(take_in_graph(*attribute.mutable_g(), files, model));
      for (wire::Graph& body : *attribute.mutable_graphs())
        OPLAT_CHECK(take_in_graph(body, files, model));
    }
  }
  return {};
}

}  // namespace

Status check_own_data(const wire::Model& model, const std::string& file) {
  Status status;
  each_tensor(model.graph(), [&](const wire::Tensor& tensor) {
    if (!status || !tensor.has_raw_data() || tensor.data_location() == kExternal) return;
    const auto wanted = dense_bytes(tensor);
    const auto size = static_cast<std::int64_t>(tensor.raw_data().size());
    if (!wanted || size == *wanted) return;
    status = fail(Code::Input, "{}: tensor '{}' holds {} bytes, its type and dimensions take {}",
                  file, base::printable(tensor.name()), size, *wanted);
  });
  return status;
}

Result<std::vector<std::string>> external_files(const wire::Model& model, const std::string& file) {
  constexpr std::size_t kMaxFiles = std::size_t{1} << 16U;
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  each_tensor(model.graph(), [&](const wire::Tensor& tensor) {
    if (tensor.data_location() != kExternal || known.size() > kMaxFiles) return;
    const auto [location, is_new] = known.insert(entry(tensor, "location"));
    if (is_new) names.push_back(*location);
  });
  if (names.size() > kMaxFiles)
    return fail(
        Code::Input,
        "{}: keeps its data in more than {} files; save them in one, as onnx.save_model does "
        "with all_tensors_to_one_file=True",
        file, kMaxFiles);
  return names;
}

namespace {

/// The file behind a name that the model gives. `folder`: where it lies; empty: next to the model.
Result<fs::path> data_path(const base::Source& source, const std::string& name,
                           const fs::path& folder) {
  if (!folder.empty()) return folder / name;  // that of a model of our own
  OPLAT_TRY(path, source.sibling_path(name));
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return fail(Code::Input, "{}: names the file '{}', which is not a regular file", source.name(),
                base::printable(name));
  }
  if (base::is_lfs_pointer_file(path)) {
    return fail(Code::Input,
                "{}: names the file '{}', which is a Git LFS pointer, not the data; fetch it with: "
                "git lfs pull",
                source.name(), base::printable(name));
  }
  return path;
}

/// The folder that all of these files are in or below.
fs::path common_folder(const Files& files) {
  fs::path folder;
  for (const auto& [name, file] : files.files) {
    if (folder.empty()) folder = file.path.parent_path();
    while (folder.has_relative_path()) {
      const fs::path relative = file.path.lexically_relative(folder);
      if (!relative.empty() && *relative.begin() != "..") break;
      folder = folder.parent_path();
    }
  }
  return folder;
}

/// Bytes that the model's external tensors take, each counted.
std::int64_t external_bytes(const wire::Model& model) {
  std::int64_t sum = 0;
  each_tensor(model.graph(), [&sum](const wire::Tensor& tensor) {
    if (tensor.data_location() != kExternal) return;
    const std::int64_t bytes = dense_bytes(tensor).value_or(0);
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = std::numeric_limits<std::int64_t>::max();
  });
  return sum;
}

}  // namespace

Result<KeptData> take_in_external_data(wire::Model& model, const base::Source& source,
                                       const fs::path& folder) {
  Files files;
  OPLAT_TRY(names, external_files(model, source.name()));
  for (const std::string& name : names) {
    OPLAT_TRY(path, data_path(source, name, folder));
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) {
      return fail(Code::Input, "{}: names the file '{}', which cannot be read: {}", source.name(),
                  base::printable(name), error.message());
    }
    File file{path, {}, static_cast<std::int64_t>(size)};
    files.left += kMaxShares * file.size;
    files.files.emplace(name, std::move(file));
  }
  KeptData kept;
  files.keep_large = external_bytes(model) > kMaxCopied;
  if (files.keep_large) {
    kept.folder = common_folder(files);
    for (auto& [name, file] : files.files)
      file.location = file.path.lexically_relative(kept.folder).string();
  }
  OPLAT_CHECK(take_in_graph(*model.mutable_graph(), files, source.name()));
  kept.bytes = files.kept_bytes;
  return kept;
}

}  // namespace oplat::formats::onnx
