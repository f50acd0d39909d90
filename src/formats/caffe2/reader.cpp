// SPDX-License-Identifier: Apache-2.0
/// Caffe2 behind the FormatReader seam, and the questions of runtime_lut.
#include <map>

#include "base/text.hpp"
#include "formats/caffe2.hpp"
#include "formats/caffe2/builder.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {
namespace {

Result<Built> build_from(const base::Source& source, const ShapeOptions& options) {
  OPLAT_TRY(net, parse_net(source.name(), source.bytes()));
  OPLAT_TRY(companions, read_companions(source));
  return build(source.name(), net, companions, options);
}

/// "Foo (2 times), Bar": operators that no shape can be inferred through.
std::string unknown_operators(const ir::Graph& graph) {
  std::map<std::string, int> counts;
  for (const ir::Node& node : graph.nodes) {
    if (!is_caffe2_operator(node.op)) ++counts[node.op];
  }
  std::vector<std::string> names;
  for (const auto& [op, count] : counts) {
    names.push_back(base::printable(op) + (count > 1 ? fmt::format(" ({} times)", count) : ""));
  }
  return base::join(names, ", ");
}

class Caffe2Reader final : public FormatReader {
 public:
  std::string_view name() const override { return "caffe2"; }

  int probe(std::string_view bytes) const override { return probe_net(bytes); }

  Result<ir::Graph> read(const base::Source& source, const ShapeOptions& options) const override {
    OPLAT_TRY(built, build_from(source, options));
    return std::move(built.graph);
  }

  Result<std::vector<std::string>> siblings(const base::Source& source) const override {
    OPLAT_CHECK(parse_net(source.name(), source.bytes()));
    return companion_files(source);
  }

  Result<ShapeOptions> resolve(const base::Source& source,
                               const ShapeOptions& options) const override {
    OPLAT_TRY(net, parse_net(source.name(), source.bytes()));
    OPLAT_TRY(companions, read_companions(source));
    OPLAT_TRY(built, build(source.name(), net, companions, options));
    ShapeOptions resolved;
    for (const ir::TensorId id : built.graph.inputs) {
      const ir::TensorInfo& input = built.graph.tensors[static_cast<std::size_t>(id)];
      Dims dims;
      for (const ir::Dim& dim : input.shape.dims) dims.push_back(dim.value_or(0));
      // What the init net's placeholder says is not left open.
      const auto fill = companions.parameters.find(input.name);
      if (fill == companions.parameters.end() || fill->second.dims != dims)
        resolved.shapes[input.name] = std::move(dims);
    }
    return resolved;
  }
};

}  // namespace

const FormatReader& reader() {
  static const Caffe2Reader kReader;
  return kReader;
}

Result<std::vector<LutQuery>> queries(const base::Source& source, const ShapeOptions& options) {
  OPLAT_TRY(built, build_from(source, options));
  std::vector<LutQuery> list;
  for (std::size_t i = 0; i < built.queries.size(); ++i) {
    if (!built.queries[i]) {
      return fail(Code::Input,
                  "{}: operator {} ({}) depends on operators whose results oplat cannot infer: {}",
                  source.name(), i, base::printable(built.graph.nodes[i].op),
                  unknown_operators(built.graph));
    }
    list.push_back(std::move(*built.queries[i]));
  }
  return list;
}

}  // namespace oplat::formats::caffe2
