// SPDX-License-Identifier: Apache-2.0
/// A kernel re-created from its key: k copies of one node, their operands, and a tail that makes
/// the model whole.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/onnx/kernel_bodies.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/parameters.hpp"
#include "formats/onnx/types.hpp"
#include "formats/random_data.hpp"
#include "ir/catalogue.hpp"
#include "ir/drift.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr std::int64_t kDefaultOpset =
    17;  // of the tail's Shape, where the kernel is of another domain
constexpr std::int64_t kSmallTypesOpset = 21;  // the first whose Cast reads 8-bit floats and 4 bits
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 31;  // protobuf's limit of a message
constexpr std::int64_t kPrintedElements =
    64;  // integer constants up to this size stand in keys with their value
constexpr int kStringBits = 256;  // of a string in the runtime's memory
constexpr int kInt64 = 7;         // TensorProto.DataType of Shape's result

std::string indexed(std::string_view stem, std::size_t i) { return fmt::format("{}{}", stem, i); }
std::string indexed(std::string_view stem, std::size_t i, std::int64_t copy) {
  return fmt::format("{}{}_{}", stem, i, copy);
}

/// Dimensions of an entry as numbers; what is missing is named.
Result<std::vector<std::int64_t>> known_dims(const ir::TensorEntry& entry, std::string_view which,
                                             std::size_t i) {
  std::vector<std::int64_t> dims;
  if (!entry.shape.ranked)
    return fail(Code::Missing, "{} {} is not a tensor, or one of unknown rank", which, i);
  for (const ir::Dim& dim : entry.shape.dims) {
    if (!dim) return fail(Code::Missing, "{} {} has an unknown dimension", which, i);
    dims.push_back(*dim);
  }
  return dims;
}

template <class T>
void append_number(std::string& raw, T value) {
  raw.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// One printed value as raw bytes of `dtype`.
Status append_value(std::string& raw, ir::Dtype dtype, const ir::Value& value) {
  if (value.integer() == nullptr && (value.real() == nullptr || !ir::is_float(dtype))) {
    return fail(Code::Missing, "a constant's value is no {}",
                ir::is_float(dtype) ? "number" : "integer");
  }
  const std::int64_t integer = value.integer() != nullptr ? *value.integer() : 0;
  const double real = value.real() != nullptr ? *value.real() : static_cast<double>(integer);
  switch (dtype) {
    case ir::Dtype::F32:
      append_number(raw, static_cast<float>(real));
      return {};
    case ir::Dtype::F64:
      append_number(raw, real);
      return {};
    case ir::Dtype::I64:
    case ir::Dtype::U64:
      append_number(raw, integer);
      return {};
    case ir::Dtype::I32:
    case ir::Dtype::U32:
      append_number(raw, static_cast<std::int32_t>(integer));
      return {};
    case ir::Dtype::I16:
    case ir::Dtype::U16:
      append_number(raw, static_cast<std::int16_t>(integer));
      return {};
    case ir::Dtype::I8:
    case ir::Dtype::U8:
      append_number(raw, static_cast<std::int8_t>(integer));
      return {};
    case ir::Dtype::Bool:
      append_number(raw, static_cast<std::uint8_t>(integer != 0));
      return {};
    default:
      return fail(Code::Missing, "values of type {} cannot be written", ir::name(dtype));
  }
}

/// `count` 4-bit integers, two a byte, the first in the lower half; std::nullopt if one is not an
/// integer.
std::optional<std::string> packed_nibbles(std::int64_t count, const ir::Value& value) {
  std::string raw(static_cast<std::size_t>(count / 2 + count % 2), '\0');
  const ir::List* list = value.list();
  for (std::int64_t i = 0; i < count; ++i) {
    const ir::Value& one = list == nullptr     ? value
                           : list->size() == 1 ? list->front()
                                               : (*list)[static_cast<std::size_t>(i)];
    if (one.integer() == nullptr) return std::nullopt;
    const auto half = static_cast<unsigned>(*one.integer()) & 0xFU;
    char& byte = raw[static_cast<std::size_t>(i / 2)];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | (i % 2 == 0 ? half : half << 4U));
  }
  return raw;
}

