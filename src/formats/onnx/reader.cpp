// SPDX-License-Identifier: Apache-2.0
/// ONNX behind the FormatReader seam.
#include "formats/onnx/model_impl.hpp"

namespace oplat::formats::onnx {
namespace {

class OnnxReader final : public FormatReader {
 public:
  std::string_view name() const override { return "onnx"; }

  int probe(std::string_view bytes) const override {
    // A ModelProto begins with field 1 (ir_version, varint) when a library wrote it; a few writers
    // put other fields of the message first. Only the field number and wire type of the first tag
    // are looked at.
    if (bytes.size() < 4) return 0;
    const auto tag = static_cast<unsigned char>(bytes[0]);
    const unsigned field = tag >> 3U;
    const unsigned wire_type = tag & 7U;
    if (field == 1 && wire_type == 0) return static_cast<unsigned char>(bytes[1]) < 64 ? 80 : 0;
    const bool text_field =
        field == 2 || field == 3 || field == 4 || field == 6 || field == 7 || field == 8;
    return text_field && wire_type == 2 ? 20 : 0;
  }

  Result<ir::Graph> read(const base::Source& source, const ShapeOptions& options) const override {
    OPLAT_TRY(model, Model::load(source));
    OPLAT_CHECK(model.specialise(options));
    return model.graph();
  }

  Result<Whole> read_whole(const base::Source& source, const ShapeOptions& options) const override {
    // The numbers of large weights decide nothing, and copying them would take most of the time.
    // Data in other files and sparse tensors are checked against their sizes.
    constexpr std::size_t kLarge = std::size_t{1} << 20U;
    Whole whole;
    std::optional<Model> model;
    if (source.bytes().size() > kLarge) {
      OPLAT_TRY(structure, Model::load_structure(source, Model::Left::Integers));
      if (structure.is_self_contained()) model.emplace(std::move(structure));
    }
    if (!model) {
      OPLAT_TRY(loaded, Model::load(source));
      model.emplace(std::move(loaded));
      OPLAT_TRY(files, siblings(source));
      whole.siblings = std::move(files);
    }
    OPLAT_TRY(before, model->inputs());
    OPLAT_CHECK(model->specialise(options));
    whole.rewritten_batch = model->fixed_batch();
    if (whole.rewritten_batch) return whole;
    OPLAT_TRY(after, model->inputs());
    whole.resolved = opened(before, after);
    whole.named_batch = model->named_batch();
    OPLAT_TRY(graph, model->graph());
    whole.graph = std::move(graph);
    return whole;
  }

  Result<std::vector<std::string>> siblings(const base::Source& source) const override {
    OPLAT_TRY(model, parse_model(source));
    return external_files(model, source.name());
  }

  std::unique_ptr<SiblingScan> scan_siblings() const override { return scan_external_data(); }

  Result<bool> leaves_batch_open(const base::Source& source) const override {
    OPLAT_TRY(model, parse_model(source));
    return onnx::leaves_batch_open(model);
  }

  Result<std::optional<std::int64_t>> rewritten_batch(const base::Source& source,
                                                      const ShapeOptions& options) const override {
    OPLAT_TRY(model, parse_model(source));
    return specialise_inputs(model, source.name(), options);
  }

  Result<ShapeOptions> resolve(const base::Source& source,
                               const ShapeOptions& options) const override {
    OPLAT_TRY(model, parse_model(source));
    OPLAT_TRY(before, input_infos(model, source.name()));
    OPLAT_CHECK(specialise_inputs(model, source.name(), options));
    OPLAT_TRY(after, input_infos(model, source.name()));
    return opened(before, after);
  }

 private:
  /// The dimensions of inputs that had open ones.
  static ShapeOptions opened(const std::vector<InputInfo>& before,
                             const std::vector<InputInfo>& after) {
    ShapeOptions resolved;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].shape == after[i].shape) continue;
      std::vector<std::int64_t>& dims = resolved.shapes[after[i].name];
      for (const ir::Dim& dim : after[i].shape.dims) dims.push_back(dim.value_or(0));
    }
    return resolved;
  }
};

}  // namespace

const FormatReader& reader() {
  static const OnnxReader kReader;
  return kReader;
}

}  // namespace oplat::formats::onnx
