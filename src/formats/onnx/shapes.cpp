// SPDX-License-Identifier: Apache-2.0
/// Open dimensions of a model's inputs, fixed by --shape and --batch.
#include <algorithm>
#include <map>
#include <set>

#include "base/name_value.hpp"
#include "base/text.hpp"
#include "formats/onnx/dimensions.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

std::set<std::string> initialiser_names(const wire::Graph& graph) {
  std::set<std::string> names;
  for (const wire::Tensor& tensor : graph.initializer()) names.insert(tensor.name());
  for (const wire::SparseTensor& sparse : graph.sparse_initializer())
    names.insert(sparse.values().name());
  return names;
}

std::string shape_text(const wire::TensorShape& shape) {
  std::vector<std::string> parts;
  for (const wire::Dimension& dim : shape.dim()) {
    if (dim.has_dim_value()) {
      parts.push_back(std::to_string(dim.dim_value()));
    } else {
      parts.push_back(dim.dim_param().empty() ? "?" : base::printable(dim.dim_param(), 24));
    }
  }
  return fmt::format("[{}]", base::join(parts, ", "));
}

bool open(const wire::Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; }

/// Whether a symbolic name is the customary one of a batch dimension. A product or sum with it is
/// not: "batch * heads" follows from the batch.
bool batch_name(std::string name) {
  if (!DimensionSum::parse(name).is_name()) return false;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return name == "n" || name == "b" || name == "bs" || name.find("batch") != std::string::npos;
}

/// Applies one --shape to one input.
Status apply_shape(wire::ValueInfo& input, const std::vector<std::int64_t>& dims,
                   Dimensions& symbols, const std::string& file) {
  wire::TensorType& type = *input.mutable_type()->mutable_tensor_type();
  if (type.has_shape() && type.shape().dim_size() != static_cast<int>(dims.size())) {
    return fail(Code::Usage, "{}: --shape {}={} has {} dimensions, the input has {}: {}", file,
                base::printable(input.name()), fmt::join(dims, "x"), dims.size(),
                type.shape().dim_size(), shape_text(type.shape()));
  }
  wire::TensorShape& shape = *type.mutable_shape();
  while (shape.dim_size() < static_cast<int>(dims.size())) shape.add_dim();
  for (int i = 0; i < shape.dim_size(); ++i) {
    wire::Dimension& dim = *shape.mutable_dim(i);
    const std::int64_t wanted = dims[static_cast<std::size_t>(i)];
    if (!open(dim) && dim.dim_value() != wanted) {
      return fail(Code::Usage,
                  "{}: --shape {}={} asks for {} where the model fixes {} (dimension {} of {})",
                  file, base::printable(input.name()), fmt::join(dims, "x"), wanted,
                  dim.dim_value(), i, shape_text(shape));
    }
    if (open(dim) && !dim.dim_param().empty())
      OPLAT_CHECK(symbols.set(dim.dim_param(), wanted, input.name()));
    dim.set_dim_value(wanted);
  }
  return {};
}