/// Fills `tensor` with the value that the key prints: one for all elements, or one each.
Status fill_with_value(wire::Tensor& tensor, ir::Dtype dtype, std::int64_t count,
                       const ir::Value& value) {
  std::string raw;
  const ir::List* list = value.list();
  if (list != nullptr && static_cast<std::int64_t>(list->size()) != count && list->size() != 1) {
    return fail(Code::Missing, "a constant of {} elements has {} values", count, list->size());
  }
  if (dtype == ir::Dtype::I4 || dtype == ir::Dtype::U4) {
    auto packed = packed_nibbles(count, value);
    if (!packed) return fail(Code::Missing, "a constant's value is not an integer");
    tensor.set_raw_data(*std::move(packed));
    return {};
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const ir::Value& one = list == nullptr     ? value
                           : list->size() == 1 ? list->front()
                                               : (*list)[static_cast<std::size_t>(i)];
    OPLAT_CHECK(append_value(raw, dtype, one));
  }
  tensor.set_raw_data(std::move(raw));
  return {};
}

/// Values 0, 1, 2, ... for a tensor of labels that the key does not print.
Status set_labels(wire::Attribute& attribute, const ir::TensorEntry& entry) {
  OPLAT_TRY(dims, known_dims(entry, "tensor attribute", 0));
  const auto count = entry.shape.elements();
  if (!count || *count > kMaxMadeUp)
    return fail(Code::Refused, "attribute {} has more values than are made up", attribute.name());
  wire::Tensor& tensor = *attribute.mutable_t();
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_data_type(onnx_type_of(entry.dtype));
  attribute.set_type(4);
  std::string raw;
  for (std::int64_t i = 0; i < *count; ++i) {
    if (entry.dtype == ir::Dtype::String) {
      tensor.add_string_data(std::to_string(i));
    } else {
      OPLAT_CHECK(append_value(raw, entry.dtype, ir::Value(i)));
    }
  }
  if (entry.dtype != ir::Dtype::String) tensor.set_raw_data(std::move(raw));
  return {};
}

/// "f32c[1]=[0.0]" as a tensor attribute.
Status set_tensor_attribute(wire::Attribute& attribute, std::string_view text, bool labels) {
  OPLAT_TRY(carrier, ir::parse(fmt::format("T{{}}({})->()", text)));
  const ir::TensorEntry* entry = carrier.operand(0);
  if (entry != nullptr && !entry->value && labels) return set_labels(attribute, *entry);
  if (entry == nullptr || !entry->value)
    return fail(Code::Refused,
                "attribute {} is a tensor of which the key says the size alone, and what values "
                "make a legal kernel is not known",
                attribute.name());
  OPLAT_TRY(dims, known_dims(*entry, "tensor attribute", 0));
  const auto count = entry->shape.elements();
  if (!count || *count > kPrintedElements) {
    return fail(Code::Refused, "attribute {} has a tensor of more than {} elements",
                attribute.name(), kPrintedElements);
  }
  wire::Tensor& tensor = *attribute.mutable_t();
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_data_type(onnx_type_of(entry->dtype));
  attribute.set_type(4);
  return fill_with_value(tensor, entry->dtype, *count, *entry->value);
}

Status set_list(wire::Attribute& attribute, const ir::List& list) {
  const bool any_real =
      std::any_of(list.begin(), list.end(), [](const ir::Value& v) { return v.real() != nullptr; });
  const bool any_text =
      std::any_of(list.begin(), list.end(), [](const ir::Value& v) { return v.text() != nullptr; });
  attribute.set_type(any_text ? 8 : any_real ? 6 : 7);
  for (const ir::Value& v : list) {
    if (any_text && v.text() != nullptr) {
      attribute.add_strings(*v.text());
    } else if (any_real && v.real() != nullptr) {
      attribute.add_floats(static_cast<float>(*v.real()));
    } else if (!any_text && !any_real && v.integer() != nullptr) {
      attribute.add_ints(*v.integer());
    } else {
      return fail(Code::Missing, "attribute {} mixes types or holds an unknown value",
                  attribute.name());
    }
  }
  return {};
}

Status add_attribute(wire::Node& node, const ir::NamedValue& named, std::uint64_t seed) {
  const auto& [name, value] = named;
  wire::Attribute& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* text = value.text()) {
    if (text->starts_with("tensor:")) {
      return set_tensor_attribute(attribute, std::string_view(*text).substr(7),
                                  node.op_type() == "LabelEncoder");
    }
    if (const auto counted = ir::counted_values(*text)) {
      const bool labels = name.starts_with("keys_") || name.starts_with("values_");
      return fill_counted(attribute, *counted, labels, base::hash64(name, seed));
    }
    if (ir::is_hashed_list(*text)) {
      return fail(Code::Refused,
                  "attribute {} of {} is too long for a key ({}), so the kernel cannot be built "
                  "from it",
                  base::printable(name), base::printable(node.op_type()),
                  base::printable(text->substr(0, text->find('='))));
    }
  }
  if (value.integer() != nullptr) {
    attribute.set_type(2), attribute.set_i(*value.integer());
  } else if (value.real() != nullptr) {
    attribute.set_type(1), attribute.set_f(static_cast<float>(*value.real()));
  } else if (value.text() != nullptr) {
    attribute.set_type(3), attribute.set_s(*value.text());
  } else if (value.list() != nullptr) {
    return set_list(attribute, *value.list());
  } else {
    return fail(Code::Missing, "attribute {} has an unknown value", name);
  }
  return {};
}

