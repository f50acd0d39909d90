// SPDX-License-Identifier: Apache-2.0
/// Layers of PyTorch: arguments, shapes, work, keys.
#include "oplat/ir/module_query.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "oplat/base/text.hpp"

namespace oplat::ir {
namespace {

using Dims = std::vector<std::int64_t>;

enum class Kind : std::uint8_t { Conv, ConvTranspose, Linear, AdaptiveAvgPool, AvgPool, MaxPool, MatMul, Attention };

struct Operator {
  std::string name;
  Kind kind = Kind::Conv;
  std::size_t axes = 0;  ///< of the map
};

const std::vector<Operator>& all_operators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> made;
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kMapped = {{{"Conv", Kind::Conv}, {"ConvTranspose", Kind::ConvTranspose},
      {"AdaptiveAvgPool", Kind::AdaptiveAvgPool}, {"AvgPool", Kind::AvgPool}, {"MaxPool", Kind::MaxPool}}};
    for (const auto& [name, kind] : kMapped) {
      for (std::size_t axes = 1; axes <= 3; ++axes) made.push_back({fmt::format("{}{}d", name, axes), kind, axes});
    }
    made.push_back({"Linear", Kind::Linear, 0});
    made.push_back({"MatMul", Kind::MatMul, 0});
    made.push_back({"MultiheadAttention", Kind::Attention, 0});
    return made;
  }();
  return all;
}

Result<const Operator*> operator_of(std::string_view name) {
  for (const Operator& one : all_operators()) {
    if (one.name == name) return &one;
  }
  const std::vector<std::string> known = module_ops();
  const auto meant = base::nearest_word(name, known);
  return fail(Code::Input, "operator '{}' is not known{}; there are {}", base::printable(name), meant ? fmt::format(" (do you mean {}?)", *meant) : "",
              base::join(known, ", "));
}

/// No tensor of a network is longer in one direction.
constexpr std::int64_t kMostDim = std::int64_t{1} << 31;
/// ... and no argument is larger; products of two of them stay far below 63 bits.
constexpr std::int64_t kMostArgument = std::int64_t{1} << 28;
constexpr std::size_t kMostRank = 16;

Result<std::int64_t> product(const Dims& dims) {
  const auto elements = Shape::of(dims).elements();
  if (!elements) return fail(Code::Input, "a tensor of [{}] has more elements than can be counted", fmt::join(dims, ","));
  return *elements;
}

/// What a constructor takes.
struct Parameter {
  std::string_view name;
  bool axis = false;                      ///< one number an axis; a single one stands for all
  std::optional<std::int64_t> otherwise;  ///< nothing: it has to be given
  std::int64_t least = 0;
};

std::vector<Parameter> parameters_of(Kind kind) {
  constexpr std::optional<std::int64_t> kNeeded;
  switch (kind) {
    case Kind::Conv:
      return {{"bias", false, 1}, {"dilation", true, 1, 1}, {"groups", false, 1, 1}, {"in_channels", false, kNeeded, 1},
              {"kernel_size", true, kNeeded, 1}, {"out_channels", false, kNeeded, 1}, {"padding", true, 0}, {"stride", true, 1, 1}};
    case Kind::ConvTranspose:
      return {{"bias", false, 1}, {"dilation", true, 1, 1}, {"groups", false, 1, 1}, {"in_channels", false, kNeeded, 1},
              {"kernel_size", true, kNeeded, 1}, {"out_channels", false, kNeeded, 1}, {"output_padding", true, 0}, {"padding", true, 0},
              {"stride", true, 1, 1}};
    case Kind::Linear: return {{"bias", false, 1}, {"in_features", false, kNeeded, 1}, {"out_features", false, kNeeded, 1}};
    case Kind::AdaptiveAvgPool: return {{"output_size", true, 1, 1}};
    case Kind::AvgPool: return {{"ceil_mode", false, 0}, {"kernel_size", true, kNeeded, 1}, {"padding", true, 0}, {"stride", true, kNeeded, 1}};
    case Kind::MaxPool:
      return {{"ceil_mode", false, 0}, {"dilation", true, 1, 1}, {"kernel_size", true, kNeeded, 1}, {"padding", true, 0}, {"stride", true, kNeeded, 1}};
    case Kind::MatMul: return {};
    case Kind::Attention:
      return {{"embed_dim", false, kNeeded, 1}, {"kdim", false, kNeeded, 1}, {"num_heads", false, kNeeded, 1}, {"vdim", false, kNeeded, 1}};
  }
  return {};
}

