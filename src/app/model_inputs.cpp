// SPDX-License-Identifier: Apache-2.0
/// The checks of a model file that need no reader.
#include "app/model_inputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/files.hpp"
#include "base/name_value.hpp"
#include "base/text.hpp"
#include "formats/batch.hpp"
#include "formats/made_up_inputs.hpp"
#include "ir/catalogue.hpp"
#include "ir/operand_values.hpp"
#include "predict/prediction.hpp"

namespace oplat::app {

Result<formats::ShapeOptions> parse_shapes(const ModelInputTexts& texts) {
  formats::ShapeOptions shapes;
  shapes.batch = texts.batch;
  if (!texts.batches.empty()) shapes.batch = texts.batches.front();
  for (const std::string& text : texts.shapes) {
    OPLAT_TRY(pair, base::name_value("--shape", text));
    std::vector<std::int64_t> dims;
    for (const std::string& part : base::split(pair.second, 'x')) {
      const auto dim = base::parse_int(part);
      if (!dim || *dim < 0 || *dim > (std::int64_t{1} << 40)) {
        return fail(Code::Usage,
                    "--shape {}: '{}' is not a dimension; expected numbers separated by x: "
                    "NAME=1x3x224x224{}",
                    base::printable(text), base::printable(part),
                    part.find('=') == std::string::npos
                        ? ""
                        : "; a name that holds = is quoted: '\"a=b\"=1x3'");
      }
      dims.push_back(*dim);
    }
    if (!shapes.shapes.emplace(pair.first, std::move(dims)).second)
      return fail(Code::Usage, "--shape {} is given twice", base::printable(pair.first));
  }
  return shapes;
}

Result<ModelInputs> parse_model_inputs(const ModelInputTexts& texts) {
  ModelInputs inputs;
  OPLAT_TRY(shapes, parse_shapes(texts));
  inputs.shapes = std::move(shapes);
  for (const std::string& text : texts.inputs) {
    OPLAT_TRY(pair, base::name_value("--input", text));
    if (!inputs.data.emplace(pair.first, pair.second).second)
      return fail(Code::Usage, "--input {} is given twice", base::printable(pair.first));
  }
  return inputs;
}

Status check_model_file(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(Code::Input, "{}: {}", path,
                errno == ENOENT ? "no such file" : std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail(Code::Input, "{}: is a folder, not a model file", path);
  if (!S_ISREG(info.st_mode))
    return fail(Code::Input, "{}: is not a regular file; save its content to a file first", path);
  if (::access(path.c_str(), R_OK) != 0)
    return fail(Code::Input, "{}: cannot be read: {}", path, std::strerror(errno));
  if (info.st_size == 0) return fail(Code::Input, "{}: the file is empty; expected a model", path);
  return {};
}

std::optional<std::int64_t> rewritten_batch(const std::string& path, const ModelInputs& inputs) {
  if (!inputs.shapes.batch) return std::nullopt;
  const auto source = base::Source::open(path);
  if (!source) return std::nullopt;
  const auto reader = formats::reader_for(*source);
  if (!reader) return std::nullopt;
  const auto fixed = (*reader)->rewritten_batch(*source, inputs.shapes);
  return fixed ? *fixed : std::nullopt;
}

namespace {

std::vector<formats::FedInput> fed_inputs_of(const ir::Graph& graph) {
  std::vector<formats::FedInput> fed;
  for (const ir::TensorId id : graph.inputs) {
    if (id == ir::kNoTensor) continue;
    const ir::TensorInfo& input = graph.tensors.at(static_cast<std::size_t>(id));
    if (input.constant) continue;
    formats::FedInput& one = fed.emplace_back(formats::FedInput{input.name, {}});
    for (const ir::Dim& dim : input.shape.dims) one.dims.push_back(dim.value_or(1));
  }
  return fed;
}

}  // namespace

std::int64_t batch_of(const formats::FormatReader::Whole& whole,
                      const formats::ShapeOptions& shapes) {
  if (shapes.batch) return *shapes.batch;
  if (whole.named_batch) return *whole.named_batch;
  return std::max<std::int64_t>(
      1, formats::leading_dimension(whole.graph, fed_inputs_of(whole.graph)));
}

std::optional<std::string> nothing_to_run(const formats::FormatReader::Whole& whole) {
  return formats::nothing_to_run(whole.graph, fed_inputs_of(whole.graph),
                                 whole.named_batch.value_or(1));
}

Result<std::int64_t> batch_of_file(const std::string& path, const formats::ShapeOptions& shapes) {
  if (shapes.batch) return *shapes.batch;
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(whole, reader->read_whole(source, shapes));
  return batch_of(whole, shapes);
}

Result<ModelInputs> settle_batch(const std::string& path, const ModelInputs& inputs,
                                 Events& events) {
  ModelInputs settled = inputs;
  if (inputs.shapes.batch) {
    if (const auto fixed = rewritten_batch(path, inputs))
      events.note(fmt::format("{}: the file fixes batch {}; it is rewritten to batch {}",
                              base::printable(path, 400), *fixed, *inputs.shapes.batch));
    return settled;
  }
  const auto source = base::Source::open(path);
  if (!source) return settled;
  const auto reader = formats::reader_for(*source);
  if (!reader) return settled;
  const auto as_given = (*reader)->resolve(*source, inputs.shapes);
  const auto open = (*reader)->leaves_batch_open(*source);
  if (as_given || as_given.error().code != Code::Usage || !open || !*open) return settled;
  settled.shapes.batch = 1;
  if (!(*reader)->resolve(*source, settled.shapes)) return inputs;
  events.note(fmt::format("{}: its batch is open; batch 1 is taken (--batch N sets another)",
                          base::printable(path, 400)));
  return settled;
}

void warn_of_made_up_inputs(const std::string& path, const ModelInputs& inputs, Events& events) {
  const auto source = base::Source::open(path);
  if (!source) return;
  for (const std::string& text : formats::made_up_texts(*source, inputs.shapes, inputs.data))
    events.warn(fmt::format("{}: {}", base::printable(path, 200), text));
}

bool given_data_decide_bodies(const std::string& path, const ModelInputs& inputs) {
  if (inputs.data.empty()) return false;
  const auto source = base::Source::open(path);
  return source && formats::given_data_decide_bodies(*source, inputs.shapes, inputs.data);
}

void warn_of_value_caveats(const std::string& path, const table::Plan& plan, Events& events) {
  std::vector<std::string_view> keys;
  for (const table::PlanKernel& kernel : plan.kernels) keys.push_back(kernel.key);
  for (const std::string& text : predict::value_caveat_texts(keys))
    events.warn(fmt::format("{}: {}", base::printable(path, 200), text));
}

namespace {

/// Whether a node of this name is in a body, as a runtime's worker names nodes: "n7_0_2".
bool is_in_body(std::string_view name) {
  const auto part = [&] {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits > 0;
  };
  if (!name.starts_with('n')) return false;
  name.remove_prefix(1);
  if (!part() || name.empty()) return false;
  while (name.starts_with('_')) {
    name.remove_prefix(1);
    if (!part()) return false;
  }
  return name.empty();
}

}  // namespace

bool may_depend_on_values(const table::Plan& plan) {
  if (plan.kernels.empty()) return true;  // what would run is left out
  std::unordered_set<std::string_view> seen;
  for (const table::PlanKernel& kernel : plan.kernels) {
    if (is_in_body(kernel.name)) return true;
    if (!seen.insert(kernel.key).second) continue;
    const auto key = ir::parse(kernel.key);
    if (!key) return true;
    // Of an operator that is not in the catalogue nothing is known.
    if (ir::Catalogue::own().find(key->domain, key->op) == nullptr) return true;
    for (std::size_t i = 0; i < key->operands.size(); ++i) {
      const ir::TensorEntry* operand = key->operand(i);
      if (operand == nullptr || operand->constant) continue;
      const ir::OperandRule* rule = ir::operand_rule(key->domain, key->op, i);
      if (rule != nullptr && formats::decides_work(rule->role)) return true;
    }
  }
  return false;
}

}  // namespace oplat::app
