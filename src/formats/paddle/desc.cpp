// SPDX-License-Identifier: Apache-2.0
/// ProgramDesc: protobuf into the common form.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"
#include "formats/paddle/program.hpp"
#include "paddle/program.pb.h"

namespace oplat::formats::paddle {
namespace {

namespace wire = ::oplat::paddle;

/// Programs nest a handful of messages; untrusted ones need not go deeper.
constexpr int kMaxDepth = 32;

/// Values of VarType::Type that hold tensors.
enum HolderType : int { kDense = 7, kSelectedRows = 8, kArray = 13 };

/// Values of AttrType.
enum AttributeType : int {
  kInt = 0,
  kFloat = 1,
  kString = 2,
  kInts = 3,
  kFloats = 4,
  kStrings = 5,
  kBoolean = 6,
  kBooleans = 7,
  kBlock = 8,
  kLong = 9,
  kBlocks = 10,
  kLongs = 11,
  kDoubles = 12,
  kVariable = 13,
  kVariables = 14,
  kDouble = 15,
  kScalar = 16,
  kScalars = 17,
};

/// Reads a varint; 0 bytes read where it is none.
std::size_t varint(std::string_view bytes, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 127U) << (7 * i);
    if (byte < 128) return i + 1;
  }
  return 0;
}

ir::Value word(bool value) { return value ? "true" : "false"; }

ir::Value value_of(const wire::Scalar& scalar) {
  if (scalar.has_b()) return word(scalar.b());
  if (scalar.has_i()) return std::int64_t{scalar.i()};
  if (scalar.has_r()) return scalar.r();
  return {};
}

template <class Elements, class Make>
ir::Value list_of(const Elements& elements, Make make) {
  ir::List list;
  for (const auto& element : elements) list.push_back(make(element));
  return list;
}

/// Nothing of a value that no key holds.
ir::Value value_of(const wire::Attribute& attribute) {
  const auto number = [](std::int64_t n) { return ir::Value(n); };
  const auto real = [](float f) { return ir::Value(formats::caffe2::caffe2_float(f)); };
  const auto wide = [](double d) { return ir::Value(d); };
  const auto text = [](const std::string& s) { return ir::Value(s); };
  switch (attribute.type()) {
    case kInt:
      return std::int64_t{attribute.i()};
    case kFloat:
      return formats::caffe2::caffe2_float(attribute.f());
    case kString:
      return attribute.s();
    case kInts:
      return list_of(attribute.ints(), number);
    case kFloats:
      return list_of(attribute.floats(), real);
    case kStrings:
      return list_of(attribute.strings(), text);
    case kBoolean:
      return word(attribute.b());
    case kBooleans:
      return list_of(attribute.bools(), word);
    case kLong:
      return std::int64_t{attribute.l()};
    case kLongs:
      return list_of(attribute.longs(), number);
    case kDoubles:
      return list_of(attribute.float64s(), wide);
    case kDouble:
      return attribute.float64();
    case kScalar:
      return value_of(attribute.scalar());
    case kScalars:
      return list_of(attribute.scalars(), [](const wire::Scalar& s) { return value_of(s); });
    default:
      return {};
  }
}

Result<Variable> variable_of(const std::string& where, const wire::Variable& source) {
  Variable variable;
  variable.persistable = source.persistable();
  variable.fed = source.need_check_feed();
  const wire::VariableType& type = source.type();
  const wire::Tensor* tensor = nullptr;
  if (type.type() == kDense) tensor = &type.dense().tensor();
  if (type.type() == kSelectedRows) tensor = &type.selected_rows();
  if (type.type() == kArray) tensor = &type.array().tensor();
  variable.tensor = type.type() == kDense || type.type() == kSelectedRows;
  if (tensor == nullptr) return variable;
  variable.dtype = dtype_of(tensor->data_type());
  if (!variable.dtype) {
    return fail(Code::Input,
                "{}: variable '{}' has elements of type {}, which is not a tensor type", where,
                base::printable(source.name()), tensor->data_type());
  }
  variable.dims.assign(tensor->dims().begin(), tensor->dims().end());
  return variable;
}

Result<std::vector<Argument>> arguments_of(
    const std::string& where, const google::protobuf::RepeatedPtrField<wire::Slot>& slots) {
  std::vector<Argument> list;
  std::size_t count = 0;
  for (const wire::Slot& slot : slots) {
    count += static_cast<std::size_t>(slot.arguments_size());
    if (count > kMaxParts || list.size() > kMaxParts) {
      return fail(Code::Input, "{} has more than {} operands or results", where, kMaxParts);
    }
    if (slot.arguments_size() == 0) continue;
    list.push_back({.slot = slot.parameter(),
                    .variables = {slot.arguments().begin(), slot.arguments().end()}});
  }
  return list;
}