const Value* find(const std::vector<NamedValue>& args, std::string_view name) {
  for (const auto& [one, value] : args) {
    if (one == name) return &value;
  }
  return nullptr;
}

/// What an argument is where it is left out, if that depends on others.
const Value* follows(Kind kind, std::string_view name, const std::vector<NamedValue>& args) {
  if ((kind == Kind::AvgPool || kind == Kind::MaxPool) && name == "stride") return find(args, "kernel_size");
  if (kind == Kind::Attention && (name == "kdim" || name == "vdim")) return find(args, "embed_dim");
  return nullptr;
}

Result<std::int64_t> number(const Parameter& parameter, const Value& value) {
  const std::int64_t* found = value.integer();
  const bool truth = parameter.name == "bias" || parameter.name == "ceil_mode";
  if (found != nullptr && *found >= parameter.least && *found <= (truth ? 1 : kMostArgument)) return *found;
  return fail(Code::Input, "'{}' is {}; expected {}", parameter.name, found != nullptr ? fmt::format("{}", *found) : "no whole number",
              truth ? "true or false" : fmt::format("a number from {} to {}", parameter.least, kMostArgument));
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
  if (numbers.size() != op.axes) return fail(Code::Input, "'{}' holds {} numbers; {} needs {}", parameter.name, numbers.size(), op.name, op.axes);
  return Value::ints(numbers);
}

// Of a canonical query: there and of the right form.
std::int64_t one(const ModuleQuery& query, std::string_view name) { return *find(query.args, name)->integer(); }
Dims many(const ModuleQuery& query, std::string_view name) {
  Dims numbers;
  for (const Value& value : *find(query.args, name)->list()) numbers.push_back(*value.integer());
  return numbers;
}

