// SPDX-License-Identifier: Apache-2.0
/// The parsed message as an ir::Graph.
#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"
#include "ir/catalogue.hpp"
#include "ir/parameters.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr int kMaxNestedBodies = 32;  // of nested bodies: far beyond real models, below any stack
constexpr std::int64_t kSmallIntegers =
    64;  // DESIGN: integer constants of up to 64 elements are printed
constexpr std::int64_t kSmallFloats = 16;

/// Attribute types of the wire format.
enum AttributeType {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8
};

/// A small tensor attribute as text that write_kernel_model() reads back: "tensor:f32c[1]=[0.0]".
std::string tensor_text(const wire::Tensor& tensor) {
  ir::TensorEntry entry;
  entry.dtype = dtype_of(tensor.data_type()).value_or(ir::Dtype::Any);
  entry.constant = true;
  for (const std::int64_t dim : tensor.dims())
    entry.shape.dims.emplace_back(std::max<std::int64_t>(0, dim));
  if (auto elements = small_elements(tensor, kSmallFloats))
    entry.value = ir::Value(std::move(*elements));
  ir::Key carrier;
  carrier.op = "T";
  carrier.operands.emplace_back(std::move(entry));
  const std::string text = ir::print(carrier);
  const std::size_t begin = text.find('(') + 1;
  return "tensor:" + text.substr(begin, text.rfind(")->") - begin);
}

std::optional<ir::Value> attribute_value(const wire::Attribute& a) {
  switch (a.type()) {
    case kFloat:
      return ir::Value(static_cast<double>(a.f()));
    case kInt:
      return ir::Value(std::int64_t{a.i()});
    case kString:
      return ir::Value(a.s());
    case kTensor:
      return ir::Value(tensor_text(a.t()));
    case kFloats: {
      ir::List list;
      for (const float f : a.floats()) list.emplace_back(static_cast<double>(f));
      return ir::Value(std::move(list));
    }
    case kInts: {
      ir::List list;
      for (const std::int64_t i : a.ints()) list.emplace_back(i);
      return ir::Value(std::move(list));
    }
    case kStrings: {
      ir::List list;
      for (const std::string& s : a.strings()) list.emplace_back(s);
      return ir::Value(std::move(list));
    }
    default:
      return std::nullopt;
  }
}

ir::Shape shape_of(const wire::TensorType& type) {
  ir::Shape shape;
  shape.ranked = type.has_shape();
  for (const wire::Dimension& dim : type.shape().dim()) {
    shape.dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? ir::Dim(dim.dim_value())
                                                                     : ir::Dim());
  }
  return shape;
}

/// The tensor that an attribute of a Constant node other than "value" stands for.
std::optional<wire::Tensor> short_constant(const wire::Attribute& a) {
  wire::Tensor tensor;
  if (a.name() == "value_int" || a.name() == "value_ints") {
    tensor.set_data_type(onnx_type_of(ir::Dtype::I64));
    *tensor.mutable_int64_data() = a.ints();
    if (a.name() == "value_int") tensor.add_int64_data(a.i());
  } else if (a.name() == "value_float" || a.name() == "value_floats") {
    tensor.set_data_type(onnx_type_of(ir::Dtype::F32));
    *tensor.mutable_float_data() = a.floats();
    if (a.name() == "value_float") tensor.add_float_data(a.f());
  } else {
    return std::nullopt;
  }
  if (a.name().ends_with('s'))
    tensor.add_dims(std::max(tensor.int64_data_size(), tensor.float_data_size()));
  return tensor;
}

class Builder {
 public:
  /// `overridable`: whether an initialiser that is also an input is none of the constants.
  Builder(const wire::Graph& source, const std::map<std::string, std::int64_t>& opsets,
          bool overridable, const Builder* outer, const std::string& file)
      : source_(source), overridable_(overridable), outer_(outer), file_(file) {
    graph_.opsets = opsets;
    graph_.name = source.name();
  }

