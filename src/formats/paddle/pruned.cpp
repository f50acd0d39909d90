// SPDX-License-Identifier: Apache-2.0
/// Zeros in the filters of pointwise convolutions, the only values of parameters that are ever
/// looked at.
#include <algorithm>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "formats/paddle.hpp"
#include "formats/paddle/program.hpp"

namespace oplat::formats::paddle {
namespace {

/// Filters of more elements belong to no network.
constexpr std::int64_t kMaxPrunedElements = std::int64_t{1} << 28;

const ir::Value* attribute(const Operator& op, std::string_view name) {
  const auto found = std::find_if(op.attributes.begin(), op.attributes.end(),
                                  [&](const ir::NamedValue& each) { return each.first == name; });
  return found == op.attributes.end() ? nullptr : &found->second;
}

/// Whether all numbers of the attribute are this one; so they are where it is missing.
bool all_are(const Operator& op, std::string_view name, std::int64_t number) {
  const ir::Value* given = attribute(op, name);
  if (given == nullptr) return true;
  const auto is = [&](const ir::Value& value) {
    return value.integer() != nullptr && *value.integer() == number;
  };
  const ir::List* list = given->list();
  return list == nullptr ? is(*given) : std::all_of(list->begin(), list->end(), is);
}

/// The filter that the pass looks at, by name.
const std::string* filter_of(const Operator& op) {
  if (op.type != "conv2d" || !all_are(op, "groups", 1) || !all_are(op, "strides", 1) ||
      !all_are(op, "paddings", 0))
    return nullptr;
  for (const Argument& argument : op.inputs) {
    if (argument.slot == "Filter" && argument.variables.size() == 1)
      return &argument.variables.front();
  }
  return nullptr;
}

bool is_pointwise(const Variable& filter) {
  const Dims& dims = filter.dims;
  return is_parameter(filter) && filter.dtype == ir::Dtype::F32 && dims.size() == 4 &&
         dims[2] == 1 && dims[3] == 1 && dims[0] > 0 && dims[1] > 0 &&
         dims[0] <= kMaxPrunedElements / dims[1];
}

/// Share of zeros among the elements that end at `end`; std::nullopt if the file ends before.
std::optional<double> zeros_before(std::ifstream& file, std::uint64_t end, const Variable& filter) {
  const auto count = static_cast<std::size_t>(filter.dims[0] * filter.dims[1]);
  std::vector<float> elements(count);
  file.seekg(static_cast<std::streamoff>(end - count * sizeof(float)));
  file.read(reinterpret_cast<char*>(elements.data()),
            static_cast<std::streamsize>(count * sizeof(float)));
  if (!file) return std::nullopt;
  const auto zeros = std::count(elements.begin(), elements.end(), 0.0F);
  return static_cast<double>(zeros) / static_cast<double>(count);
}

}  // namespace

Result<std::size_t> count_pruned_filters(const base::Source& source, double share) {
  OPLAT_TRY(program, parse_program(source.name(), source.bytes()));
  OPLAT_CHECK(check_parameters(source, program));
  const std::vector<std::string> files = parameter_files(source, program);
  const auto& variables = program.blocks.front().variables;
  // A file for each parameter is how exports of the first years were, before anybody pruned for
  // sparse kernels.
  if (files.size() != 1 || variables.contains(files.front())) return 0;
  std::unordered_map<std::string_view, std::size_t> uses;
  for (const Operator& op : program.blocks.front().operators) {
    if (const std::string* name = filter_of(op)) ++uses[*name];
  }
  OPLAT_TRY(path, source.sibling_path(files.front()));
  std::ifstream file(path, std::ios::binary);
  std::size_t pruned = 0;
  // Parameters are saved in order of their names, which is that of the map.
  std::uint64_t end = 0;
  for (const auto& [name, variable] : variables) {
    if (!is_parameter(variable)) continue;
    end += stored_bytes(variable).value_or(0);
    const auto used = uses.find(name);
    if (used == uses.end() || !is_pointwise(variable)) continue;
    const auto zeros = zeros_before(file, end, variable);
    if (!zeros) return 0;
    if (*zeros >= share) pruned += used->second;
  }
  return pruned;
}

}  // namespace oplat::formats::paddle
