// SPDX-License-Identifier: Apache-2.0
/// Bytes of weights: those in the model itself, and external data in files beside it.
#include <algorithm>
#include <map>
#include <optional>

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
  for (auto& node : graph.node()) {
    for (auto& attribute : node.attribute()) {
      if (attribute.has_t()) visit(attribute.t());
      for (auto& tensor : attribute.tensors()) visit(tensor);
      if (attribute.has_g()) each_tensor(attribute.g(), visit);
      for (auto& body : attribute.graphs()) each_tensor(body, visit);
    }
  }
}

struct Files {
  std::map<std::string, std::string> bytes;  // by name
  std::int64_t left = 0;                     // bytes that tensors may still take
};
// Tied weights may share bytes; a small file that thousands of tensors point at would fill the
// memory.
constexpr std::int64_t kMaxShares = 8;

Status take_in(wire::Tensor& tensor, Files& files, const std::string& model) {
  const std::string location = entry(tensor, "location");
  const std::string& data = files.bytes.at(location);
  const auto wrong = [&](std::string_view what) {
    return fail(Code::Input, "{}: tensor '{}' in '{}': {}", model, base::printable(tensor.name()),
                location, what);
  };
  const std::string offset_text = entry(tensor, "offset");
  const std::string length_text = entry(tensor, "length");
  const auto offset =
      offset_text.empty() ? std::optional<std::int64_t>(0) : base::parse_int(offset_text);
  const auto wanted = dense_bytes(tensor);
  if (!wanted) return wrong("its type and dimensions have no size");
  const auto length = length_text.empty() ? wanted : base::parse_int(length_text);
  if (!offset || !length || *offset < 0 || *length < 0)
    return wrong("offset or length is no number");
  if (*length != *wanted)
    return wrong(fmt::format("{} bytes announced, {} needed for its dimensions", *length, *wanted));
  const auto size = static_cast<std::int64_t>(data.size());
  if (*offset > size || *length > size - *offset) {
    return wrong(
        fmt::format("{} bytes from offset {} lie beyond the file's end at {}; the file is "
                    "truncated or another one",
                    *length, *offset, size));
  }
  if (*length > files.left)
    return wrong(
        fmt::format("the model's tensors take its bytes more than {} times over", kMaxShares));
  files.left -= *length;
  tensor.set_raw_data(
      data.substr(static_cast<std::size_t>(*offset), static_cast<std::size_t>(*length)));
  tensor.clear_external_data();
  tensor.clear_data_location();
  return {};
}

Status take_in_graph(wire::Graph& graph, Files& files, const std::string& model) {
  const auto one = [&](wire::Tensor& tensor) -> Status {
    return tensor.data_location() == kExternal ? take_in(tensor, files, model) : Status{};
  };
  for (wire::Tensor& tensor : *graph.mutable_initializer()) OPLAT_CHECK(one(tensor));
  for (wire::Node& node : *graph.mutable_node()) {
    for (wire::Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) OPLAT_CHECK(one(*attribute.mutable_t()));
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

std::vector<std::string> external_files(const wire::Model& model) {
  std::vector<std::string> names;
  each_tensor(model.graph(), [&](const wire::Tensor& tensor) {
    if (tensor.data_location() != kExternal) return;
    std::string location = entry(tensor, "location");
    if (std::find(names.begin(), names.end(), location) == names.end())
      names.push_back(std::move(location));
  });
  return names;
}

Status take_in_external_data(wire::Model& model, const base::Source& source) {
  Files files;
  for (const std::string& name : external_files(model)) {
    OPLAT_TRY(bytes, source.sibling(name));
    files.left += kMaxShares * static_cast<std::int64_t>(bytes.size());
    files.bytes.emplace(name, std::move(bytes));
  }
  return take_in_graph(*model.mutable_graph(), files, source.name());
}

}  // namespace oplat::formats::onnx