  Result<ir::Graph> build(int depth) {
    if (depth > kMaxNestedBodies)
      return fail(Code::Input, "{}: bodies are nested more than {} deep", file_, kMaxNestedBodies);
    for (const wire::Tensor& tensor : source_.initializer()) add_constant(tensor.name(), tensor);
    for (const wire::SparseTensor& sparse : source_.sparse_initializer())
      add_constant(sparse.values().name(), dense_form(sparse));
    for (const wire::ValueInfo& info : source_.input()) {
      const bool initialised = ids_.contains(info.name());
      const ir::TensorId id = define(info.name());
      if (initialised) {
        ir::TensorInfo& tensor = graph_.tensors[static_cast<std::size_t>(id)];
        tensor.overridable = overridable_;
        tensor.constant = !overridable_;
        continue;
      }
      annotate(id, info);
      graph_.inputs.push_back(id);
    }
    for (const wire::Node& node : source_.node()) OPLAT_CHECK(add_node(node, depth));
    for (const wire::ValueInfo& info : source_.value_info()) annotate_known(info);
    for (const wire::ValueInfo& info : source_.output()) {
      annotate_known(info);
      const ir::TensorId id = use(info.name());
      if (id == ir::kNoTensor) {
        return fail(Code::Input, "{}: the graph's output '{}' is produced by nothing", file_,
                    base::printable(info.name()));
      }
      graph_.outputs.push_back(id);
    }
    return std::move(graph_);
  }

  /// Tensors of the enclosing graph that this body reads, by name.
  const std::vector<std::string>& captured() const { return captured_; }

 private:
  ir::TensorId define(const std::string& name) {
    const auto [at, added] = ids_.emplace(name, static_cast<ir::TensorId>(graph_.tensors.size()));
    if (added) {
      graph_.tensors.emplace_back();
      graph_.tensors.back().name = name;
      graph_.tensors.back().shape.ranked = false;
    }
    return at->second;
  }

  const ir::TensorInfo* find(const std::string& name) const {
    const auto at = ids_.find(name);
    if (at != ids_.end()) return &graph_.tensors[static_cast<std::size_t>(at->second)];
    return outer_ != nullptr ? outer_->find(name) : nullptr;
  }

  /// The tensor of this name, taken over from an enclosing graph if need be; kNoTensor where nobody
  /// defines it.
  ir::TensorId use(const std::string& name) {
    const auto at = ids_.find(name);
    if (at != ids_.end()) return at->second;
    const ir::TensorInfo* found = outer_ != nullptr ? outer_->find(name) : nullptr;
    if (found == nullptr) return ir::kNoTensor;
    const ir::TensorInfo copy = *found;
    const ir::TensorId id = define(name);
    graph_.tensors[static_cast<std::size_t>(id)] = copy;
    graph_.tensors[static_cast<std::size_t>(id)].outer = true;
    captured_.push_back(name);
    return id;
  }

  void annotate(ir::TensorId id, const wire::ValueInfo& info) {
    if (!info.type().has_tensor_type()) return;
    ir::TensorInfo& tensor = graph_.tensors[static_cast<std::size_t>(id)];
    tensor.dtype = dtype_of(info.type().tensor_type().elem_type());
    tensor.shape = shape_of(info.type().tensor_type());
  }
  void annotate_known(const wire::ValueInfo& info) {
    const auto at = ids_.find(info.name());
    if (at == ids_.end()) return;
    const ir::TensorInfo& tensor = graph_.tensors[static_cast<std::size_t>(at->second)];
    if (!tensor.constant && !tensor.overridable && !tensor.dtype) annotate(at->second, info);
  }

  void add_constant(const std::string& name, const wire::Tensor& tensor) {
    ir::TensorInfo& info = graph_.tensors[static_cast<std::size_t>(define(name))];
    info.constant = true;
    info.dtype = dtype_of(tensor.data_type());
    info.shape = ir::Shape{};
    for (const std::int64_t dim : tensor.dims())
      info.shape.dims.emplace_back(std::max<std::int64_t>(0, dim));
    info.constant_bytes = static_cast<std::uint64_t>(dense_bytes(tensor).value_or(0));
    // Two initialisers with the same bytes are two weights in memory unless they share a name, so
    // the name counts.
    info.constant_hash = base::hash64(name);
    const bool is_float = info.dtype && ir::is_float(*info.dtype);
    if (auto elements = small_elements(tensor, is_float ? kSmallFloats : kSmallIntegers)) {
      info.small_value = ir::Value(std::move(*elements));
    } else if (info.dtype && !is_float) {
      // Zero points of many channels mostly are all zero, and a runtime picks its algorithm by
      // that.
      if (auto element = equal_element(tensor))
        info.small_value = ir::Value(ir::List{std::move(*element)});
    }
  }