bool quantised_operator(const ir::Key& key) {
  return key.op.starts_with("QLinear") || key.op.starts_with("QGemm") ||
         key.op == "QuantizeLinear" || key.op == "DequantizeLinear" ||
         key.op.find("Integer") != std::string::npos;
}

/// Operators that sum products of an operand and a matrix of weights.
bool sums_products(const ir::Key& key) {
  constexpr std::string_view kSuch[] = {"Conv",   "MatMul", "Gemm", "Attention",
                                        "Einsum", "LSTM",   "GRU",  "RNN"};
  return std::any_of(std::begin(kSuch), std::end(kSuch),
                     [&](std::string_view part) { return key.op.find(part) != std::string::npos; });
}

/// What values a float constant takes: scales of quantised kernels small, factors and summands near
/// one, matrices of products scaled by fan-in so that k chained copies neither explode nor die out.
DataRange weight_range(const ir::Key& key, const std::vector<std::int64_t>& dims,
                       std::int64_t count) {
  if (quantised_operator(key)) return {0.015, 0.025, false, 2, false};
  if (dims.size() < 2 || count <= 1 || !sums_products(key)) return {0.75, 1.25, false, 2, false};
  const double fan_in =
      static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, dims.front()));
  const double root = 1.0 / std::sqrt(std::max(1.0, fan_in));
  return {0.75 * root, 1.25 * root, true, 2, false};
}

/// Values for operand i; where it is also another operand (&i), the one of either that has a rule.
std::optional<ir::OperandFill> fill_of_operand(const ir::Key& key, std::size_t operand) {
  if (auto fill = ir::operand_fill(key, operand)) return fill;
  for (std::size_t i = operand + 1; i < key.operands.size(); ++i) {
    const auto* alias = std::get_if<ir::AliasEntry>(&key.operands[i]);
    if (alias == nullptr || alias->index != operand) continue;
    if (auto fill = ir::operand_fill(key, i)) return fill;
  }
  return std::nullopt;
}

/// Of 8-bit floats and of 4 bits: the runtime converts them, and its Shape does not read them.
bool is_small_type(ir::Dtype dtype) {
  switch (dtype) {
    case ir::Dtype::F8E4M3FN:
    case ir::Dtype::F8E4M3FNUZ:
    case ir::Dtype::F8E5M2:
    case ir::Dtype::F8E5M2FNUZ:
    case ir::Dtype::F4E2M1:
    case ir::Dtype::I4:
    case ir::Dtype::U4:
      return true;
    default:
      return false;
  }
}

/// Zero points whose only legal value is 0: of 8-bit floats and of 32-bit integers.
bool is_zero_point_of_zero(const ir::Key& key, std::size_t operand, ir::Dtype dtype) {
  return operand == 2 && (key.op == "QuantizeLinear" || key.op == "DequantizeLinear") &&
         (dtype == ir::Dtype::I32 || (ir::is_float(dtype) && is_small_type(dtype)));
}

/// Operators that are defined for positive numbers, or reach infinity from others; one that takes a
/// hundredth of negative numbers, which in place and in a chain are denormal after 19 copies, and
/// the same time for both signs; and one that goes another way for each sign, which a processor
/// hardly ever foresees of random ones. Behind the first layers of a model it more often does
/// (docs/adr/0089).
Signs signs_of_operand(const ir::Key& key, std::size_t operand) {
  if (key.op == "Log" || key.op == "Sqrt" || key.op == "Pow" || key.op == "Div" ||
      key.op == "LeakyRelu")
    return Signs::Positive;
  return key.op == "PRelu" && operand == 0 ? Signs::FewNegative : Signs::Any;
}

class KernelWriter {
 public:
  KernelWriter(const ir::Key& key, const KernelModelOptions& options)
      : key_(key), options_(options) {}

