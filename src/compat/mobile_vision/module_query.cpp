// SPDX-License-Identifier: Apache-2.0
/// Layers of PyTorch: arguments made canonical and checked against shapes.
#include "compat/mobile_vision/module_query.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "compat/mobile_vision/module_operators.hpp"

namespace oplat::compat::mobile_vision {

using namespace ir;  // NOLINT: the file is about keys

using namespace modules;

namespace {

/// No tensor of a network is longer in one direction.
constexpr std::int64_t kMaxModuleDim = std::int64_t{1} << 31;
/// ... and no argument is larger; products of two of them stay far below 63 bits.
constexpr std::int64_t kMaxArgument = std::int64_t{1} << 28;
constexpr std::size_t kMaxModuleRank = 16;

/// What an argument is where it is left out, if that depends on others.
const Value* follows(Kind kind, std::string_view name, const std::vector<NamedValue>& args) {
  if ((kind == Kind::AvgPool || kind == Kind::MaxPool) && name == "stride")
    return find(args, "kernel_size");
  if (kind == Kind::Attention && (name == "kdim" || name == "vdim")) return find(args, "embed_dim");
  return nullptr;
}

Result<std::int64_t> number(const Parameter& parameter, const Value& value) {
  const std::int64_t* found = value.integer();
  const bool truth = parameter.name == "bias" || parameter.name == "ceil_mode";
  if (found != nullptr && *found >= parameter.least && *found <= (truth ? 1 : kMaxArgument))
    return *found;
  return fail(Code::Input, "'{}' is {}; expected {}", parameter.name,
              found != nullptr ? fmt::format("{}", *found) : "not an integer",
              truth ? "true or false"
                    : fmt::format("a number from {} to {}", parameter.least, kMaxArgument));
}

Result<Value> spread(const Operator& op, const Parameter& parameter, const Value& value) {
  Dims numbers;
  if (value.list() == nullptr) {
    OPLAT_TRY(one, number(parameter, value));
    numbers.assign(op.axes, one);
  } else {
    for (const Value& entry : *value.list()) {
      OPLAT_TRY(one, number(parameter, entry));
      numbers.push_back(one);
    }
  }
  if (numbers.size() != op.axes)
    return fail(Code::Input, "'{}' holds {} numbers; {} needs {}", parameter.name, numbers.size(),
                op.name, op.axes);
  return Value::ints(numbers);
}

Status check_shapes(const Operator& op, const ModuleQuery& query) {
  const std::size_t expected = op.kind == Kind::MatMul ? 2 : op.kind == Kind::Attention ? 3 : 1;
  if (query.input_shapes.size() != expected)
    return fail(Code::Input, "{} has {} inputs; found {}", op.name, expected,
                query.input_shapes.size());
  for (const Dims& shape : query.input_shapes) {
    const bool mapped = op.axes > 0;
    const std::size_t least = op.kind == Kind::Linear ? 1 : op.kind == Kind::MatMul ? 2 : 3;
    if (mapped ? shape.size() != op.axes + 2
               : shape.size() < least || shape.size() > kMaxModuleRank ||
                     (op.kind == Kind::Attention && shape.size() != 3)) {
      return fail(Code::Input, "an input is [{}]; {} expects {}", fmt::join(shape, ","), op.name,
                  mapped ? fmt::format("[batch, channels] and {} more dimensions", op.axes)
                  : op.kind == Kind::Attention ? "[steps, batch, features]"
                                               : fmt::format("at least {} dimensions", least));
    }
    for (const std::int64_t dim : shape) {
      if (dim < 1 || dim > kMaxModuleDim)
        return fail(Code::Input, "an input is [{}]; {} is not a dimension", fmt::join(shape, ","),
                    dim);
    }
    OPLAT_CHECK(product(shape));
  }
  return {};
}

Status same(std::string_view what, std::int64_t said, std::int64_t seen) {
  if (said == seen) return {};
  return fail(Code::Input, "'{}' is {}, but the input has {}", what, said, seen);
}

Status check_channels(const Operator& op, const ModuleQuery& query) {
  const std::vector<Dims>& in = query.input_shapes;
  if (op.kind == Kind::Linear) return same("in_features", one(query, "in_features"), in[0].back());
  if (op.kind == Kind::Attention) {
    if (one(query, "embed_dim") % one(query, "num_heads") != 0)
      return fail(Code::Input, "'embed_dim' is not a multiple of 'num_heads'");
    OPLAT_CHECK(same("embed_dim", one(query, "embed_dim"), in[0][2]));
    OPLAT_CHECK(same("kdim", one(query, "kdim"), in[1][2]));
    OPLAT_CHECK(same("vdim", one(query, "vdim"), in[2][2]));
    if (in[0][1] != in[1][1] || in[0][1] != in[2][1])
      return fail(Code::Input, "queries, keys and values have different batches");
    if (in[1][0] != in[2][0])
      return fail(Code::Input, "there are {} keys, but {} values", in[1][0], in[2][0]);
  }
  if (op.kind != Kind::Conv && op.kind != Kind::ConvTranspose) return {};
  OPLAT_CHECK(same("in_channels", one(query, "in_channels"), in[0][1]));
  for (const std::string_view name : {"in_channels", "out_channels"}) {
    if (one(query, name) % one(query, "groups") != 0)
      return fail(Code::Input, "'{}' {} is not a multiple of 'groups' {}", name, one(query, name),
                  one(query, "groups"));
  }
  return {};
}

/// Padding by name, which PyTorch knows too; nothing: it is said in numbers.
Result<std::optional<Value>> named_padding(const Operator& op, const ModuleQuery& query) {
  const Value* padding = find(query.args, "padding");
  if (padding == nullptr || padding->text() == nullptr || op.kind != Kind::Conv)
    return std::optional<Value>();
  if (*padding->text() == "valid") return std::optional<Value>(Value(0));
  const Value* kernel = find(query.args, "kernel_size");
  const Value* dilation = find(query.args, "dilation");
  if (*padding->text() != "same" || kernel == nullptr)
    return fail(Code::Input, "'padding' is '{}'; expected numbers, valid or same",
                base::printable(*padding->text()));
  OPLAT_TRY(kernels, spread(op, {"kernel_size", true, std::nullopt, 1}, *kernel));
  OPLAT_TRY(dilations, spread(op, {"dilation", true, std::nullopt, 1},
                              dilation != nullptr ? *dilation : Value(1)));
  Dims pads;
  for (std::size_t i = 0; i < op.axes; ++i) {
    const std::int64_t both =
        *(*dilations.list())[i].integer() * (*(*kernels.list())[i].integer() - 1);
    if (both % 2 != 0)
      return fail(Code::Input,
                  "'padding' same is asymmetric for a kernel of even size; give numbers");
    pads.push_back(both / 2);
  }
  return std::optional<Value>(Value::ints(pads));
}

}  // namespace

Result<ModuleQuery> canonical(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  ModuleQuery made;
  made.op = query.op;
  made.input_shapes = query.input_shapes;
  OPLAT_CHECK(check_shapes(*op, query));
  const std::vector<Parameter> parameters = parameters_of(op->kind);
  for (const auto& [name, value] : query.args) {
    if (std::any_of(parameters.begin(), parameters.end(),
                    [&name = name](const Parameter& p) { return p.name == name; }))
      continue;
    std::vector<std::string> known;
    for (const Parameter& parameter : parameters) known.emplace_back(parameter.name);
    return fail(Code::Input, "{} has no argument '{}'; it has {}", op->name, base::printable(name),
                known.empty() ? "none" : base::join(known, ", "));
  }
  OPLAT_TRY(padding, named_padding(*op, query));
  for (const Parameter& parameter : parameters) {
    const Value* given =
        parameter.name == "padding" && padding ? &*padding : find(query.args, parameter.name);
    const Value* other = given == nullptr || given->unknown()
                             ? follows(op->kind, parameter.name, query.args)
                             : nullptr;
    if (other != nullptr) given = other;
    if (given == nullptr && !parameter.otherwise)
      return fail(Code::Input, "{} lacks the argument '{}'", op->name, parameter.name);
    Value value = given != nullptr ? *given : Value(*parameter.otherwise);
    if (parameter.axis) {
      OPLAT_TRY(all, spread(*op, parameter, value));
      value = std::move(all);
    } else {
      OPLAT_TRY(single, number(parameter, value));
      value = single;
    }
    made.args.emplace_back(std::string(parameter.name), std::move(value));
  }
  OPLAT_CHECK(check_channels(*op, made));
  return made;
}

std::optional<ModuleQuery> with_other_bias(const ModuleQuery& query) {
  ModuleQuery other = query;
  for (auto& [name, value] : other.args) {
    if (name != "bias" || value.integer() == nullptr) continue;
    value = std::int64_t{1} - *value.integer();
    return other;
  }
  return std::nullopt;
}

}  // namespace oplat::compat::mobile_vision
