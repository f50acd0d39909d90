// SPDX-License-Identifier: Apache-2.0
/// Structures and samples as ONNX models.
#include "compat/tinynas/model_writer.hpp"
#include "compat/tinynas/walk.hpp"

namespace oplat::compat::tinynas {
namespace {

class StructureWriter {
 public:
  StructureWriter(const Structure& structure, std::int64_t resolution, std::int64_t batch)
      : structure_(structure), resolution_(resolution), batch_(batch), writer_("structure") {}

  Result<std::string> write() {
    OPLAT_TRY(blocks, execute(structure_, resolution_));
    const std::int64_t channels = structure_.blocks.front().in;
    x_ = writer_.input("input", {batch_, channels, resolution_, resolution_});
    if (blocks.empty()) return fail(Code::Input, "{}: holds no convolutions", structure_.name);
    for (const ExecutedBlock& block : blocks) add(block);
    const ExecutedBlock& last = blocks.back();
    auto bytes = writer_.finish(x_, {batch_, last.inner.out, last.out_size, last.out_size});
    if (!bytes) return fail_in(structure_.name, bytes.error());
    return bytes;
  }

 private:
  void add(const ExecutedBlock& executed) {
    const InnerBlock& inner = executed.inner;
    const Block& block = *inner.block;
    const ModelWriter::Name in = x_;
    ModelWriter::Name x = in;
    for (std::size_t i = 0; i < executed.steps.size(); ++i) {
      const ExecutedStep& step = executed.steps[i];
      if (step.squeeze_excite) {
        x = squeeze_and_excite(step, x);
        continue;
      }
      x = writer_.convolution(step.name, x, step.convs.front().conv, step.convs.front().padding);
      // The last convolution is activated after the sum.
      if (i + 1 < executed.steps.size())
        x = writer_.activation(step.name + ".act", x, block.activation);
    }
    if (inner.residual) {
      ModelWriter::Name shortcut = in;
      if (inner.stride != 1) {
        shortcut = writer_.average_pool(inner.name + ".pool", shortcut, inner.stride,
                                        executed.in_size % inner.stride != 0);
      }
      if (executed.projection) {
        shortcut =
            writer_.convolution(inner.name + ".projection", shortcut, executed.projection->conv, 0);
      }
      x = writer_.add(inner.name + ".sum", x, shortcut);
    }
    if (block.activates) x = writer_.activation(inner.name + ".act", x, block.activation);
    x_ = x;
  }

  ModelWriter::Name squeeze_and_excite(const ExecutedStep& step, const ModelWriter::Name& x) {
    ModelWriter::Name gate = writer_.global_average_pool(step.name + ".pool", x);
    gate = writer_.convolution(step.name + "1", gate, step.convs[0].conv, 0);
    gate = writer_.activation(step.name + "1.act", gate, Activation::Swish);
    gate = writer_.convolution(step.name + "2", gate, step.convs[1].conv, 0);
    return writer_.multiply(step.name + ".scale", writer_.sigmoid(step.name + ".gate", gate), x);
  }

  const Structure& structure_;
  std::int64_t resolution_;
  std::int64_t batch_;
  ModelWriter writer_;
  ModelWriter::Name x_;
};

}  // namespace

Result<std::string> structure_model(const Structure& structure, std::int64_t resolution,
                                    std::int64_t batch) {
  return StructureWriter(structure, resolution, batch).write();
}

Result<std::string> sample_model(const ConvTuple& conv) {
  if (conv.in_h != conv.in_w) {
    return fail(Code::Input, "{}: In_H differs from In_W; a sample has one size for both",
                library_key_text(conv));
  }
  const std::int64_t padding = (conv.kernel - 1) / 2;
  const auto results = [&](std::int64_t size) {
    return (size + 2 * padding - conv.kernel) / conv.stride + 1;
  };
  const std::int64_t in_c = conv.type == ConvType::Depthwise ? conv.out_c : conv.in_c;
  const std::vector<std::int64_t> out_dims = {conv.batch, conv.out_c, results(conv.in_h),
                                              results(conv.in_w)};
  if (conv.in_h + 2 * padding < conv.kernel || conv.in_w + 2 * padding < conv.kernel) {
    return fail(Code::Input, "{}: the kernel is larger than its padded input",
                library_key_text(conv));
  }
  ModelWriter writer("sample");
  ModelWriter::Name x = writer.input("input", {conv.batch, in_c, conv.in_h, conv.in_w});
  x = writer.convolution("conv", x, conv, padding);
  if (conv.fused) x = writer.add("sum", x, writer.input("residual", out_dims));
  x = writer.activation("act", x, Activation::Relu);
  auto bytes = writer.finish(x, out_dims);
  if (!bytes) return fail_in(library_key_text(conv), bytes.error());
  return bytes;
}

double sample_weight_bytes(const ConvTuple& conv) {
  const std::int64_t inputs = conv.type == ConvType::Depthwise ? 1 : conv.in_c / conv.group;
  return 4.0 * static_cast<double>(conv.out_c) * static_cast<double>(inputs) *
         static_cast<double>(conv.kernel * conv.kernel);
}

}  // namespace oplat::compat::tinynas
