// SPDX-License-Identifier: Apache-2.0
/// What a program is fed with, and the sizes that the user gives to it.
#include <algorithm>

#include "base/name_value.hpp"
#include "base/text.hpp"
#include "formats/paddle/builder.hpp"

namespace oplat::formats::paddle {
namespace {

/// Names of the variables that feed operators write; where there are none, of what is marked as
/// input data.
Result<std::vector<std::string>> fed_variables(const std::string& file, const Block& block) {
  std::vector<std::pair<std::int64_t, std::string>> fed;
  for (std::size_t i = 0; i < block.operators.size(); ++i) {
    const Operator& op = block.operators[i];
    if (op.type != "feed") continue;
    if (op.outputs.size() != 1 || op.outputs.front().variables.size() != 1) {
      return fail(Code::Input, "{} must feed exactly one variable", place(file, i, op));
    }
    std::int64_t column = static_cast<std::int64_t>(fed.size());
    for (const auto& [name, value] : op.attributes) {
      if (name == "col" && value.integer() != nullptr) column = *value.integer();
    }
    fed.emplace_back(column, op.outputs.front().variables.front());
  }
  // Feed operators stand in the order in which they were put in front of the program: backwards.
  std::stable_sort(fed.begin(), fed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [column, name] : fed) names.push_back(std::move(name));
  if (names.empty()) {
    for (const auto& [name, variable] : block.variables) {
      if (variable.fed && variable.tensor && !variable.persistable) names.push_back(name);
    }
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return fail(Code::Input, "{}: input '{}' is fed twice", file, base::printable(*twice));
  }
  return names;
}

std::string asked(const Dims& dims) { return fmt::format("{}", fmt::join(dims, "x")); }

Status give_shape(const std::string& file, Input& input, const Dims& dims) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::Usage, "{}: --shape {}={}: {}", file, base::printable(input.name),
                asked(dims), why);
  };
  if (dims.size() != input.declared.size()) {
    return refuse(fmt::format("the input has {} dimensions: {}", input.declared.size(),
                              dims_text(input.declared)));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1 || dims[i] > kMaxDim) return refuse("expected dimensions from 1 to 2^30");
    if (input.declared[i] != -1 && input.declared[i] != dims[i]) {
      return refuse(fmt::format("the program fixes dimension {} to {}", i, input.declared[i]));
    }
  }
  input.dims = dims;
  return {};
}

Status give_batch(const std::string& file, std::vector<Input>& inputs, std::int64_t batch) {
  if (batch < 1 || batch > kMaxDim)
    return fail(Code::Usage, "{}: --batch {}: expected 1 to 2^30", file, batch);
  bool taken = false;
  for (Input& input : inputs) {
    if (input.dims.empty()) continue;
    if (input.dims.front() == -1) input.dims.front() = batch;
    taken = taken || input.dims.front() == batch;
  }
  if (taken) return {};
  const Input& first = inputs.front();
  return fail(Code::Usage,
              "{}: --batch {}: no input has a first dimension that is unknown or {}: '{}' is {}; "
              "export it with a batch of -1",
              file, batch, batch, base::printable(first.name), dims_text(first.dims));
}

}  // namespace

Result<std::vector<Input>> inputs_of(const std::string& file, const Program& program,
                                     const ShapeOptions& options) {
  const Block& block = program.blocks.front();
  OPLAT_TRY(names, fed_variables(file, block));
  std::vector<Input> inputs;
  for (const std::string& name : names) {
    const auto described = block.variables.find(name);
    if (described == block.variables.end() || !described->second.dtype) {
      return fail(Code::Input, "{}: no variable describes the input '{}'", file,
                  base::printable(name));
    }
    const Dims& dims = described->second.dims;
    const bool sound = std::all_of(dims.begin(), dims.end(),
                                   [](auto d) { return d == -1 || (d >= 1 && d <= kMaxDim); });
    if (!sound || dims.size() > kMaxRank) {
      return fail(Code::Input,
                  "{}: input '{}' has the shape {}; expected dimensions from 1 to {} or -1", file,
                  base::printable(name), dims_text(dims), kMaxDim);
    }
    inputs.push_back({.name = name, .declared = dims, .dims = dims});
  }
  if (inputs.empty()) return fail(Code::Input, "{}: the program has no inputs", file);
  for (const auto& [name, dims] : options.shapes) {
    const auto at = std::find_if(inputs.begin(), inputs.end(),
                                 [&name = name](const Input& input) { return input.name == name; });
    if (at == inputs.end()) {
      return fail(Code::Usage, "{}: has no input '{}'; its inputs are: {}", file,
                  base::printable(name), base::join(names, ", "));
    }
    OPLAT_CHECK(give_shape(file, *at, dims));
  }
  if (options.batch) OPLAT_CHECK(give_batch(file, inputs, *options.batch));
  for (const Input& input : inputs) {
    if (std::find(input.dims.begin(), input.dims.end(), -1) != input.dims.end()) {
      return fail(Code::Usage,
                  "{}: input '{}' has unknown dimensions: {}; set them with --shape {} (with "
                  "its own numbers){}",
                  file, base::printable(input.name), dims_text(input.dims),
                  base::name_value_word(input.name, example_shape(input.dims)),
                  options.batch ? "" : " or, if only the batch is unknown, --batch N");
    }
    if (!ir::Shape::of(input.dims).elements()) {
      return fail(Code::Usage, "{}: input '{}' would have the shape {}, which is too large", file,
                  base::printable(input.name), dims_text(input.dims));
    }
  }
  return inputs;
}

}  // namespace oplat::formats::paddle