Status check_shapes(const Operator& op, const ModuleQuery& query) {
  const std::size_t expected = op.kind == Kind::MatMul ? 2 : op.kind == Kind::Attention ? 3 : 1;
  if (query.input_shapes.size() != expected) return fail(Code::Input, "{} has {} inputs; here are {}", op.name, expected, query.input_shapes.size());
  for (const Dims& shape : query.input_shapes) {
    const bool mapped = op.axes > 0;
    const std::size_t least = op.kind == Kind::Linear ? 1 : op.kind == Kind::MatMul ? 2 : 3;
    if (mapped ? shape.size() != op.axes + 2 : shape.size() < least || shape.size() > kMostRank || (op.kind == Kind::Attention && shape.size() != 3)) {
      return fail(Code::Input, "an input of [{}]; {} expects {}", fmt::join(shape, ","), op.name,
                  mapped ? fmt::format("[batch, channels] and {} more dimensions", op.axes)
                         : op.kind == Kind::Attention ? "[steps, batch, features]" : fmt::format("at least {} dimensions", least));
    }
    for (const std::int64_t dim : shape) {
      if (dim < 1 || dim > kMostDim) return fail(Code::Input, "an input of [{}]: {} is no dimension", fmt::join(shape, ","), dim);
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
    if (one(query, "embed_dim") % one(query, "num_heads") != 0) return fail(Code::Input, "'embed_dim' is no multiple of 'num_heads'");
    OPLAT_CHECK(same("embed_dim", one(query, "embed_dim"), in[0][2]));
    OPLAT_CHECK(same("kdim", one(query, "kdim"), in[1][2]));
    OPLAT_CHECK(same("vdim", one(query, "vdim"), in[2][2]));
    if (in[0][1] != in[1][1] || in[0][1] != in[2][1]) return fail(Code::Input, "queries, keys and values have different batches");
    if (in[1][0] != in[2][0]) return fail(Code::Input, "{} keys, but {} values", in[1][0], in[2][0]);
  }
  if (op.kind != Kind::Conv && op.kind != Kind::ConvTranspose) return {};
  OPLAT_CHECK(same("in_channels", one(query, "in_channels"), in[0][1]));
  for (const std::string_view name : {"in_channels", "out_channels"}) {
    if (one(query, name) % one(query, "groups") != 0) return fail(Code::Input, "'{}' {} is no multiple of 'groups' {}", name, one(query, name), one(query, "groups"));
  }
  return {};
}

/// Padding by name, which PyTorch knows too; nothing: it is said in numbers.
Result<std::optional<Value>> named_padding(const Operator& op, const ModuleQuery& query) {
  const Value* padding = find(query.args, "padding");
  if (padding == nullptr || padding->text() == nullptr || op.kind != Kind::Conv) return std::optional<Value>();
  if (*padding->text() == "valid") return std::optional<Value>(Value(0));
  const Value* kernel = find(query.args, "kernel_size");
  const Value* dilation = find(query.args, "dilation");
  if (*padding->text() != "same" || kernel == nullptr) return fail(Code::Input, "'padding' is '{}'; expected numbers, valid or same", base::printable(*padding->text()));
  OPLAT_TRY(kernels, spread(op, {"kernel_size", true, std::nullopt, 1}, *kernel));
  OPLAT_TRY(dilations, spread(op, {"dilation", true, std::nullopt, 1}, dilation != nullptr ? *dilation : Value(1)));
  Dims pads;
  for (std::size_t i = 0; i < op.axes; ++i) {
    const std::int64_t both = *(*dilations.list())[i].integer() * (*(*kernels.list())[i].integer() - 1);
    if (both % 2 != 0) return fail(Code::Input, "'padding' same is uneven for a kernel of an even size");
    pads.push_back(both / 2);
  }
  return std::optional<Value>(Value::ints(pads));
}

Status positive(const ModuleQuery& query, const Dims& out) {
  for (const std::int64_t dim : out) {
    if (dim < 1) return fail(Code::Input, "an output of [{}]: the window is larger than the input [{}]", fmt::join(out, ","), fmt::join(query.input_shapes[0], ","));
  }
  return {};
}

/// Steps of a window over an axis.
std::int64_t steps(std::int64_t size, std::int64_t window, std::int64_t pad, std::int64_t stride, bool round_up) {
  const std::int64_t room = size + 2 * pad - window;
  if (room < 0) return 0;
  std::int64_t count = (room + (round_up ? stride - 1 : 0)) / stride + 1;
  // As PyTorch: the last window begins within the input or the padding before it.
  if (round_up && (count - 1) * stride >= size + pad) --count;
  return count;
}

Result<Dims> output_of(const Operator& op, const ModuleQuery& query) {
  const Dims& in = query.input_shapes[0];
  Dims out = in;
  switch (op.kind) {
    case Kind::Linear: out.back() = one(query, "out_features"); return out;
    case Kind::Attention: return out;
    case Kind::AdaptiveAvgPool: {
      const Dims sizes = many(query, "output_size");
      std::copy(sizes.begin(), sizes.end(), out.begin() + 2);
      return out;
    }
    case Kind::MatMul: {
      const Dims& other = query.input_shapes[1];
      if (in.size() != other.size()) return fail(Code::Input, "inputs of {} and {} dimensions; give both the same number", in.size(), other.size());
      const std::size_t batched = in.size() - 2;
      if (in[batched + 1] != other[batched]) return fail(Code::Input, "[{}] times [{}]: {} columns, but {} rows", fmt::join(in, ","), fmt::join(other, ","), in[batched + 1], other[batched]);
      for (std::size_t i = 0; i < batched; ++i) {
        if (in[i] != other[i] && in[i] != 1 && other[i] != 1) return fail(Code::Input, "[{}] times [{}]: batches do not go together", fmt::join(in, ","), fmt::join(other, ","));
        out[i] = std::max(in[i], other[i]);
      }
      out[batched + 1] = other[batched + 1];
      return out;
    }
    default: break;
  }
  const Dims kernel = many(query, "kernel_size");
  const Dims stride = many(query, "stride");
  const Dims pad = many(query, "padding");
  const bool has_dilation = find(query.args, "dilation") != nullptr;
  const Dims dilation = has_dilation ? many(query, "dilation") : Dims(op.axes, 1);
  const bool round_up = find(query.args, "ceil_mode") != nullptr && one(query, "ceil_mode") == 1;
  for (std::size_t i = 0; i < op.axes; ++i) {
    const std::int64_t window = dilation[i] * (kernel[i] - 1) + 1;
    out[i + 2] = op.kind == Kind::ConvTranspose
                   ? (in[i + 2] - 1) * stride[i] - 2 * pad[i] + window + many(query, "output_padding")[i]
                   : steps(in[i + 2], window, pad[i], stride[i], round_up);
  }
  if (op.kind == Kind::Conv || op.kind == Kind::ConvTranspose) out[1] = one(query, "out_channels");
  OPLAT_CHECK(positive(query, out));
  return out;
}

struct Parameters {
  std::vector<Dims> weights;
  std::vector<Dims> biases;
};

Parameters parameters_of(const Operator& op, const ModuleQuery& query) {
  Parameters made;
  switch (op.kind) {
    case Kind::Conv:
    case Kind::ConvTranspose: {
      const bool transposed = op.kind == Kind::ConvTranspose;
      const std::int64_t first = one(query, transposed ? "in_channels" : "out_channels");
      const std::int64_t second = one(query, transposed ? "out_channels" : "in_channels");
      Dims weight = {first, second / one(query, "groups")};
      for (const std::int64_t size : many(query, "kernel_size")) weight.push_back(size);
      made.weights.push_back(std::move(weight));
      if (one(query, "bias") == 1) made.biases.push_back({one(query, "out_channels")});
      break;
    }
    case Kind::Linear:
      made.weights.push_back({one(query, "out_features"), one(query, "in_features")});
      if (one(query, "bias") == 1) made.biases.push_back({one(query, "out_features")});
      break;
    case Kind::Attention: {
      const std::int64_t width = one(query, "embed_dim");
      made.weights = {{width, width}, {width, one(query, "kdim")}, {width, one(query, "vdim")}, {width, width}};
      made.biases = {{3 * width}, {width}};
      break;
    }
    default: break;
  }
  return made;
}

double as_double(const Dims& dims) {
  double all = 1;
  for (const std::int64_t dim : dims) all *= static_cast<double>(dim);
  return all;
}

/// Positions of a map at which all weights are used: of everything but the channels.
double positions(const Dims& shape) { return as_double(shape) / static_cast<double>(shape[1]); }

void count_work(const Operator& op, const ModuleQuery& query, ModuleFacts& facts) {
  const Dims& in = query.input_shapes[0];
  const auto weights = static_cast<double>(facts.weights);
  switch (op.kind) {
    case Kind::Conv: facts.macs = facts.mobile_cv_flops = weights * positions(facts.output_shape); break;
    case Kind::ConvTranspose:
      facts.macs = weights * positions(in);
      facts.mobile_cv_flops = weights * positions(facts.output_shape);
      break;
    case Kind::Linear: facts.macs = facts.mobile_cv_flops = weights * as_double(in) / static_cast<double>(in.back()); break;
    case Kind::MatMul: facts.macs = facts.mobile_cv_flops = as_double(facts.output_shape) * static_cast<double>(in.back()); break;
    case Kind::Attention: {
      const auto length = static_cast<double>(in[0]);
      const auto keys = static_cast<double>(query.input_shapes[1][0]);
      const auto width = static_cast<double>(in[2]);
      const auto inputs = static_cast<double>(query.input_shapes[1][2] + query.input_shapes[2][2]);
      facts.macs = static_cast<double>(in[1]) * (2 * length * width * width + keys * inputs * width + 2 * length * keys * width);
      facts.mobile_cv_flops = facts.macs;
      break;
    }
    case Kind::AdaptiveAvgPool:
    case Kind::AvgPool:
    case Kind::MaxPool: facts.mobile_cv_flops = as_double(in); break;
  }
}

}  // namespace