std::vector<wire::ValueInfo*> fed_inputs(wire::Graph& graph) {
  const std::set<std::string> initialisers = initialiser_names(graph);
  std::vector<wire::ValueInfo*> inputs;
  for (wire::ValueInfo& input : *graph.mutable_input()) {
    if (!initialisers.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

/// One dimension that --batch sets.
struct BatchDimension {
  std::string input;
  int index = 0;
  wire::Dimension* dim = nullptr;
};

/// Whether the name says batch in so many words: N and B are also numbers of points and of boxes.
bool is_called_batch(std::string name) {
  if (!batch_name(name)) return false;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return name.find("batch") != std::string::npos;
}

/// What says that a dimension behind the first is the batch.
struct BatchSigns {
  std::set<std::string> leading;    ///< names that some input begins with
  std::set<std::string> recurrent;  ///< inputs that have time first and the batch second

  [[nodiscard]] bool have(const BatchDimension& one) const {
    const std::string& name = one.dim->dim_param();
    return is_called_batch(name) || leading.contains(name) ||
           (one.index == 1 && recurrent.contains(one.input));
  }
};

/// The inputs that a recurrent operator reads as its data.
std::set<std::string> recurrent_inputs(const wire::Graph& graph) {
  std::set<std::string> names;
  for (const wire::Node& node : graph.node()) {
    const bool recurrent =
        node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN";
    if (recurrent && node.input_size() > 0) names.insert(node.input(0));
  }
  return names;
}

/// Of the model as it is before any --shape, which takes names away.
BatchSigns batch_signs(const wire::Graph& graph, const std::vector<wire::ValueInfo*>& inputs) {
  BatchSigns signs{{}, recurrent_inputs(graph)};
  for (const wire::ValueInfo* input : inputs) {
    const wire::TensorShape& shape = input->type().tensor_type().shape();
    if (shape.dim_size() > 0 && open(shape.dim(0))) signs.leading.insert(shape.dim(0).dim_param());
  }
  return signs;
}

/// Open dimensions, of which `takes` says which count.
template <class Takes>
std::vector<BatchDimension> open_dimensions(const std::vector<wire::ValueInfo*>& inputs,
                                            const Takes& takes) {
  std::vector<BatchDimension> found;
  for (wire::ValueInfo* input : inputs) {
    // An input of unknown rank stays one: an empty shape would make it a scalar.
    if (!input->type().tensor_type().has_shape()) continue;
    wire::TensorShape& shape = *input->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      const BatchDimension one{input->name(), i, shape.mutable_dim(i)};
      if (open(*one.dim) && takes(one)) found.push_back(one);
    }
  }
  return found;
}

/// Whether its name is customary for a batch, wherever it is.
bool has_batch_name(const BatchDimension& one) { return batch_name(one.dim->dim_param()); }

/// Whether it comes first in its input.
bool is_leading(const BatchDimension& one) { return one.index == 0; }

/// Open dimensions that are the batch by name and place, else the leading open dimension of each
/// input.
std::vector<BatchDimension> open_batch(const std::vector<wire::ValueInfo*>& inputs,
                                       const BatchSigns& signs) {
  const auto named = open_dimensions(inputs, [&](const BatchDimension& one) {
    return has_batch_name(one) && (is_leading(one) || signs.have(one));
  });
  return named.empty() ? open_dimensions(inputs, is_leading) : named;
}

/// Whether inputs without open dimensions have this batch. One input that happens to begin with the
/// number says nothing of the others; one of a single dimension says nothing at all, next to
/// others.
bool begin_with(const std::vector<wire::ValueInfo*>& inputs, std::int64_t batch) {
  bool any = false;
  bool all = true;
  bool any_of_many = false;
  for (const wire::ValueInfo* input : inputs) {
    const wire::TensorShape& shape = input->type().tensor_type().shape();
    if (shape.dim_size() == 0) continue;
    const bool begins = shape.dim(0).dim_value() == batch;
    any = any || begins;
    if (shape.dim_size() < 2) continue;
    any_of_many = true;
    all = all && begins;
  }
  return any_of_many ? all : any;
}

Status bind_everywhere(wire::Graph& graph, const Dimensions& symbols) {
  const auto one = [&](wire::ValueInfo& info) -> Status {
    if (!info.type().tensor_type().has_shape()) return {};
    for (wire::Dimension& dim :
         *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (dim.dim_param().empty()) continue;
      OPLAT_TRY(size, symbols.size(dim.dim_param()));
      if (size) dim.set_dim_value(*size);
    }
    return {};
  };
  for (wire::ValueInfo& info : *graph.mutable_input()) OPLAT_CHECK(one(info));
  // What a name would make of a result is not for us to refuse: the runtime infers results itself.
  for (wire::ValueInfo& info : *graph.mutable_output()) static_cast<void>(one(info));
  return {};
}

/// Where a model names its batch.
struct NamedBatch {
  BatchSigns signs;
  std::vector<BatchDimension> dims;  ///< that were open before any --shape
};

/// Sets the batch in open dimensions, else in those that the model fixes: what it fixed is the
/// result.
Result<std::optional<std::int64_t>> apply_batch(wire::Model& model,
                                                std::vector<wire::ValueInfo*>& inputs,
                                                const NamedBatch& named, std::int64_t batch,
                                                Dimensions& symbols, const std::string& file) {
  const std::optional<std::int64_t> nothing_rewritten;
  const std::vector<BatchDimension> still_open = open_batch(inputs, named.signs);
  for (const BatchDimension& one : still_open) {
    if (!one.dim->dim_param().empty())
      OPLAT_CHECK(symbols.set(one.dim->dim_param(), batch, one.input));
    one.dim->set_dim_value(batch);
  }
  if (!still_open.empty()) return nothing_rewritten;
  // The caller refuses what is open yet, with the sizes that the model has now.
  OPLAT_CHECK(bind_everywhere(*model.mutable_graph(), symbols));
  const auto all = [](const BatchDimension&) { return true; };
  if (!open_dimensions(inputs, all).empty()) return nothing_rewritten;
  const std::vector<BatchDimension>& asked = named.dims;
  const auto is_set = [&](const BatchDimension& one) { return one.dim->dim_value() == batch; };
  if (!asked.empty() && std::all_of(asked.begin(), asked.end(), is_set)) return nothing_rewritten;
  if (begin_with(inputs, batch)) return nothing_rewritten;
  if (!asked.empty()) {
    const auto other = std::find_if_not(asked.begin(), asked.end(), is_set);
    return fail(Code::Usage,
                "{}: --batch {} contradicts --shape, which sets dimension {} of input '{}' to {}; "
                "give one of the two, or the same number in both",
                file, batch, other->index, base::printable(other->input), other->dim->dim_value());
  }
  const auto rewritten = rewrite_batch(model, inputs, batch);
  if (rewritten) return std::optional(*rewritten);
  std::vector<std::string> found;
  for (const wire::ValueInfo* input : inputs)
    found.push_back(base::printable(input->name()) +
                    shape_text(input->type().tensor_type().shape()));
  return fail(
      Code::Usage,
      "{}: --batch {} cannot be set: the model fixes its batch ({}), and {}; export it with "
      "an open batch dimension, or give --shape for an input with open dimensions",
      file, batch, base::join(found, ", "), rewritten.error());
}

}  // namespace

std::optional<std::pair<int, int>> batch_dimension(const wire::Model& model) {
  const std::set<std::string> initialisers = initialiser_names(model.graph());
  const std::set<std::string> recurrent = recurrent_inputs(model.graph());
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const wire::ValueInfo& input = model.graph().input(i);
    const wire::TensorShape& shape = input.type().tensor_type().shape();
    if (initialisers.contains(input.name())) continue;
    for (int d = 0; d < shape.dim_size(); ++d) {
      const std::string& name = shape.dim(d).dim_param();
      if (!open(shape.dim(d)) || !batch_name(name)) continue;
      if (d == 0 || is_called_batch(name) || (d == 1 && recurrent.contains(input.name())))
        return std::pair(i, d);
    }
  }
  return std::nullopt;
}