  Status add_node(const wire::Node& node, int depth) {
    ir::Node out;
    out.name = node.name();
    out.domain = own_domain(node.domain());
    out.op = node.op_type();
    const auto version = graph_.opsets.find(out.domain);
    if (version != graph_.opsets.end())
      out.since = ir::since_version(out.domain, out.op, version->second);
    for (const std::string& input : node.input()) {
      const ir::TensorId id = input.empty() ? ir::kNoTensor : use(input);
      if (!input.empty() && id == ir::kNoTensor) {
        return fail(Code::Input, "{}: node '{}' ({}) reads '{}', which nothing before it produces",
                    file_, base::printable(node.name()), base::printable(node.op_type()),
                    base::printable(input));
      }
      out.inputs.push_back(id);
    }
    for (const wire::Attribute& attribute : node.attribute()) {
      if (attribute.has_g()) {
        OPLAT_CHECK(add_body(out, attribute.name(), attribute.g(), depth));
      } else if (auto value = attribute_value(attribute)) {
        out.attributes.emplace_back(attribute.name(), std::move(*value));
      }
    }
    ir::summarise_parameters(out.domain, out.op, out.attributes);
    for (const std::string& output : node.output()) {
      if (!output.empty() && ids_.contains(output)) {
        return fail(Code::Input, "{}: '{}' is produced twice", file_, base::printable(output));
      }
      out.outputs.push_back(output.empty() ? ir::kNoTensor : define(output));
    }
    // A Constant node is an initialiser in other words; no runtime executes it.
    if (out.domain.empty() && out.op == "Constant" && node.output_size() == 1) {
      for (const wire::Attribute& attribute : node.attribute()) {
        if (attribute.has_t()) {
          add_constant(node.output(0), attribute.t());
        } else if (attribute.has_sparse_tensor()) {
          add_constant(node.output(0), dense_form(attribute.sparse_tensor()));
        } else if (const auto tensor = short_constant(attribute)) {
          add_constant(node.output(0), *tensor);
        }
      }
    }
    graph_.nodes.push_back(std::move(out));
    return {};
  }

  Status add_body(ir::Node& node, const std::string& attribute, const wire::Graph& source,
                  int depth) {
    Builder builder(source, graph_.opsets, overridable_, this, file_);
    OPLAT_TRY(body, builder.build(depth + 1));
    for (const std::string& name : builder.captured()) {
      const ir::TensorId id = use(name);
      if (id != ir::kNoTensor &&
          std::find(node.captured.begin(), node.captured.end(), id) == node.captured.end()) {
        node.captured.push_back(id);
      }
    }
    node.bodies.emplace_back(attribute, std::make_shared<const ir::Graph>(std::move(body)));
    return {};
  }

  const wire::Graph& source_;
  bool overridable_;
  const Builder* outer_;
  const std::string& file_;
  ir::Graph graph_;
  std::unordered_map<std::string, ir::TensorId> ids_;
  std::vector<std::string> captured_;
};

}  // namespace

Result<ir::Graph> build_graph(const wire::Model& model, const std::string& file) {
  std::map<std::string, std::int64_t> opsets;
  for (const wire::OperatorSet& set : model.opset_import()) {
    opsets[own_domain(set.domain())] = set.version();
  }
  // Up to IR version 3 every initialiser had to be an input and was a constant all the same; since
  // then one that is listed may be replaced by the caller, and no runtime packs it ahead.
  constexpr std::int64_t kFirstOverridable = 4;
  const bool overridable = model.ir_version() >= kFirstOverridable;
  return Builder(model.graph(), opsets, overridable, nullptr, file).build(0);
}

}  // namespace oplat::formats::onnx