std::vector<std::string> module_ops() {
  std::vector<std::string> names;
  for (const Operator& op : all_operators()) names.push_back(op.name);
  return names;
}

Result<ModuleQuery> canonical(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  ModuleQuery made;
  made.op = query.op;
  made.input_shapes = query.input_shapes;
  OPLAT_CHECK(check_shapes(*op, query));
  const std::vector<Parameter> parameters = parameters_of(op->kind);
  for (const auto& [name, value] : query.args) {
    if (std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; })) continue;
    std::vector<std::string> known;
    for (const Parameter& parameter : parameters) known.emplace_back(parameter.name);
    return fail(Code::Input, "{} has no argument '{}'; it has {}", op->name, base::printable(name), known.empty() ? "none" : base::join(known, ", "));
  }
  OPLAT_TRY(padding, named_padding(*op, query));
  for (const Parameter& parameter : parameters) {
    const Value* given = parameter.name == "padding" && padding ? &*padding : find(query.args, parameter.name);
    const Value* other = given == nullptr || given->unknown() ? follows(op->kind, parameter.name, query.args) : nullptr;
    if (other != nullptr) given = other;
    if (given == nullptr && !parameter.otherwise) return fail(Code::Input, "{} lacks the argument '{}'", op->name, parameter.name);
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

Result<ModuleFacts> facts_of(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  ModuleFacts facts;
  OPLAT_TRY(out, output_of(*op, query));
  facts.output_shape = std::move(out);
  OPLAT_CHECK(product(facts.output_shape));
  const Parameters parameters = parameters_of(*op, query);
  for (const Dims& shape : parameters.weights) {
    OPLAT_TRY(elements, product(shape));
    if (__builtin_add_overflow(facts.weights, elements, &facts.weights)) return fail(Code::Input, "more weights than can be counted");
  }
  facts.parameters = facts.weights;
  for (const Dims& shape : parameters.biases) {
    if (__builtin_add_overflow(facts.parameters, shape[0], &facts.parameters)) return fail(Code::Input, "more weights than can be counted");
  }
  count_work(*op, query, facts);
  return facts;
}

Result<Key> key_of(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  OPLAT_TRY(facts, facts_of(query));
  Key key;
  key.domain = "torch";
  key.op = query.op;
  for (const NamedValue& arg : query.args) {
    // Shapes of the operands say these.
    static constexpr std::array<std::string_view, 8> kSaid = {"bias", "in_channels", "out_channels", "in_features", "out_features", "embed_dim", "kdim", "vdim"};
    if (std::find(kSaid.begin(), kSaid.end(), arg.first) == kSaid.end()) key.attributes.push_back(arg);
  }
  for (const Dims& shape : query.input_shapes) key.operands.emplace_back(TensorEntry{Dtype::F32, false, Shape::of(shape), std::nullopt});
  const Parameters parameters = parameters_of(*op, query);
  for (const std::vector<Dims>* shapes : {&parameters.weights, &parameters.biases}) {
    for (const Dims& shape : *shapes) key.operands.emplace_back(TensorEntry{Dtype::F32, true, Shape::of(shape), std::nullopt});
  }
  key.results.emplace_back(TensorEntry{Dtype::F32, false, Shape::of(facts.output_shape), std::nullopt});
  key.canonicalise();
  return key;
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

}  // namespace oplat::ir
