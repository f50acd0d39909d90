// SPDX-License-Identifier: Apache-2.0
/// Model: load, name, write.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

void name_graph(wire::Graph& graph, const std::string& prefix) {
  for (int i = 0; i < graph.node_size(); ++i) {
    wire::Node& node = *graph.mutable_node(i);
    node.set_name(prefix + std::to_string(i));
    int body = 0;
    for (wire::Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        name_graph(*attribute.mutable_g(), fmt::format("{}_{}_", node.name(), body++));
      for (wire::Graph& g : *attribute.mutable_graphs())
        name_graph(g, fmt::format("{}_{}_", node.name(), body++));
    }
  }
}

void add_titles(const wire::Graph& graph, std::vector<ir::NodeTitle>& titles) {
  for (const wire::Node& node : graph.node()) {
    titles.push_back({own_domain(node.domain()), node.op_type(), node.name()});
    for (const wire::Attribute& attribute : node.attribute()) {
      if (attribute.has_g()) add_titles(attribute.g(), titles);
      for (const wire::Graph& g : attribute.graphs()) add_titles(g, titles);
    }
  }
}

/// A number of protobuf's wire format at `at`, which moves behind it; std::nullopt where it is cut.
std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) return number;
  }
  return std::nullopt;
}

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80U; number >>= 7U) out.push_back(static_cast<char>(number | 0x80U));
  out.push_back(static_cast<char>(number));
}

enum class Part { Model, Graph, Tensor };

/// Whether the message of a tensor says that its elements are floats.
bool is_float_tensor(std::string_view bytes) {
  constexpr std::uint64_t kDataTypeOfTensor = 2;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto tag = read_varint(bytes, at);
    if (!tag) return false;
    const std::uint64_t type = *tag & 7U;
    if (type == 0) {
      const auto number = read_varint(bytes, at);
      if (!number) return false;
      if (*tag >> 3U != kDataTypeOfTensor) continue;
      const auto dtype = dtype_of(static_cast<int>(*number));
      return dtype && ir::is_float(*dtype);
    }
    const auto length = type == 2   ? read_varint(bytes, at)
                        : type == 1 ? std::optional<std::uint64_t>(8)
                        : type == 5 ? std::optional<std::uint64_t>(4)
                                    : std::nullopt;
    if (!length || *length > bytes.size() - at) return false;
    at += static_cast<std::size_t>(*length);
  }
  return false;
}

/// The message without the numbers of large initialisers. What is not a message comes back as it
/// is: the parser says what is wrong with it.
std::string without_weights(std::string_view bytes, Part part, Model::Left left) {
  if (part == Part::Tensor && left == Model::Left::Integers && !is_float_tensor(bytes))
    return std::string(bytes);
  constexpr std::uint64_t kLengthDelimited = 2;
  constexpr std::uint64_t kGraphOfModel = 7;
  constexpr std::uint64_t kInitializerOfGraph = 5;
  constexpr std::uint64_t kLargeBytes = 4096;
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    const auto tag = read_varint(bytes, at);
    const std::uint64_t type = tag.value_or(7) & 7U;
    const std::uint64_t field = tag.value_or(0) >> 3U;
    std::optional<std::uint64_t> length;
    if (type == 0 && read_varint(bytes, at)) length = 0;
    if (type == 1) length = 8;
    if (type == 5) length = 4;
    if (type == kLengthDelimited) length = read_varint(bytes, at);
    if (!length || *length > bytes.size() - at) return std::string(bytes);
    const std::string_view content = bytes.substr(at, static_cast<std::size_t>(*length));
    at += content.size();
    const bool inner =
        type == kLengthDelimited &&
        ((part == Part::Model && field == kGraphOfModel) ||
         (part == Part::Graph && field == kInitializerOfGraph && *length > kLargeBytes));
    if (inner) {
      const std::string less =
          without_weights(content, part == Part::Model ? Part::Graph : Part::Tensor, left);
      append_varint(out, *tag);
      append_varint(out, less.size());
      out += less;
    } else if (part != Part::Tensor || type != kLengthDelimited || *length <= kLargeBytes) {
      out += bytes.substr(begin, at - begin);
    }
  }
  return out;
}

}  // namespace

Result<wire::Model> parse_model(const base::Source& source) {
  const std::string& bytes = source.bytes();
  if (bytes.empty())
    return fail(Code::Input, "{}: the file is empty, no ONNX model", source.name());
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(Code::Input,
                "{}: above protobuf's limit of 2 GiB; save the weights as external data",
                source.name());
  }
  wire::Model model;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return fail(
        Code::Input,
        "{}: no ONNX model, or a truncated one: its bytes stop making sense near offset {} of {}",
        source.name(), coded.CurrentPosition(), bytes.size());
  }
  if (!model.has_graph() || model.opset_import_size() == 0) {
    return fail(Code::Input, "{}: no ONNX model: it holds no {}", source.name(),
                model.has_graph() ? "operator-set version (opset_import)" : "graph");
  }
  // A graph without nodes hands its inputs or constants on, and a runtime runs it: what is left
  // where all was folded.
  if (model.graph().node_size() == 0 && model.graph().output_size() == 0)
    return fail(Code::Input, "{}: the model's graph holds neither nodes nor outputs",
                source.name());
  return model;
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result<Model> Model::load(const base::Source& source, const std::filesystem::path& data_folder) {
  OPLAT_TRY(parsed, parse_model(source));
  OPLAT_CHECK(check_own_data(parsed, source.name()));
  OPLAT_TRY(external, take_in_external_data(parsed, source, data_folder));
  OPLAT_CHECK(check_sparse(parsed, source.name()));
  auto impl = std::make_unique<Impl>();
  impl->name = source.name();
  impl->model = std::move(parsed);
  impl->external = std::move(external);
  return Model(std::move(impl));
}