Result<Operator> operator_of(const std::string& file, std::size_t index,
                             const wire::Operator& source) {
  Operator op;
  op.type = source.type();
  const std::string where = place(file, index, op);
  if (op.type.empty()) return fail(Code::Input, "{}: operator {} has no type", file, index);
  OPLAT_TRY(inputs, arguments_of(where, source.inputs()));
  OPLAT_TRY(outputs, arguments_of(where, source.outputs()));
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  if (static_cast<std::size_t>(source.attrs_size()) > kMaxParts) {
    return fail(Code::Input, "{} has {} attributes; the limit is {}", where, source.attrs_size(),
                kMaxParts);
  }
  for (const wire::Attribute& each : source.attrs()) {
    if (each.type() < kInt || each.type() > kScalars) {
      return fail(Code::Input, "{}: attribute '{}' has the unknown type {}", where,
                  base::printable(each.name()), each.type());
    }
    if (each.type() == kBlock) op.bodies.emplace_back(each.name(), each.block_idx());
    for (const int block : each.blocks_idx()) op.bodies.emplace_back(each.name(), block);
    if (each.type() == kVariable)
      op.inputs.push_back({.slot = each.name(), .variables = {each.var_name()}});
    if (each.type() == kVariables && each.vars_name_size() > 0) {
      op.inputs.push_back(
          {.slot = each.name(), .variables = {each.vars_name().begin(), each.vars_name().end()}});
    }
    op.attributes.emplace_back(each.name(), value_of(each));
  }
  std::sort(op.attributes.begin(), op.attributes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same =
      std::adjacent_find(op.attributes.begin(), op.attributes.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same != op.attributes.end()) {
    return fail(Code::Input, "{}: attribute '{}' appears twice", where,
                base::printable(same->first));
  }
  return op;
}

Result<Block> block_of(const std::string& file, const wire::Block& source) {
  Block block;
  block.parent = source.parent_idx();
  for (const wire::Variable& each : source.vars()) {
    if (each.name().empty()) return fail(Code::Input, "{}: a variable has no name", file);
    OPLAT_TRY(variable, variable_of(file, each));
    if (!block.variables.try_emplace(each.name(), std::move(variable)).second) {
      return fail(Code::Input, "{}: variable '{}' is described twice", file,
                  base::printable(each.name()));
    }
  }
  block.operators.reserve(static_cast<std::size_t>(source.ops_size()));
  for (int i = 0; i < source.ops_size(); ++i) {
    OPLAT_TRY(op, operator_of(file, static_cast<std::size_t>(i), source.ops(i)));
    block.operators.push_back(std::move(op));
  }
  return block;
}

Status check_bounds(const std::string& file, const wire::Program& program) {
  if (program.blocks_size() == 0) return fail(Code::Input, "{}: the program has no blocks", file);
  std::size_t operators = 0;
  std::size_t variables = 0;
  for (const wire::Block& block : program.blocks()) {
    operators += static_cast<std::size_t>(block.ops_size());
    variables += static_cast<std::size_t>(block.vars_size());
  }
  if (static_cast<std::size_t>(program.blocks_size()) > kMaxBodies || operators > kMaxOperators ||
      variables > kMaxVariables) {
    return fail(Code::Input,
                "{}: has {} blocks, {} operators and {} variables; the limits are {}, {} and {}",
                file, program.blocks_size(), operators, variables, kMaxBodies, kMaxOperators,
                kMaxVariables);
  }
  if (operators == 0) return fail(Code::Input, "{}: the program holds no operators", file);
  return {};
}

}  // namespace

int probe_desc(std::string_view bytes) {
  // A block's length, its index 0, its parent: what every writer begins with. -1 says that there is
  // none; programs made by hand may say 0.
  std::uint64_t length = 0;
  if (bytes.empty() || bytes[0] != '\x0a') return 0;
  const std::size_t read = varint(bytes.substr(1), length);
  if (read == 0) return 0;
  constexpr std::string_view kFirst("\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
  constexpr std::string_view kOwnParent("\x08\x00\x10\x00", 4);
  if (bytes.substr(1 + read).starts_with(kFirst)) return 95;
  return bytes.substr(1 + read).starts_with(kOwnParent) ? 80 : 0;
}

Result<Program> parse_desc(const std::string& name, const std::string& bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(Code::Input, "{}: has {} bytes; protobuf's limit is 2 GiB", name, bytes.size());
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxDepth);
  wire::Program source;
  if (!source.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return fail(
        Code::Input,
        "{}: is not a Paddle program, or is truncated: its bytes are invalid near offset {} of {}",
        name, coded.CurrentPosition(), bytes.size());
  }
  OPLAT_CHECK(check_bounds(name, source));
  Program program;
  for (const wire::Block& each : source.blocks()) {
    OPLAT_TRY(block, block_of(name, each));
    program.blocks.push_back(std::move(block));
  }
  return program;
}

}  // namespace oplat::formats::paddle
