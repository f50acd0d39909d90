// SPDX-License-Identifier: Apache-2.0
/// The JSON of PIR: operators, types and attributes under their short keys.
#include "formats/paddle/pir.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::paddle {
namespace {

namespace dom = simdjson::dom;

/// Types within types of lists, regions within regions: real programs stay below 40.
constexpr std::size_t kMaxPirDepth = 128;
constexpr std::size_t kMaxElements = 1 << 16;

template <class T>
std::optional<T> get(dom::element element) {
  T value;
  if (element.get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> member(dom::object object, std::string_view key) {
  T value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

/// "1.conv2d" or "pd_op.conv2d".
std::pair<std::string, std::string> split_name(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kDialects = {"builtin", "pd_op", "cf",
                                                                "custom_op", "pd_dist"};
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  const std::string_view dialect = text.substr(0, dot);
  const auto number = base::parse_int(dialect);
  const bool known =
      number && *number >= 0 && *number < static_cast<std::int64_t>(kDialects.size());
  return {std::string(known ? kDialects[static_cast<std::size_t>(*number)] : dialect),
          std::string(text.substr(dot + 1))};
}

std::optional<ir::Dtype> dtype_of_type(std::string_view name) {
  using ir::Dtype;
  struct Named {
    std::string_view name;
    Dtype dtype;
  };
  static constexpr std::array kTypes = {
      Named{"t_bool", Dtype::Bool},     Named{"t_bf16", Dtype::BF16},
      Named{"t_f16", Dtype::F16},       Named{"t_f32", Dtype::F32},
      Named{"t_f64", Dtype::F64},       Named{"t_i8", Dtype::I8},
      Named{"t_ui8", Dtype::U8},        Named{"t_i16", Dtype::I16},
      Named{"t_i32", Dtype::I32},       Named{"t_i64", Dtype::I64},
      Named{"t_index", Dtype::I64},     Named{"t_c64", Dtype::C64},
      Named{"t_c128", Dtype::C128},     Named{"t_f8e4m3fn", Dtype::F8E4M3FN},
      Named{"t_f8e5m2", Dtype::F8E5M2},
  };
  for (const Named& each : kTypes) {
    if (each.name == name) return each.dtype;
  }
  return std::nullopt;
}

/// Names of element types as attributes have them, by their number in ProgramDesc.
std::optional<std::int64_t> number_of_name(std::string_view name) {
  using ir::Dtype;
  struct Named {
    std::string_view name;
    Dtype dtype;
  };
  static constexpr std::array kNames = {
      Named{"bool", Dtype::Bool},
      Named{"int8", Dtype::I8},
      Named{"uint8", Dtype::U8},
      Named{"int16", Dtype::I16},
      Named{"int32", Dtype::I32},
      Named{"int64", Dtype::I64},
      Named{"float16", Dtype::F16},
      Named{"bfloat16", Dtype::BF16},
      Named{"float32", Dtype::F32},
      Named{"float64", Dtype::F64},
      Named{"complex64", Dtype::C64},
      Named{"complex128", Dtype::C128},
      Named{"float8_e4m3fn", Dtype::F8E4M3FN},
      Named{"float8_e5m2", Dtype::F8E5M2},
  };
  for (const Named& each : kNames) {
    const auto number = number_of(each.dtype);
    if (each.name == name && number) return *number;
  }
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<std::vector<PirOperator>> run(const std::string& bytes) {
    dom::parser parser;
    if (parser.allocate(bytes.size(), kMaxPirDepth) != simdjson::SUCCESS) {
      return fail(Code::Input, "{}: has {} bytes of JSON, which is too many", file_, bytes.size());
    }
    dom::element document;
    if (const auto error = parser.parse(bytes).get(document)) {
      return fail(Code::Input, "{}: is not the JSON of a Paddle program, or is truncated: {}",
                  file_, simdjson::error_message(error));
    }
    OPLAT_TRY(ops, operators_of(document));
    std::vector<PirOperator> operators;
    for (const dom::element element : ops) {
      OPLAT_TRY(op, operator_of(operators.size(), element));
      operators.push_back(std::move(op));
      if (operators.size() > kMaxVariables)
        return fail(Code::Input, "{}: has more than {} operators", file_, kMaxVariables);
    }
    if (operators.empty()) return fail(Code::Input, "{}: the program holds no operators", file_);
    return operators;
  }

 private:
  /// The list at program / regions[0] / blocks[0] / ops.
  Result<dom::array> operators_of(dom::element document) const {
    const auto wrong = [&](std::string_view what) {
      return fail(Code::Input, "{}: is not a Paddle program in JSON: it lacks {}", file_, what);
    };
    const auto root = get<dom::object>(document);
    if (!root) return wrong("an outer object");
    const auto code = member<dom::object>(*root, "base_code");
    const auto magic = code ? member<std::string_view>(*code, "magic") : std::nullopt;
    if (magic != "pir") return wrong("base_code.magic \"pir\"");
    const auto program = member<dom::object>(*root, "program");
    if (!program) return wrong("the object \"program\"");
    const auto region = program ? first(*program, "regions") : std::nullopt;
    if (!region) return wrong("a first region");
    const auto block = first(*region, "blocks");
    if (!block) return wrong("a first block");
    const auto ops = member<dom::array>(*block, "ops");
    if (!ops) return wrong("the list \"ops\" of its first block");
    return *ops;
  }

  static std::optional<dom::object> first(dom::object object, std::string_view key) {
    const auto list = member<dom::array>(object, key);
    if (!list || list->size() == 0) return std::nullopt;
    return get<dom::object>(*list->begin());
  }

  std::string place(std::size_t index, std::string_view name) const {
    return fmt::format("{}: operator {} ({})", file_, index, base::printable(name));
  }

  Result<PirOperator> operator_of(std::size_t index, dom::element element) const {
    const auto object = get<dom::object>(element);
    const auto name = object ? member<std::string_view>(*object, "#") : std::nullopt;
    if (!name) return fail(Code::Input, "{}: operator {} has no name \"#\"", file_, index);
    const std::string where = place(index, *name);
    PirOperator op;
    std::tie(op.dialect, op.name) = split_name(*name);
    op.has_regions = member<dom::array>(*object, "regions").has_value();
    if (*name == "p") return parameter(where, *object);
    if (const auto operands = member<dom::array>(*object, "I")) {
      for (const dom::element each : *operands) {
        const auto operand = get<dom::object>(each);
        const auto id = operand ? member<std::int64_t>(*operand, "%") : std::nullopt;
        if (!id)
          return fail(Code::Input, "{}: operand {} has no number \"%\"", where, op.operands.size());
        op.operands.push_back(*id);
      }
    }
    if (const auto results = member<dom::array>(*object, "O")) {
      for (const dom::element each : *results) {
        OPLAT_TRY(result, result_of(where, each));
        op.results.push_back(std::move(result));
      }
    }
    if (op.operands.size() > kMaxParts || op.results.size() > kMaxParts) {
      return fail(Code::Input, "{} has more than {} operands or results", where, kMaxParts);
    }
    OPLAT_CHECK(read_attributes(where, *object, op));
    return op;
  }

  Status read_attributes(const std::string& where, dom::object object, PirOperator& op) const {
    const auto attributes = member<dom::array>(object, "A");
    if (!attributes) return {};
    for (const dom::element each : *attributes) {
      const auto attribute = get<dom::object>(each);
      const auto name = attribute ? member<std::string_view>(*attribute, "N") : std::nullopt;
      const auto value = attribute ? member<dom::object>(*attribute, "AT") : std::nullopt;
      if (!name || !value)
        return fail(Code::Input, "{}: an attribute lacks a name \"N\" and a value \"AT\"", where);
      op.attributes.emplace_back(std::string(*name), value_of(*value, 0));
      if (op.attributes.size() > kMaxParts)
        return fail(Code::Input, "{} has more than {} attributes", where, kMaxParts);
    }
    return {};
  }

  /// Parameters have a short form: the result itself, and a list of flags with the name among them.
  Result<PirOperator> parameter(const std::string& where, dom::object object) const {
    PirOperator op;
    op.dialect = "builtin";
    op.name = "parameter";
    dom::element result;
    if (object["O"].get(result) != simdjson::SUCCESS)
      return fail(Code::Input, "{}: a parameter lacks \"O\"", where);
    OPLAT_TRY(only, result_of(where, result));
    op.results.push_back(std::move(only));
    if (const auto flags = member<dom::array>(object, "A")) {
      for (const dom::element flag : *flags) {
        if (const auto name = get<std::string_view>(flag))
          op.attributes.emplace_back("parameter_name", std::string(*name));
      }
    }
    // Whether it persists, whether gradients stop there, whether it is trained. A state that an
    // operator keeps for itself (that of dropout in a recurrent network) is declared as a
    // parameter, and saved nowhere.
    if (const auto flags = member<dom::array>(object, "OA"); flags && flags->size() > 0) {
      op.stored = get<std::int64_t>(*flags->begin()).value_or(1) != 0;
    }
    return op;
  }

  Result<PirResult> result_of(const std::string& where, dom::element element) const {
    const auto object = get<dom::object>(element);
    const auto id = object ? member<std::int64_t>(*object, "%") : std::nullopt;
    const auto type = object ? member<dom::object>(*object, "TT") : std::nullopt;
    if (!id || !type)
      return fail(Code::Input, "{}: a result lacks a number \"%\" and a type \"TT\"", where);
    PirResult result;
    result.id = *id;
    OPLAT_TRY(read, type_of(where, *type, 0));
    result.type = std::move(read);
    return result;
  }

  Result<PirType> type_of(const std::string& where, dom::object object, int depth) const {
    PirType type;
    const auto name = split_name(member<std::string_view>(object, "#").value_or("")).second;
    const auto data = member<dom::array>(object, "D");
    if (name == "t_vec" && data && depth == 0) {
      type.list = true;
      for (const dom::element each : *data) {
        const auto inner = get<dom::object>(each);
        if (!inner) return fail(Code::Input, "{}: a list holds values that are not types", where);
        OPLAT_TRY(element, type_of(where, *inner, 1));
        type.tensors.push_back(std::move(element.tensors.front()));
        if (type.tensors.size() > kMaxParts)
          return fail(Code::Input, "{}: a list has more than {} items", where, kMaxParts);
      }
      return type;
    }
    Variable& variable = type.tensors.emplace_back();
    variable.tensor = name == "t_dtensor" || name == "t_srows";
    if (!variable.tensor) return type;
    const bool whole = data && data->size() >= 2;
    const auto element = whole ? get<dom::object>(*data->begin()) : std::nullopt;
    const auto dims = whole ? get<dom::array>(data->at(1).value()) : std::nullopt;
    if (!element || !dims)
      return fail(Code::Input, "{}: a tensor lacks an element type or dimensions", where);
    variable.dtype =
        dtype_of_type(split_name(member<std::string_view>(*element, "#").value_or("")).second);
    if (!variable.dtype)
      return fail(Code::Input, "{}: a tensor has an unknown element type", where);
    for (const dom::element each : *dims) {
      const auto dim = get<std::int64_t>(each);
      if (!dim || variable.dims.size() >= kMaxRank) {
        return fail(Code::Input, "{}: its dimensions are not a list of at most {} integers", where,
                    kMaxRank);
      }
      variable.dims.push_back(*dim);
    }
    return type;
  }

  /// Nothing of a value that no key holds.
  static ir::Value value_of(dom::object object, int depth) {
    const std::string kind = split_name(member<std::string_view>(object, "#").value_or("")).second;
    dom::element data;
    if (object["D"].get(data) != simdjson::SUCCESS) return {};
    if (kind == "a_array" || kind == "a_intarray" || kind == "a_scalar") {
      const auto elements = get<dom::array>(data);
      if (!elements || elements->size() > kMaxElements || depth > 2) return {};
      if (kind == "a_scalar") return scalar_of(*elements);
      ir::List list;
      for (const dom::element each : *elements) {
        const auto inner = get<dom::object>(each);
        list.push_back(inner ? value_of(*inner, depth + 1) : plain(each, false));
      }
      return list;
    }
    if (kind == "a_dtype") {
      const auto name = get<std::string_view>(data);
      const auto number = name ? number_of_name(*name) : std::nullopt;
      return number ? ir::Value(*number) : ir::Value();
    }
    return plain(data, kind == "a_f64");
  }

  /// An element type and a number of it.
  static ir::Value scalar_of(dom::array elements) {
    if (elements.size() < 2) return {};
    const auto name = get<std::string_view>(*elements.begin());
    return plain(elements.at(1).value(), name == "float64");
  }

  static ir::Value plain(dom::element element, bool wide) {
    if (const auto flag = get<bool>(element)) return *flag ? "true" : "false";
    if (const auto number = get<std::int64_t>(element)) return *number;
    if (const auto real = get<double>(element)) {
      return wide ? ir::Value(*real)
                  : ir::Value(formats::caffe2::caffe2_float(static_cast<float>(*real)));
    }
    if (const auto text = get<std::string_view>(element)) return std::string(*text);
    return {};
  }

  const std::string& file_;
};

}  // namespace

int probe_pir(std::string_view bytes) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || bytes[start] != '{') return 0;
  // The keys are written in alphabetical order; other writers' bases may be longer.
  const std::string_view head = bytes.substr(0, 4096);
  if (head.find("\"base_code\"") == std::string_view::npos) return 0;
  return head.find("\"pir\"") == std::string_view::npos ? 40 : 95;
}

Result<Program> parse_pir(const std::string& name, const std::string& bytes) {
  OPLAT_TRY(operators, Reader(name).run(bytes));
  return translate(name, operators);
}

}  // namespace oplat::formats::paddle