bool Model::is_self_contained() const {
  bool sparse = false;
  each_sparse(impl_->model.graph(), [&](const wire::SparseTensor&) { sparse = true; });
  if (sparse) return false;
  const auto files = external_files(impl_->model, impl_->name);
  return files && files->empty();
}

Result<Model> Model::load_structure(const base::Source& source, Left left) {
  OPLAT_TRY(parsed, parse_model(base::Source::from_bytes(
                        source.name(), without_weights(source.bytes(), Part::Model, left))));
  auto impl = std::make_unique<Impl>();
  impl->name = source.name();
  impl->model = std::move(parsed);
  return Model(std::move(impl));
}

std::optional<std::vector<std::int64_t>> Model::constant_integers(const std::string& tensor,
                                                                  std::int64_t most) const {
  const auto integers = [&](const wire::Tensor& found) {
    std::optional<std::vector<std::int64_t>> numbers;
    const auto elements = small_elements(found, most);
    if (!elements) return numbers;
    numbers.emplace();
    for (const ir::Value& element : *elements) {
      if (element.integer() == nullptr) return std::optional<std::vector<std::int64_t>>();
      numbers->push_back(*element.integer());
    }
    return numbers;
  };
  for (const wire::Tensor& found : impl_->model.graph().initializer())
    if (found.name() == tensor) return integers(found);
  for (const wire::Node& node : impl_->model.graph().node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1 || node.output(0) != tensor)
      continue;
    for (const wire::Attribute& attribute : node.attribute())
      if (attribute.has_t()) return integers(attribute.t());
  }
  return std::nullopt;
}

void Model::also_output(const std::vector<std::string>& tensors) {
  wire::Graph& graph = *impl_->model.mutable_graph();
  for (const std::string& name : tensors) {
    const bool there =
        std::any_of(graph.output().begin(), graph.output().end(),
                    [&](const wire::ValueInfo& info) { return info.name() == name; });
    if (!there) graph.add_output()->set_name(name);
  }
}

Result<std::vector<InputInfo>> Model::inputs() const {
  return input_infos(impl_->model, impl_->name);
}
Status Model::specialise(const ShapeOptions& options) {
  const auto named = batch_dimension(impl_->model);
  OPLAT_TRY(fixed, specialise_inputs(impl_->model, impl_->name, options));
  impl_->fixed_batch = fixed;
  impl_->batch = options.batch;
  if (!impl_->batch && named) {
    const wire::ValueInfo& input = impl_->model.graph().input(named->first);
    impl_->batch = input.type().tensor_type().shape().dim(named->second).dim_value();
  }
  return {};
}
std::optional<std::int64_t> Model::named_batch() const { return impl_->batch; }
std::optional<std::int64_t> Model::fixed_batch() const { return impl_->fixed_batch; }
std::vector<ir::NodeTitle> Model::nodes() const {
  std::vector<ir::NodeTitle> titles;
  add_titles(impl_->model.graph(), titles);
  return titles;
}
std::vector<NodeEnds> Model::node_ends() const {
  std::vector<NodeEnds> found;
  for (const wire::Node& node : impl_->model.graph().node()) {
    const bool bodied = std::any_of(node.attribute().begin(), node.attribute().end(),
                                    [](const wire::Attribute& attribute) {
                                      return attribute.has_g() || attribute.graphs_size() > 0;
                                    });
    found.push_back({node.name(),
                     node.op_type(),
                     {node.input().begin(), node.input().end()},
                     {node.output().begin(), node.output().end()},
                     bodied});
  }
  return found;
}
void Model::name_nodes() { name_graph(*impl_->model.mutable_graph(), "n"); }
const std::string& Model::name() const { return impl_->name; }
Result<ir::Graph> Model::graph() const { return build_graph(impl_->model, impl_->name); }

std::string Model::data_folder() const {
  return impl_->external.bytes > 0 ? impl_->external.folder.string() : std::string();
}
std::int64_t Model::data_bytes() const { return impl_->external.bytes; }

Result<std::string> Model::bytes() const {
  if (impl_->model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(
        Code::Input,
        "{}: with the weights that it holds itself the model is above protobuf's limit of 2 "
        "GiB; save the weights as external data",
        impl_->name);
  }
  return impl_->model.SerializeAsString();
}

}  // namespace oplat::formats::onnx
