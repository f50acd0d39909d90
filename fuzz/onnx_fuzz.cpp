// SPDX-License-Identifier: Apache-2.0
/// The ONNX reader with its external data. Bytes behind the mark "<external>" are those of the file
/// data.bin next to the model. What is read is planned as if a runtime had run each node once, with
/// the shapes that the file gives; what keys come of it are built again while they are small.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "compat/registry.hpp"
#include "formats/made_up_inputs.hpp"
#include "formats/onnx.hpp"
#include "ir/label.hpp"
#include "ir/work.hpp"
#include "plan/inspection.hpp"
#include "plan/plan.hpp"
#include "plan/rules.hpp"

namespace {

using oplat::Code;
namespace fs = std::filesystem;
namespace onnx = oplat::formats::onnx;
namespace ir = oplat::ir;
namespace plan = oplat::plan;

constexpr std::string_view kMark = "<external>";

template <class T>
bool holds(const oplat::Result<T>& result) {
  if (result) return true;
  if (result.error().code == Code::Internal || result.error().message.empty()) std::abort();
  return false;
}

void write(const fs::path& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    std::abort();
  std::fclose(file);
}

oplat::base::Source source_of(std::string_view input) {
  const std::size_t mark = input.rfind(kMark);
  if (mark == std::string_view::npos)
    return oplat::base::Source::from_bytes("fuzz", std::string(input));
  static const auto folder = oplat::base::TemporaryFolder::create("oplat-fuzz-onnx");
  if (!folder) std::abort();
  write(folder->path() / "m.onnx", input.substr(0, mark));
  write(folder->path() / "data.bin", input.substr(mark + kMark.size()));
  auto source = oplat::base::Source::open(folder->path() / "m.onnx");
  if (!source) std::abort();
  return *std::move(source);
}

/// Every node of a graph and of its bodies as if it had run once.
void add_runs(const ir::Graph& graph, std::vector<plan::NodeRun>& runs) {
  for (const ir::Node& node : graph.nodes) {
    plan::NodeRun run;
    run.node = node.name;
    for (const auto& [ids, seen] :
         {std::pair{&node.inputs, &run.inputs}, std::pair{&node.outputs, &run.outputs}}) {
      for (const ir::TensorId id : *ids) {
        if (id == ir::kNoTensor) continue;
        if (id < 0 || static_cast<std::size_t>(id) >= graph.tensors.size()) std::abort();
        const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(id)];
        seen->push_back({tensor.dtype, tensor.shape});
      }
    }
    for (const auto& [name, body] : node.bodies) add_runs(*body, runs);
    run.ended = runs.size() + 1;
    runs.push_back(std::move(run));
  }
}

/// A kernel model of one key, if its tensors are small.
void build(const ir::Key& key) {
  constexpr std::int64_t kMaxElements = 4096;
  for (const auto* list : {&key.operands, &key.results}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto* entry = std::get_if<ir::TensorEntry>(&(*list)[i]);
      if (entry == nullptr) continue;
      const auto elements = entry->shape.elements();
      if (!elements || *elements > kMaxElements) return;
    }
  }
  const auto model = onnx::write_kernel_model(key, {.copies = 2});
  if (!holds(model)) return;
  if (!holds(onnx::Model::load(oplat::base::Source::from_bytes("kernel", model->bytes))))
    std::abort();
}

void plan_model(const ir::Graph& graph) {
  std::vector<plan::NodeRun> runs;
  add_runs(graph, runs);
  const auto kernels = plan::kernels_of(graph, runs);
  (void)plan::footprint(graph, runs);
  (void)holds(plan::kernels_of_file(graph));
  (void)plan::parameters_of(graph);
  if (const auto peak = plan::peak_memory(graph, oplat::compat::catalogue());
      peak && !(peak->bytes >= 0))
    std::abort();
  if (!holds(kernels)) return;
  for (const plan::PlanKernel& kernel : *kernels) {
    const auto key = ir::parse(kernel.key);
    if (!key || ir::print(*key) != kernel.key) std::abort();
    (void)ir::work(*key, oplat::compat::catalogue());
    if (ir::make_label(*key, oplat::compat::catalogue()).text.size() > 1000) std::abort();
    (void)ir::describe(*key, oplat::compat::catalogue(), {.threads = 3, .lanes = 8});
    for (std::size_t i = 0; i < key->operands.size() && i < 8; ++i) (void)ir::operand_fill(*key, i);
    (void)ir::value_caveat(*key);
    build(*key);
  }
}

/// What rules make of it without a runtime, if they can tell.
void derive_plan(const ir::Graph& graph) {
  static const auto rules = plan::built_in_rules("onnxruntime", oplat::compat::rule_sets());
  if (!rules) std::abort();
  for (const char* block : {"block8", "block16"}) {
    const auto derived = plan::plan_by_rules(graph, *rules, oplat::compat::catalogue(), {block});
    if (!holds(derived)) continue;
    for (const plan::PlanKernel& kernel : derived->kernels)
      if (!ir::parse(kernel.key)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = source_of({reinterpret_cast<const char*>(data), size});
  const oplat::formats::ShapeOptions shapes{.shapes = {{"x", {2, 4}}}, .batch = 2};
  (void)oplat::formats::reader_for(source);
  (void)holds(onnx::reader().siblings(source));
  (void)holds(onnx::reader().read(source, {}));
  (void)holds(onnx::reader().resolve(source, shapes));
  (void)oplat::formats::made_up_texts(source, {}, {});
  if (const auto structure = onnx::Model::load_structure(source); holds(structure))
    (void)holds(structure->graph());
  auto model = onnx::Model::load(source);
  if (!holds(model)) return 0;
  (void)holds(model->inputs());
  (void)holds(model->specialise(shapes));
  (void)model->nodes();
  model->name_nodes();
  const auto graph = model->graph();
  if (holds(graph)) {
    plan_model(*graph);
    derive_plan(*graph);
  }
  if (const auto whole = onnx::reader().read_whole(source, shapes); holds(whole))
    derive_plan(whole->graph);
  if (const auto bytes = model->bytes(); holds(bytes)) {
    const auto again = oplat::base::Source::from_bytes("again", *bytes);
    if (graph && model->data_bytes() == 0 && !onnx::Model::load(again)) std::abort();
  }
  return 0;
}