  Result<KernelModel> write() {
    if (options_.copies < 1 || options_.copies > 100'000)
      return fail(Code::Usage, "{} copies of a kernel", options_.copies);
    set_header();
    OPLAT_CHECK(add_operands());
    if (reads_optional_) wrap_operand();
    choose_wiring();
    if (const auto forest = ir::forest_of(key_)) {
      const std::int64_t most = kMaxForestEntries / options_.copies;
      if (forest->nodes > most || forest->weights > most)
        return fail(Code::Refused, "{} forests of {} nodes and {} weights are more than is made up",
                    options_.copies, forest->nodes, forest->weights);
    }
    // Parameters in attributes are every copy's own.
    const double parameters =
        ir::parameter_bytes(key_.attributes) * static_cast<double>(options_.copies);
    if (parameters > static_cast<double>(kMaxBytes))
      return fail(Code::Refused, "{} copies of its attributes need more than 2 GiB",
                  options_.copies);
    out_.weight_bytes += static_cast<std::int64_t>(parameters);
    for (std::int64_t copy = 0; copy < options_.copies; ++copy) OPLAT_CHECK(add_copy(copy));
    OPLAT_CHECK(add_tail());
    if (model_.ByteSizeLong() >= static_cast<std::size_t>(kMaxBytes)) {
      return fail(Code::Refused, "a kernel model of {} MiB is above protobuf's limit",
                  model_.ByteSizeLong() >> 20U);
    }
    out_.bytes = model_.SerializeAsString();
    return std::move(out_);
  }

 private:
  void set_header() {
    model_.set_ir_version(8);
    model_.set_producer_name("oplat");
    const auto import = [&](const std::string& domain, std::int64_t version) {
      wire::OperatorSet& set = *model_.add_opset_import();
      set.set_domain(domain);
      set.set_version(version);
    };
    import("", key_.domain.empty() && key_.since ? *key_.since
               : has_small_types()               ? kSmallTypesOpset
                                                 : kDefaultOpset);
    if (!key_.domain.empty()) import(key_.domain, key_.since.value_or(1));
    graph().set_name("kernel");
  }

  bool has_small_types() const {
    const auto small = [](const ir::Entry& entry) {
      const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      return tensor != nullptr && is_small_type(tensor->dtype);
    };
    return std::any_of(key_.operands.begin(), key_.operands.end(), small) ||
           std::any_of(key_.results.begin(), key_.results.end(), small);
  }

  wire::Graph& graph() { return *model_.mutable_graph(); }

  static void set_type(wire::ValueInfo& info, std::int32_t type,
                       const std::vector<std::int64_t>& dims) {
    wire::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const std::int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  void add_input(const std::string& name, ir::Dtype dtype, const std::vector<std::int64_t>& dims) {
    wire::ValueInfo& info = *graph().add_input();
    info.set_name(name);
    set_type(info, onnx_type_of(dtype), dims);
  }

  /// Without its data.
  wire::Tensor& add_initializer(const std::string& name, ir::Dtype dtype,
                                const std::vector<std::int64_t>& dims) {
    wire::Tensor& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx_type_of(dtype));
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    return tensor;
  }

  Status add_operands() {
    operand_names_.resize(key_.operands.size());
    per_copy_.resize(key_.operands.size(), false);
    own_.resize(key_.operands.size(), false);
    std::int64_t total = 0;
    if (bodies_ && key_.op == "Loop") OPLAT_CHECK(add_loop_control());
    for (std::size_t i = 0; i < key_.operands.size(); ++i) {
      if (!operand_names_[i].empty()) continue;
      if (std::holds_alternative<ir::AbsentEntry>(key_.operands[i])) continue;
      if (const auto* alias = std::get_if<ir::AliasEntry>(&key_.operands[i])) {
        operand_names_[i] = operand_names_.at(alias->index);
        continue;
      }
      const auto& entry = std::get<ir::TensorEntry>(key_.operands[i]);
      OPLAT_TRY(dims, known_dims(entry, "operand", i));
      const auto count = entry.shape.elements();
      // The runtime keeps a string in 32 bytes.
      const auto bits =
          entry.dtype == ir::Dtype::String ? std::optional(kStringBits) : ir::bits(entry.dtype);
      if (!bits)
        return fail(Code::Missing, "operand {} of type {} has no size", i, ir::name(entry.dtype));
      if (!count)
        return fail(Code::Refused, "operand {} holds more elements than can be counted", i);
      std::int64_t bytes = 0;
      if (__builtin_mul_overflow(*count, *bits / 8 + 1, &bytes) || bytes > kMaxBytes) {
        return fail(Code::Refused, "operand {} holds {} elements, more than a model of 2 GiB can",
                    i, *count);
      }
      if (entry.constant && lacks_value(i, entry, *count)) {
        return fail(
            Code::Missing,
            "operand {} is a constant whose value the kernel needs, and the key does not print it",
            i);
      }
      if (entry.constant) {
        per_copy_[i] = options_.distinct_weights && !entry.value && *count > 1;
        const std::int64_t copies = per_copy_[i] ? options_.copies : 1;
        if (__builtin_mul_overflow(bytes, copies, &bytes) || (total += bytes) > kMaxBytes) {
          return fail(Code::Refused, "{} copies of its weights need more than 2 GiB",
                      options_.copies);
        }
        operand_names_[i] = indexed("w", i);
        for (std::int64_t copy = 0; copy < copies; ++copy)
          OPLAT_CHECK(add_weights(entry, dims, *count, i, copy));
      } else {
        operand_names_[i] = indexed("x", i);
        add_input(operand_names_[i], entry.dtype, dims);
        out_.inputs.push_back({operand_names_[i], entry.dtype, dims, fill_of_operand(key_, i),
                               signs_of_operand(key_, i)});
        if (!has_own_operands() || entry.dtype == ir::Dtype::String) continue;
        own_[i] = true;
        std::int64_t all = 0;
        if (__builtin_mul_overflow(bytes, options_.copies, &all) || (total += all) > kMaxBytes)
          return fail(Code::Refused, "{} copies of its operands need more than 2 GiB",
                      options_.copies);
        for (std::int64_t copy = 1; copy < options_.copies; ++copy)
          add_own_operand(entry, dims, *count, i, copy);
      }
    }
    return {};
  }

  /// Whether copies behind the first have operands of their own. A model of one copy is wired as
  /// one of several, so that both read as many results.
  bool copies_have_own_operands() const {
    const bool overwrites =
        !key_.results.empty() && std::holds_alternative<ir::AliasEntry>(key_.results[0]);
    return options_.distinct_operands && !bodies_ && !reads_optional_ && !overwrites;
  }
  bool has_own_operands() const { return options_.copies > 1 && copies_have_own_operands(); }

  /// Operand `i` of a copy behind the first: an initialiser that a caller may replace, which the
  /// runtime does not take for a constant.
  void add_own_operand(const ir::TensorEntry& entry, const std::vector<std::int64_t>& dims,
                       std::int64_t count, std::size_t i, std::int64_t copy) {
    const std::string name = indexed("x", i, copy);
    add_input(name, entry.dtype, dims);
    wire::Tensor& tensor = add_initializer(name, entry.dtype, dims);
    const DataRange range = operand_range(signs_of_operand(key_, i));
    const std::uint64_t seed = base::hash64(name, options_.seed);
    const auto fill = fill_of_operand(key_, i);
    tensor.set_raw_data(fill ? filled_data(entry.dtype, count, *fill, range, seed)
                             : random_data(entry.dtype, count, range, seed));
  }

  /// A Loop's count and first condition, whatever the key says of them: as many steps as its tag
  /// has. What is not a constant is an initialiser that a caller may replace.
  Status add_loop_control() {
    OPLAT_TRY(steps, loop_steps(key_));
    if (key_.operands.empty()) return fail(Code::Missing, "a Loop has two operands or more");
    for (std::size_t i = 0; i < std::min<std::size_t>(2, key_.operands.size()); ++i) {
      const ir::TensorEntry* entry = key_.operand(i);
      if (entry == nullptr && i == 1) continue;
      std::vector<std::int64_t> dims;
      if (entry != nullptr) {
        OPLAT_TRY(known, known_dims(*entry, "operand", i));
        dims = std::move(known);
      }
      const ir::Dtype dtype = i == 0 ? ir::Dtype::I64 : ir::Dtype::Bool;
      if (entry != nullptr && (entry->dtype != dtype || entry->shape.elements() != 1))
        return fail(Code::Missing, "operand {} of a Loop is one {}", i, ir::name(dtype));
      operand_names_[i] = indexed("w", i);
      wire::Tensor& tensor = add_initializer(operand_names_[i], dtype, dims);
      OPLAT_CHECK(fill_with_value(tensor, dtype, 1, ir::Value(i == 0 ? steps : std::int64_t{1})));
      if (entry == nullptr || entry->constant) continue;
      add_input(operand_names_[i], dtype, dims);
    }
    return {};
  }

  /// A key says of an optional value what is in it. Before version 18 its readers take no tensor,
  /// so one Optional node in front of all copies makes it what they read.
  void wrap_operand() {
    wire::Node& node = *graph().add_node();
    node.set_op_type("Optional");
    node.set_name("optional");
    node.add_input(operand_names_[0]);
    operand_names_[0] = "optional0";
    node.add_output(operand_names_[0]);
  }
  bool gives_optional() const { return key_.domain.empty() && key_.op == "Optional"; }
  static bool takes_optional_only(const ir::Key& key) {
    constexpr std::int64_t kReadsTensors = 18;
    return key.domain.empty() && !key.operands.empty() &&
           std::holds_alternative<ir::TensorEntry>(key.operands[0]) &&
           (key.op == "OptionalGetElement" || key.op == "OptionalHasElement") &&
           key.since.value_or(1) < kReadsTensors;
  }

  /// Small integer constants decide shapes (Reshape, Slice); only those that the catalogue calls
  /// irrelevant may be made up.
  bool lacks_value(std::size_t i, const ir::TensorEntry& entry, std::int64_t count) const {
    if (entry.value || count == 0 || count > kPrintedElements || ir::is_float(entry.dtype) ||
        entry.dtype == ir::Dtype::String)
      return false;
    const ir::OperatorInfo* info = ir::Catalogue::own().find(key_.domain, key_.op);
    return info == nullptr ||
           std::find(info->unprinted_operands.begin(), info->unprinted_operands.end(), i) ==
               info->unprinted_operands.end();
  }

  Status add_weights(const ir::TensorEntry& entry, const std::vector<std::int64_t>& dims,
                     std::int64_t count, std::size_t i, std::int64_t copy) {
    wire::Tensor& tensor =
        add_initializer(per_copy_[i] ? indexed("w", i, copy) : indexed("w", i), entry.dtype, dims);
    if (entry.value) {
      if (auto status = fill_with_value(tensor, entry.dtype, count, *entry.value); !status) {
        return fail_in(fmt::format("operand {}", i), status.error());
      }
    } else {
      const DataRange range = weight_range(key_, dims, count);
      const std::uint64_t seed = base::hash64(fmt::format("{}/{}", i, copy), options_.seed);
      const auto fill = fill_of_operand(key_, i);
      std::string data = is_zero_point_of_zero(key_, i, entry.dtype)
                             ? std::string(static_cast<std::size_t>(*dense_bytes(tensor)), '\0')
                         : fill ? filled_data(entry.dtype, count, *fill, range, seed)
                                : random_data(entry.dtype, count, range, seed);
      if (entry.dtype == ir::Dtype::String) {
        for (std::size_t at = 0; at < data.size(); at = data.find('\0', at) + 1)
          tensor.add_string_data(data.c_str() + at);
        out_.weight_bytes += static_cast<std::int64_t>(data.size());
        return {};
      }
      tensor.set_raw_data(std::move(data));
    }
    out_.weight_bytes += static_cast<std::int64_t>(tensor.raw_data().size());
    return {};
  }

  /// Chain through the operand that the kernel overwrites, else through one of the result's type
  /// and shape; else fan.
  void choose_wiring() {
    chain_operand_ = find_chain_operand();
    if (options_.copies > 1) out_.wiring = chain_operand_ ? Wiring::Chain : Wiring::Fan;
  }

  std::optional<std::size_t> find_chain_operand() const {
    if (options_.force_fan || copies_have_own_operands() || key_.results.empty() || copied_ ||
        bodies_)
      return std::nullopt;
    if (key_.op == "Cast") return std::nullopt;  // the runtime joins casts that follow each other
    if (reads_optional_ || gives_optional()) return std::nullopt;
    if (const auto* alias = std::get_if<ir::AliasEntry>(&key_.results[0])) return alias->index;
    if (ir::is_another_in_chain(key_)) return std::nullopt;
    const ir::TensorEntry* result = key_.result(0);
    if (result == nullptr) return std::nullopt;
    const ir::OperatorInfo* info = ir::Catalogue::own().find(key_.domain, key_.op);
    for (std::size_t i = 0; i < key_.operands.size(); ++i) {
      const auto* entry = std::get_if<ir::TensorEntry>(&key_.operands[i]);
      if (entry == nullptr || entry->constant || entry->dtype != result->dtype ||
          entry->shape != result->shape)
        continue;
      // What the copy before computes would take the place of values that decide the work.
      if (fill_of_operand(key_, i)) continue;
      // The runtime would overwrite an intermediate operand, which is another kernel than the
      // key's.
      const bool overwritten =
          info != nullptr && std::find(info->overwritable.begin(), info->overwritable.end(), i) !=
                                 info->overwritable.end();
      if (!overwritten) return i;
    }
    return std::nullopt;
  }

  Status add_copy(std::int64_t copy) {
    wire::Node& node = *graph().add_node();
    node.set_op_type(key_.op);
    node.set_domain(key_.domain);
    node.set_name(fmt::format("copy{}", copy));
    const bool chained = copy > 0 && chain_operand_.has_value();
    const std::string* chain_name = chain_operand_ ? &operand_names_[*chain_operand_] : nullptr;
    for (std::size_t i = 0; i < key_.operands.size(); ++i) {
      const auto* alias = std::get_if<ir::AliasEntry>(&key_.operands[i]);
      const std::size_t root = alias != nullptr ? alias->index : i;
      if (chained && operand_names_[i] == *chain_name) {
        node.add_input(indexed("y", 0, copy - 1));
      } else {
        node.add_input(per_copy_[root]          ? indexed("w", root, copy)
                       : copy > 0 && own_[root] ? indexed("x", root, copy)
                                                : operand_names_[i]);
      }
    }
    // A result that nobody uses is left out only where the operator declares it optional: the
    // runtime writes all others, through null pointers if need be.
    for (std::size_t r = 0; r < ir::required_results(key_); ++r) {
      const bool unused =
          r >= key_.results.size() || std::holds_alternative<ir::AbsentEntry>(key_.results[r]);
      node.add_output(unused && ir::is_optional_result(key_, r) ? std::string()
                                                                : indexed("y", r, copy));
      if (!unused) say_type(r, node.output(static_cast<int>(r)));
    }
    const auto forest = ir::forest_of(key_);
    for (const ir::NamedValue& attribute : key_.attributes) {
      if (forest && attribute.first.starts_with("forest_")) continue;
      OPLAT_CHECK(add_attribute(node, attribute, options_.seed));
    }
    if (bodies_) return add_bodies(node, key_, fmt::format("b{}_", copy), options_.consume_results);
    return forest ? add_forest(node, *forest, options_.seed) : Status();
  }

  /// The type that the key gives a result: a runtime that infers another one refuses the model.
  void say_type(std::size_t r, const std::string& name) {
    const ir::TensorEntry* result = key_.result(r);
    // Outputs say their types themselves, results of bodies are as the bodies are made, and what an
    // Optional gives is not a tensor.
    if (copied_ || options_.results_as_outputs || bodies_ || gives_optional() ||
        result == nullptr || !result->shape.ranked || result->dtype == ir::Dtype::Any)
      return;
    wire::ValueInfo& info = *graph().add_value_info();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx_type_of(result->dtype));
  }

