// SPDX-License-Identifier: Apache-2.0
/// A model file through its reader and fusion rules.
#include "app/rules_plan.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "compat/registry.hpp"
#include "formats/batch.hpp"
#include "formats/onnx.hpp"
#include "plan/identity.hpp"

namespace oplat::app {
namespace {

/// As a runtime's plan says it: the batch that was asked for or that the model names, else what its
/// inputs have in common.
std::int64_t batch_of(const formats::FormatReader& reader, const base::Source& source,
                      const ir::Graph& graph, const formats::ShapeOptions& shapes) {
  if (shapes.batch) return *shapes.batch;
  if (reader.name() == "onnx") {
    auto model = formats::onnx::Model::load_structure(source);
    if (model && model->specialise(shapes) && model->named_batch()) return *model->named_batch();
  }
  std::vector<formats::FedInput> fed;
  for (const ir::TensorId id : graph.inputs) {
    if (id == ir::kNoTensor) continue;
    const ir::TensorInfo& input = graph.tensors.at(static_cast<std::size_t>(id));
    if (input.constant) continue;
    formats::FedInput& one = fed.emplace_back(formats::FedInput{input.name, {}});
    for (const ir::Dim& dim : input.shape.dims) one.dims.push_back(dim.value_or(1));
  }
  return std::max<std::int64_t>(1, formats::leading_dimension(graph, fed));
}

}  // namespace

Result<RulesAsked> rules_asked(const std::string& plan, const std::string& precision) {
  constexpr std::string_view kPrefix = "rules:";
  if (!plan.starts_with(kPrefix)) {
    return fail(Code::Usage,
                "--plan {}: expected rules:NAME with NAME one of {}, or rules:FILE.yaml",
                base::printable(plan), base::join(plan::rule_set_names(compat::rule_sets()), ", "));
  }
  RulesAsked asked;
  OPLAT_TRY(set,
            plan::rules_named(std::string_view(plan).substr(kPrefix.size()), compat::rule_sets()));
  asked.set = std::move(set);
  if (precision.empty() || precision == "model") return asked;
  if (!asked.set.options.contains(precision)) {
    return fail(Code::Usage,
                "--precision {}: the rules {} accept model (the precision of the model itself){}",
                base::printable(precision), asked.set.name,
                asked.set.options.empty()
                    ? ""
                    : " or " + base::join(std::vector<std::string>(asked.set.options.begin(),
                                                                   asked.set.options.end()),
                                          ", "));
  }
  asked.options.insert(precision);
  return asked;
}

Result<RulesModel> read_rules_model(const std::string& path, const formats::ShapeOptions& shapes) {
  RulesModel model{path, {}, {}, {}, 1};
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(fixed, reader->rewritten_batch(source, shapes));
  if (fixed)
    return fail(Code::Usage,
                "{}: --batch {} cannot be set: the model fixes its batch to {}, and rules have no "
                "runtime that compares another one with it; export it with an open batch dimension",
                path, *shapes.batch, *fixed);
  OPLAT_TRY(resolved, reader->resolve(source, shapes));
  OPLAT_TRY(graph, reader->read(source, shapes));
  OPLAT_TRY(hash, plan::model_hash(source));
  model.batch = batch_of(*reader, source, graph, shapes);
  model.hash = std::move(hash);
  model.graph = std::move(graph);
  model.shapes = std::move(resolved);
  return model;
}

Result<RulesPlan> plan_model_by_rules(const RulesModel& model, const plan::RuleSet& rules,
                                      const plan::RuleOptions& options) {
  auto fused = plan::fuse(model.graph, rules, options);
  if (!fused) return fail_in(model.path, fused.error());
  auto made = plan::plan_of_fused(*fused, rules, compat::catalogue());
  if (!made) return fail_in(model.path, made.error());
  made->model = std::filesystem::path(model.path).filename().string();
  made->identity = plan::rules_identity(model.hash, model.shapes, rules, options);
  made->batch = model.batch;
  return RulesPlan{*std::move(made), *std::move(fused)};
}

}  // namespace oplat::app
