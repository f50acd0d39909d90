// SPDX-License-Identifier: Apache-2.0
/// ONNX Runtime's optimiser, pass by pass.
///
/// The problem: a plan needs the kernels that the runtime makes of a model, and asking it costs 300
/// ms and an installed runtime. Patterns alone (plan/rules) cannot say what its optimiser does: it
/// decides by sizes, by numbers of constants, by readers that come later, and by the order in which
/// nodes were made. So each of its passes is a function over a graph that knows all of these
/// (net.hpp), and a rule file lists which run, in which order and how often (docs/adr/0056). What
/// cannot be told without a run is an error that names the node, never a guessed size.
///
/// Example: MatMul -> Add becomes one Gemm, and two Reshapes around it if the first operand does
/// not have two dimensions.
#include "plan/onnxruntime/optimise.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "ir/operand_values.hpp"
#include "plan/onnxruntime/walk.hpp"
#include "plan/plan.hpp"

namespace oplat::plan::ort {
namespace {

constexpr std::array kPasses = {
    NamedPass{"rewrite-nodes", rewrite_nodes},
    NamedPass{"share-equal-nodes", share_equal_nodes},
    NamedPass{"inline-functions", inline_functions, kWrittenOperators},
    NamedPass{"matmul-add", fuse_matmul_add, {"MatMul"}},
    NamedPass{"every-matmul-add", fuse_every_matmul_add, {"MatMul"}},
    NamedPass{"reshapes", fuse_reshapes, {"Reshape"}},
    NamedPass{"layer-norm-of-onnx", fuse_layer_norm_of_onnx, {"ReduceMean"}},
    NamedPass{"gemm-activation", fuse_gemm_activation, {"Gemm"}},
    NamedPass{"matmul-integer-scale", fuse_matmul_integer_scale, {"MatMulInteger"}},
    NamedPass{
        "matmul-integer-quantisation", fuse_matmul_integer_quantisation, {"DynamicQuantizeLinear"}},
    NamedPass{"matmul-bits-bias", fuse_matmul_bits_bias, {"MatMulNBits"}},
    NamedPass{"convolution-activation", fuse_convolution_activation, {"Conv"}},
    NamedPass{"gelu", fuse_gelu, {"Erf"}},
    NamedPass{"layer-norm", fuse_layer_norm, {"ReduceMean"}},
    NamedPass{"simplified-layer-norm", fuse_simplified_layer_norm, {"ReduceMean"}},
    NamedPass{"slices-to-split", fuse_slices_to_split, {"Gather", "Slice"}},
    NamedPass{"matmul-transpose", fuse_matmul_transpose, {"Transpose"}},
    NamedPass{"bias-gelu", fuse_bias_gelu, {"Gelu", "FastGelu"}},
    NamedPass{"skip-layer-norm", fuse_skip_layer_norm, {"LayerNormalization"}},
    NamedPass{"fast-gelu", fuse_fast_gelu, {"Tanh"}},
    NamedPass{"quick-gelu", fuse_quick_gelu, {"Sigmoid"}},
    NamedPass{"matmul-scale", fuse_matmul_scale, {"MatMul", "FusedMatMul"}},
    NamedPass{"transposes", push_transposes},
    NamedPass{"transposes-of-cpu", push_transposes_of_cpu},
    NamedPass{"channels-last", move_channels_last, {"QLinearConv"}},
    NamedPass{"copy-dequantisations", copy_dequantisations, {"DequantizeLinear"}},
    NamedPass{
        "propagate-quantisation", propagate_quantisation, {"QuantizeLinear", "DequantizeLinear"}},
    NamedPass{"weights-and-biases", quantise_weights_and_biases, {"DequantizeLinear"}},
    NamedPass{"clips-of-quantisation", drop_clips_of_quantisation, {"QuantizeLinear"}},
    NamedPass{"unsigned-activations", make_activations_unsigned, {"QuantizeLinear"}},
    NamedPass{"quantised", fuse_quantised, {"DequantizeLinear"}},
    NamedPass{"empty-pairs", drop_empty_pairs, {"DequantizeLinear"}},
    NamedPass{"block-channels", block_channels},
    NamedPass{"convolution-add-activation", fuse_convolution_add_activation, {"Conv"}},
};

/// The order in which the runtime executes the nodes of a file: as Net::order(), by their places.
std::vector<std::size_t> run_order(const GraphView& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<std::size_t> producer(graph.tensors.size(), count);
  std::vector<bool> read(graph.tensors.size(), false);
  for (std::size_t n = 0; n < count; ++n) {
    for (const TensorId id : graph.nodes[n].outputs)
      if (id != kNone) producer[static_cast<std::size_t>(id)] = n;
    for (const TensorId id : graph.nodes[n].inputs)
      if (id != kNone) read[static_cast<std::size_t>(id)] = true;
  }
  std::vector<std::size_t> ends;
  for (std::size_t n = 0; n < count; ++n) {
    const std::span<const TensorId> outputs = graph.nodes[n].outputs;
    if (std::none_of(outputs.begin(), outputs.end(), [&](TensorId id) {
          return id != kNone && read[static_cast<std::size_t>(id)];
        }))
      ends.push_back(n);
  }
  return walk_order(count, ends, [&](std::size_t node, std::vector<std::size_t>& sources) {
    for (const TensorId id : graph.nodes[node].inputs)
      if (id != kNone && producer[static_cast<std::size_t>(id)] < count)
        sources.push_back(producer[static_cast<std::size_t>(id)]);
  });
}

/// Whether the net may hold what the pass looks for.
bool is_wanted(const NamedPass& pass, const Net& net) {
  return pass.wanted.front().empty() ||
         std::any_of(pass.wanted.begin(), pass.wanted.end(),
                     [&](std::string_view op) { return !op.empty() && net.had(op); });
}

/// Operands whose values a run records in the key, and rules cannot know.
Status check_values(const GraphView& graph) {
  for (const NodeView& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNone) continue;
      const TensorView& tensor = graph.tensor(node.inputs[i]);
      if (tensor.small_value != nullptr || (tensor.dtype && ir::is_float(*tensor.dtype))) continue;
      const ir::OperandRule* rule = ir::operand_rule(node.domain, node.op, i);
      if (rule == nullptr || !ir::is_recorded(*rule)) continue;
      return fail(Code::Refused,
                  "the node '{}' ({}): the values of its operand {} decide how much it does, and "
                  "only a run knows them; use --plan runtime",
                  base::printable(node.name), base::printable(node.op), i);
    }
  }
  return {};
}

}  // namespace