  /// Results of kernels are not outputs of the graph, which a runtime allocates in another way: a
  /// Shape of the last copy's result is. It costs the same in a model of 1 and of k copies, so the
  /// slope does not see it. The call of a model has no such node: to time it, results are outputs.
  Status add_tail() {
    if (copied_) return add_outputs();
    const std::int64_t reads = reads_of_results();
    const std::int64_t end = std::max(options_.copies, reads);
    const bool reads_all = options_.consume_results || reads > 0;
    bool any = false;
    bool any_output = false;
    for (std::int64_t copy = reads_all ? 0 : end - 1; copy < end; ++copy) {
      for (std::size_t r = 0; r < key_.results.size(); ++r) {
        const ir::TensorEntry* result = key_.result(r);
        if (std::holds_alternative<ir::AbsentEntry>(key_.results[r])) continue;
        if (any && !reads_all && !options_.results_as_outputs) break;
        // A chained result is read by the next copy; a second reader would keep it from being
        // overwritten.
        if (r == 0 && chain_operand_ && copy + 1 != options_.copies) continue;
        if (result == nullptr || !result->shape.ranked)
          return fail(Code::Missing, "result {} is not a tensor, or one of unknown rank", r);
        if (result->dtype == ir::Dtype::Any)
          return fail(Code::Missing, "result {} is of an element type that keys do not name", r);
        std::string read =
            copy < options_.copies ? indexed("y", r, copy) : balancing_tensor(*result, r);
        // What is in an optional value has a shape, the value itself has none.
        if (gives_optional()) {
          wire::Node& inside = *graph().add_node();
          inside.set_op_type("OptionalGetElement");
          inside.set_name(fmt::format("inside{}_{}", copy, r));
          inside.add_input(read);
          read = fmt::format("inside{}_{}", copy, r);
          inside.add_output(read);
        }
        if (options_.results_as_outputs) {
          OPLAT_CHECK(add_output(*result, r, read));
          any = true;
          continue;
        }
        if (is_small_type(result->dtype)) {
          wire::Node& wide = *graph().add_node();
          wide.set_op_type("Cast");
          wide.set_name(fmt::format("wide{}_{}", copy, r));
          wide.add_input(read);
          read = fmt::format("wide{}_{}", copy, r);
          wide.add_output(read);
          wire::Attribute& to = *wide.add_attribute();
          to.set_name("to"), to.set_type(2), to.set_i(onnx_type_of(ir::Dtype::F32));
        }
        wire::Node& node = *graph().add_node();
        node.set_op_type("Shape");
        node.set_name(fmt::format("tail{}_{}", copy, r));
        node.add_input(read);
        node.add_output(fmt::format("shape{}_{}", copy, r));
        const bool leaves = reads == 0 || (copy + 1 == options_.copies && !any_output);
        any = true;
        if (!leaves) continue;
        any_output = true;
        wire::ValueInfo& info = *graph().add_output();
        info.set_name(node.output(0));
        set_type(info, kInt64, {static_cast<std::int64_t>(result->shape.dims.size())});
      }
    }
    if (!any) return fail(Code::Missing, "the key has no result that anything could read");
    return {};
  }

