// SPDX-License-Identifier: Apache-2.0
/// What a node with bodies costs by itself is what it costs around bodies without nodes: one call
/// of a body a step, states handed on, scan outputs joined. So a body made up here hands its inputs
/// on as its outputs, and gives constants where an output has no such input. The kernels that a
/// model's own body runs are kernels of its plan and measured by themselves.
#include "formats/onnx/kernel_bodies.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/onnx/types.hpp"
#include "ir/axis.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr int kGraphAttribute = 5;  // AttributeProto.GRAPH
constexpr std::int64_t kMaxSliceBytes = std::int64_t{1} << 28;

struct BodyTensor {
  ir::Dtype dtype = ir::Dtype::F32;
  std::vector<std::int64_t> dims;
  friend bool operator==(const BodyTensor&, const BodyTensor&) = default;
};

Result<BodyTensor> known(const ir::TensorEntry* entry, std::string_view which, std::size_t i) {
  if (entry == nullptr || !entry->shape.ranked)
    return fail(Code::Missing, "{} {} is not a tensor, or one of unknown rank", which, i);
  BodyTensor tensor{entry->dtype, {}};
  for (const ir::Dim& dim : entry->shape.dims) {
    if (!dim) return fail(Code::Missing, "{} {} has an unknown dimension", which, i);
    tensor.dims.push_back(*dim);
  }
  return tensor;
}