std::span<const NamedPass> passes() { return kPasses; }

const NamedPass* find_pass(std::string_view name) {
  const auto* found = std::find_if(kPasses.begin(), kPasses.end(),
                                   [&](const NamedPass& one) { return one.name == name; });
  return found == kPasses.end() ? nullptr : found;
}

Result<Net> optimise(const ir::Graph& graph, const std::vector<Level>& levels,
                     const Machine& machine) {
  OPLAT_TRY(net, Net::from(graph));
  for (const Level& level : levels) {
    bool changed = true;
    for (int round = 0; changed && round < level.rounds; ++round) {
      changed = false;
      for (const Level::Step& step : level.steps) {
        const NamedPass& pass = *step.pass;
        if ((round > 0 && step.once) || !is_wanted(pass, net)) continue;
        changed = pass.pass(net, machine) || changed;
      }
    }
  }
  OPLAT_CHECK(net.failure());
  return std::move(net);
}

Result<Plan> plan_of(const GraphView& optimised, const Machine& machine) {
  OPLAT_CHECK(check_values(optimised));
  Plan plan;
  Footprint bytes;
  const DomainTags tags{kNchwc, {{"block", machine.block}}};
  OPLAT_TRY(kernels, kernels_of_nodes(optimised, run_order(optimised), tags, bytes));
  plan.kernels = std::move(kernels);
  plan.weight_bytes = bytes.weight_bytes;
  plan.activation_bytes = bytes.activation_bytes;
  return plan;
}

}  // namespace oplat::plan::ort