  /// A constant of result `r`'s rank, for the reads that a model of one copy has for balance. Not
  /// the result itself: a runtime may make one node for each reader of it, as ONNX Runtime does of
  /// a DequantizeLinear, and one copy would be as many.
  std::string balancing_tensor(const ir::TensorEntry& result, std::size_t r) {
    const std::string name = indexed("around", r);
    if (balanced_.insert(r).second) {
      const std::vector<std::int64_t> ones(result.shape.dims.size(), 1);
      add_initializer(name, ir::Dtype::F32, ones).set_raw_data(std::string(sizeof(float), '\0'));
    }
    return name;
  }

  /// Reads of results that the options ask for, where a Shape is all that they take.
  std::int64_t reads_of_results() const {
    if (bodies_ || gives_optional() || options_.results_as_outputs) return 0;
    for (std::size_t r = 0; r < key_.results.size(); ++r) {
      if (std::holds_alternative<ir::AbsentEntry>(key_.results[r])) continue;
      const ir::TensorEntry* result = key_.result(r);
      if (result == nullptr || !result->shape.ranked || result->dtype == ir::Dtype::Any ||
          is_small_type(result->dtype))
        return 0;
    }
    return options_.reads;
  }

  /// The result of every copy as an output: that is what makes the runtime copy a view.
  Status add_outputs() {
    const ir::TensorEntry* result = key_.result(0);
    if (result == nullptr) return fail(Code::Missing, "the key has no result that is copied");
    for (std::int64_t copy = 0; copy < options_.copies; ++copy)
      OPLAT_CHECK(add_output(*result, 0, indexed("y", 0, copy)));
    return {};
  }