bool leaves_batch_open(wire::Model& model) {
  const std::vector<wire::ValueInfo*> inputs = fed_inputs(*model.mutable_graph());
  std::vector<BatchDimension> found = open_dimensions(inputs, has_batch_name);
  if (found.empty()) found = open_dimensions(inputs, is_leading);
  std::set<std::string> leading;
  for (const BatchDimension& one : found) {
    if (one.index == 0) leading.insert(one.dim->dim_param());
  }
  const auto is_batch = [&](const BatchDimension& one) {
    const std::string& name = one.dim->dim_param();
    if (one.index == 0) return name.empty() || batch_name(name);
    return leading.contains(name);
  };
  return !found.empty() && std::all_of(found.begin(), found.end(), is_batch);
}

Result<std::vector<InputInfo>> input_infos(const wire::Model& model, const std::string& file) {
  const std::set<std::string> initialisers = initialiser_names(model.graph());
  std::vector<InputInfo> infos;
  for (const wire::ValueInfo& input : model.graph().input()) {
    if (initialisers.contains(input.name())) continue;
    const auto dtype = dtype_of(input.type().tensor_type().elem_type());
    if (!input.type().has_tensor_type() || !dtype) {
      return fail(Code::Input,
                  "{}: input '{}' is not a tensor; oplat runs models whose inputs are tensors",
                  file, base::printable(input.name()));
    }
    InputInfo info{input.name(), *dtype, {}};
    const wire::TensorType& type = input.type().tensor_type();
    info.shape.ranked = type.has_shape();
    for (const wire::Dimension& dim : type.shape().dim()) {
      info.shape.dims.push_back(open(dim) ? ir::Dim() : ir::Dim(dim.dim_value()));
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::optional<std::int64_t>> specialise_inputs(wire::Model& model, const std::string& file,
                                                      const ShapeOptions& options) {
  std::optional<std::int64_t> fixed_batch;
  wire::Graph& graph = *model.mutable_graph();
  std::vector<wire::ValueInfo*> inputs = fed_inputs(graph);
  std::vector<std::string> names;
  for (const wire::ValueInfo* input : inputs) names.push_back(input->name());
  OPLAT_CHECK(input_infos(model, file));
  NamedBatch named{batch_signs(graph, inputs), {}};
  named.dims = open_batch(inputs, named.signs);
  Dimensions symbols(file);
  for (const auto& [name, dims] : options.shapes) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      return fail(Code::Usage, "{}: no input is called '{}'; its inputs are: {}", file,
                  base::printable(name), base::printable(base::join(names, ", "), 400));
    }
    OPLAT_CHECK(
        apply_shape(*inputs[static_cast<std::size_t>(at - names.begin())], dims, symbols, file));
  }
  if (options.batch) {
    OPLAT_TRY(rewritten, apply_batch(model, inputs, named, *options.batch, symbols, file));
    fixed_batch = rewritten;
  }
  OPLAT_CHECK(bind_everywhere(graph, symbols));
  for (const wire::ValueInfo* input : inputs) {
    const wire::TensorType& type = input->type().tensor_type();
    const bool all_fixed = type.has_shape() &&
                           std::none_of(type.shape().dim().begin(), type.shape().dim().end(), open);
    if (!all_fixed) {
      std::vector<std::int64_t> dims;
      for (const wire::Dimension& dim : type.shape().dim())
        dims.push_back(open(dim) ? -1 : dim.dim_value());
      return fail(
          Code::Usage,
          "{}: input '{}' has open dimensions: {}; fix them with --shape {} (its own numbers){}",
          file, base::printable(input->name()),
          type.has_shape() ? shape_text(type.shape()) : "rank unknown",
          base::name_value_word(input->name(),
                                type.has_shape() ? example_shape(dims) : "1x3x224x224"),
          options.batch ? "" : " or, where only the batch is open, --batch N");
    }
  }
  // Shapes noted for inner tensors were those of the open model; a runtime infers them anew.
  if (!options.shapes.empty() || options.batch) graph.clear_value_info();
  return fixed_batch;
}

}  // namespace oplat::formats::onnx
