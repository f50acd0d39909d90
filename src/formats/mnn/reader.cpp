// SPDX-License-Identifier: Apache-2.0
/// MNN's models behind the FormatReader seam. Numbers of fields and types are those of MNN's public
/// schema, which appends and never renumbers; the declarations are ours.
#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "formats/mnn.hpp"
#include "formats/mnn/flatbuffer.hpp"

namespace oplat::formats::mnn {
namespace {

enum NetField : std::size_t { kOperators = 3, kTensorNames = 7 };
enum OperatorField : std::size_t { kMain = 2, kName = 3, kType = 5 };
enum InputField : std::size_t { kDims = 0 };
constexpr std::int32_t kInput = 34;  // OpType
constexpr std::int64_t kMaxDim = std::int64_t{1} << 30;
constexpr std::uint64_t kOffsetBytes = 4;

struct Input {
  std::string name;
  std::vector<std::int64_t> dims;  // -1 where the model leaves one open
};

/// The inputs of a model; std::nullopt if the bytes are not one.
std::optional<std::vector<Input>> parse(std::string_view bytes) {
  const auto net = FlatTable::root(bytes);
  const auto operators = net ? net->vector(kOperators, kOffsetBytes) : std::nullopt;
  const auto names = net ? net->vector(kTensorNames, kOffsetBytes) : std::nullopt;
  if (!operators || operators->count == 0 || !names || names->count == 0) return std::nullopt;
  std::vector<Input> inputs;
  for (std::uint32_t i = 0; i < operators->count; ++i) {
    const auto op = net->table_element(*operators, i);
    const auto type = op ? op->scalar<std::int32_t>(kType, 0) : std::nullopt;
    if (!type) return std::nullopt;
    if (*type != kInput) continue;
    Input& input = inputs.emplace_back();
    input.name = std::string(op->text(kName).value_or(""));
    const auto main = op->table(kMain);
    const auto dims = main ? main->vector(kDims, sizeof(std::int32_t)) : std::nullopt;
    for (std::uint32_t d = 0; dims && d < dims->count; ++d) {
      const auto dim = main->element<std::int32_t>(*dims, d);
      if (!dim) return std::nullopt;
      input.dims.push_back(*dim);
    }
  }
  return inputs;
}

std::string asked(const std::vector<std::int64_t>& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

Status give_shape(const base::Source& source, Input& input, const std::vector<std::int64_t>& dims) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::Usage, "{}: --shape {}={}: {}", source.name(), base::printable(input.name),
                asked(dims), why);
  };
  if (dims.size() != input.dims.size())
    return refuse(fmt::format("the input has {} dimensions", input.dims.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1 || dims[i] > kMaxDim) return refuse("expected dimensions from 1 to 2^30");
    if (input.dims[i] >= 0 && input.dims[i] != dims[i])
      return refuse(fmt::format("the model fixes dimension {} to {}", i, input.dims[i]));
  }
  input.dims = dims;
  return {};
}

class MnnReader final : public FormatReader {
 public:
  std::string_view name() const override { return "mnn"; }

  int probe(std::string_view bytes) const override {
    constexpr int kLikely = 50;  // the format has no magic number
    return parse(bytes) ? kLikely : 0;
  }

  Result<ir::Graph> read(const base::Source& source, const ShapeOptions&) const override {
    return fail(Code::Input,
                "{}: only MNN itself reads graphs of its models; plan it with --runtime mnn",
                source.name());
  }

  /// Weights that the converter put into a file of their own.
  Result<std::vector<std::string>> siblings(const base::Source& source) const override {
    const std::string name = std::filesystem::path(source.name()).filename().string() + ".weight";
    if (source.sibling_path(name)) return std::vector<std::string>{name};
    return std::vector<std::string>{};
  }

  Result<ShapeOptions> resolve(const base::Source& source,
                               const ShapeOptions& options) const override {
    auto inputs = parse(source.bytes());
    if (!inputs) return fail(Code::Input, "{}: is not a model of MNN", source.name());
    const std::vector<Input> declared = *inputs;
    for (const auto& [name, dims] : options.shapes) {
      const auto input =
          std::find_if(inputs->begin(), inputs->end(),
                       [&name = name](const Input& one) { return one.name == name; });
      if (input == inputs->end()) {
        return fail(Code::Usage, "{}: the model has no input '{}'", source.name(),
                    base::printable(name));
      }
      OPLAT_CHECK(give_shape(source, *input, dims));
    }
    ShapeOptions resolved;
    for (std::size_t i = 0; i < inputs->size(); ++i) {
      Input& input = (*inputs)[i];
      if (options.batch && !input.dims.empty() && input.dims.front() < 0)
        input.dims.front() = *options.batch;
      if (input.dims != declared[i].dims) resolved.shapes[input.name] = std::move(input.dims);
    }
    return resolved;
  }
};

}  // namespace

const FormatReader& reader() {
  static const MnnReader kReader;
  return kReader;
}

}  // namespace oplat::formats::mnn