  Status add_output(const ir::TensorEntry& result, std::size_t index, const std::string& name) {
    OPLAT_TRY(dims, known_dims(result, "result", index));
    wire::ValueInfo& info = *graph().add_output();
    info.set_name(name);
    set_type(info, onnx_type_of(result.dtype), dims);
    return {};
  }

  const ir::Key& key_;
  const KernelModelOptions& options_;
  const bool bodies_ = has_made_up_bodies(key_);
  const bool copied_ = key_.tag(ir::kCopiedTag) != nullptr;
  const bool reads_optional_ = takes_optional_only(key_);
  std::set<std::size_t> balanced_;  // results that have a balancing_tensor()
  wire::Model model_;
  KernelModel out_;
  std::vector<std::string> operand_names_;
  std::vector<bool> per_copy_;
  std::vector<bool> own_;  ///< operands that copies behind the first have for themselves
  std::optional<std::size_t> chain_operand_;
};

}  // namespace

Result<KernelModel> write_kernel_model(const ir::Key& key, const KernelModelOptions& options) {
  if (ir::has_unknown(key)) {
    // A dimension that the source did not say cannot be made up; "?" in an attribute cannot either.
    for (std::size_t i = 0; i < key.operands.size(); ++i) {
      if (const ir::TensorEntry* entry = key.operand(i)) {
        if (auto dims = known_dims(*entry, "operand", i); !dims) return fail(dims.error());
      }
    }
  }
  return KernelWriter(key, options).write();
}

}  // namespace oplat::formats::onnx
