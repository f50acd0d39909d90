// SPDX-License-Identifier: Apache-2.0
/// The list of operators.
#include "compat/mobile_vision/module_operators.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"

namespace oplat::compat::mobile_vision {

using namespace ir;  // NOLINT: the file is about keys

namespace modules {
namespace {

const std::vector<Operator>& all_operators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> made;
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kMapped = {
        {{"Conv", Kind::Conv},
         {"ConvTranspose", Kind::ConvTranspose},
         {"AdaptiveAvgPool", Kind::AdaptiveAvgPool},
         {"AvgPool", Kind::AvgPool},
         {"MaxPool", Kind::MaxPool}}};
    for (const auto& [name, kind] : kMapped) {
      for (std::size_t axes = 1; axes <= 3; ++axes)
        made.push_back({fmt::format("{}{}d", name, axes), kind, axes});
    }
    made.push_back({"Linear", Kind::Linear, 0});
    made.push_back({"MatMul", Kind::MatMul, 0});
    made.push_back({"MultiheadAttention", Kind::Attention, 0});
    return made;
  }();
  return all;
}

}  // namespace

Result<const Operator*> operator_of(std::string_view name) {
  for (const Operator& one : all_operators()) {
    if (one.name == name) return &one;
  }
  const std::vector<std::string> known = module_ops();
  const auto meant = base::nearest_word(name, known);
  return fail(Code::Input, "unknown operator '{}'{}; expected one of {}", base::printable(name),
              meant ? fmt::format(" (do you mean {}?)", *meant) : "", base::join(known, ", "));
}

std::vector<Parameter> parameters_of(Kind kind) {
  constexpr std::optional<std::int64_t> kNeeded;
  switch (kind) {
    case Kind::Conv:
      return {{"bias", false, 1},
              {"dilation", true, 1, 1},
              {"groups", false, 1, 1},
              {"in_channels", false, kNeeded, 1},
              {"kernel_size", true, kNeeded, 1},
              {"out_channels", false, kNeeded, 1},
              {"padding", true, 0},
              {"stride", true, 1, 1}};
    case Kind::ConvTranspose:
      return {{"bias", false, 1},
              {"dilation", true, 1, 1},
              {"groups", false, 1, 1},
              {"in_channels", false, kNeeded, 1},
              {"kernel_size", true, kNeeded, 1},
              {"out_channels", false, kNeeded, 1},
              {"output_padding", true, 0},
              {"padding", true, 0},
              {"stride", true, 1, 1}};
    case Kind::Linear:
      return {{"bias", false, 1},
              {"in_features", false, kNeeded, 1},
              {"out_features", false, kNeeded, 1}};
    case Kind::AdaptiveAvgPool:
      return {{"output_size", true, 1, 1}};
    case Kind::AvgPool:
      return {{"ceil_mode", false, 0},
              {"kernel_size", true, kNeeded, 1},
              {"padding", true, 0},
              {"stride", true, kNeeded, 1}};
    case Kind::MaxPool:
      return {{"ceil_mode", false, 0},
              {"dilation", true, 1, 1},
              {"kernel_size", true, kNeeded, 1},
              {"padding", true, 0},
              {"stride", true, kNeeded, 1}};
    case Kind::MatMul:
      return {};
    case Kind::Attention:
      return {{"embed_dim", false, kNeeded, 1},
              {"kdim", false, kNeeded, 1},
              {"num_heads", false, kNeeded, 1},
              {"vdim", false, kNeeded, 1}};
  }
  return {};
}

Result<std::int64_t> product(const Dims& dims) {
  const auto elements = Shape::of(dims).elements();
  if (!elements)
    return fail(Code::Input, "the number of elements of a tensor [{}] overflows",
                fmt::join(dims, ","));
  return *elements;
}

const Value* find(const std::vector<NamedValue>& args, std::string_view name) {
  for (const auto& [one, value] : args) {
    if (one == name) return &value;
  }
  return nullptr;
}

std::int64_t one(const ModuleQuery& query, std::string_view name) {
  return *find(query.args, name)->integer();
}

Dims many(const ModuleQuery& query, std::string_view name) {
  Dims numbers;
  for (const Value& value : *find(query.args, name)->list()) numbers.push_back(*value.integer());
  return numbers;
}

}  // namespace modules

std::vector<std::string> module_ops() {
  std::vector<std::string> names;
  for (const modules::Operator& op : modules::all_operators()) names.push_back(op.name);
  return names;
}

}  // namespace oplat::compat::mobile_vision