/// One step's part of a tensor that is stacked along `axis`.
Result<BodyTensor> slice_of(BodyTensor whole, std::int64_t axis, std::string_view which,
                            std::size_t i) {
  const auto at = ir::axis_index(axis, whole.dims.size());
  if (!at) return fail(Code::Missing, "{} {} has no such axis", which, i);
  whole.dims.erase(whole.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  return whole;
}

void describe(wire::ValueInfo& info, const std::string& name, const BodyTensor& tensor) {
  info.set_name(name);
  wire::TensorType& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type_of(tensor.dtype));
  type.mutable_shape();
  for (const std::int64_t dim : tensor.dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
}

/// An attribute of integers; `size` zeros without it.
std::vector<std::int64_t> axes_of(const ir::Key& key, std::string_view name, std::size_t size) {
  std::vector<std::int64_t> axes(size, 0);
  const ir::Value* value = key.attribute(name);
  const ir::List* list = value != nullptr ? value->list() : nullptr;
  for (std::size_t i = 0; list != nullptr && i < std::min(size, list->size()); ++i) {
    if ((*list)[i].integer() != nullptr) axes[i] = *(*list)[i].integer();
  }
  return axes;
}

/// A body under construction.
class Body {
 public:
  Body(wire::Node& node, const std::string& attribute, std::string prefix)
      : prefix_(std::move(prefix)) {
    wire::Attribute& added = *node.add_attribute();
    added.set_name(attribute);
    added.set_type(kGraphAttribute);
    graph_ = added.mutable_g();
    graph_->set_name(prefix_ + "body");
  }

  /// Inputs with `hand_on` are outputs, too, in the order of the calls.
  void take(const BodyTensor& tensor, bool hand_on) {
    const std::string name = prefix_ + "i" + std::to_string(graph_->input_size());
    describe(*graph_->add_input(), name, tensor);
    if (hand_on) {
      describe(*graph_->add_output(), name, tensor);
    } else {
      spare_.emplace_back(name, tensor);
    }
  }

  /// An output: a spare input of its type and shape, else zeros.
  Status give(const BodyTensor& tensor) {
    const auto at = std::find_if(spare_.begin(), spare_.end(),
                                 [&](const auto& one) { return one.second == tensor; });
    if (at != spare_.end()) {
      describe(*graph_->add_output(), at->first, tensor);
      spare_.erase(at);
      return {};
    }
    wire::Tensor& zeros = *graph_->add_initializer();
    zeros.set_name(prefix_ + "z" + std::to_string(graph_->output_size()));
    zeros.set_data_type(onnx_type_of(tensor.dtype));
    for (const std::int64_t dim : tensor.dims) zeros.add_dims(dim);
    const auto bytes = dense_bytes(zeros);
    if (!bytes) return fail(Code::Missing, "a body gives a tensor without a size");
    if (*bytes > kMaxSliceBytes)
      return fail(Code::Refused, "a step of a body gives {} MiB", *bytes >> 20);
    zeros.set_raw_data(std::string(static_cast<std::size_t>(*bytes), '\0'));
    describe(*graph_->add_output(), zeros.name(), tensor);
    return {};
  }

 private:
  wire::Graph* graph_;
  std::string prefix_;
  std::vector<std::pair<std::string, BodyTensor>> spare_;
};

/// Nothing but one element of each result: a branch's own kernels write its results where they
/// belong, so that their sizes cost the If nothing.
Status add_branches(wire::Node& node, const ir::Key& key, const std::string& prefix,
                    bool own_sizes) {
  for (const std::string branch : {"then_branch", "else_branch"}) {
    Body body(node, branch, prefix + branch);
    for (std::size_t r = 0; r < key.results.size(); ++r) {
      // An If without a use for a result still has it.
      BodyTensor result;
      if (key.result(r) != nullptr) {
        OPLAT_TRY(tensor, known(key.result(r), "result", r));
        result = std::move(tensor);
      }
      if (!own_sizes) std::fill(result.dims.begin(), result.dims.end(), 1);
      OPLAT_CHECK(body.give(result));
    }
  }
  return {};
}

Status add_loop_body(wire::Node& node, const ir::Key& key, const std::string& prefix) {
  Body body(node, "body", prefix);
  body.take({ir::Dtype::I64, {}}, false);
  body.take({ir::Dtype::Bool, {}}, true);
  const std::size_t states = key.operands.size() > 2 ? key.operands.size() - 2 : 0;
  for (std::size_t s = 0; s < states; ++s) {
    OPLAT_TRY(state, known(key.operand(s + 2), "operand", s + 2));
    body.take(state, true);
  }
  for (std::size_t r = states; r < key.results.size(); ++r) {
    BodyTensor slice;
    if (key.result(r) != nullptr) {
      OPLAT_TRY(whole, known(key.result(r), "result", r));
      OPLAT_TRY(one, slice_of(std::move(whole), 0, "result", r));
      slice = std::move(one);
    }
    OPLAT_CHECK(body.give(slice));
  }
  return {};
}

Status add_scan_body(wire::Node& node, const ir::Key& key, const std::string& prefix) {
  constexpr std::int64_t kFirstWithoutBatch = 9;
  const ir::Value* count = key.attribute("num_scan_inputs");
  if (key.since.value_or(0) < kFirstWithoutBatch)
    return fail(Code::Missing, "a Scan of an operator set before {} is not rebuilt",
                kFirstWithoutBatch);
  if (count == nullptr || count->integer() == nullptr || *count->integer() < 1 ||
      *count->integer() > static_cast<std::int64_t>(key.operands.size()))
    return fail(Code::Missing, "num_scan_inputs does not fit the operands");
  const auto scanned = static_cast<std::size_t>(*count->integer());
  const std::size_t states = key.operands.size() - scanned;
  if (key.results.size() < states) return fail(Code::Missing, "results are fewer than states");
  Body body(node, "body", prefix);
  for (std::size_t s = 0; s < states; ++s) {
    OPLAT_TRY(state, known(key.operand(s), "operand", s));
    body.take(state, true);
  }
  const std::vector<std::int64_t> in = axes_of(key, "scan_input_axes", scanned);
  for (std::size_t i = 0; i < scanned; ++i) {
    OPLAT_TRY(whole, known(key.operand(states + i), "operand", states + i));
    OPLAT_TRY(slice, slice_of(std::move(whole), in[i], "operand", states + i));
    body.take(slice, false);
  }
  const std::vector<std::int64_t> out =
      axes_of(key, "scan_output_axes", key.results.size() - states);
  for (std::size_t r = states; r < key.results.size(); ++r) {
    BodyTensor slice;
    if (key.result(r) != nullptr) {
      OPLAT_TRY(whole, known(key.result(r), "result", r));
      OPLAT_TRY(one, slice_of(std::move(whole), out[r - states], "result", r));
      slice = std::move(one);
    }
    OPLAT_CHECK(body.give(slice));
  }
  return {};
}

}  // namespace

bool has_made_up_bodies(const ir::Key& key) {
  return key.domain.empty() && (key.op == "If" || key.op == "Loop" || key.op == "Scan");
}

Result<std::int64_t> loop_steps(const ir::Key& key) {
  const ir::Value* steps = key.tag("steps");
  if (steps == nullptr || steps->integer() == nullptr || *steps->integer() < 0)
    return fail(Code::Missing, "the key does not say how many steps the loop takes (@steps=N)");
  return *steps->integer();
}

Status add_bodies(wire::Node& node, const ir::Key& key, const std::string& prefix, bool own_sizes) {
  if (key.op == "If") return add_branches(node, key, prefix, own_sizes);
  return key.op == "Loop" ? add_loop_body(node, key, prefix) : add_scan_body(node, key, prefix);
}

}  // namespace oplat::formats::onnx
