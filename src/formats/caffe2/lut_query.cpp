// SPDX-License-Identifier: Apache-2.0
/// Operators as runtime_lut names them, and keys.
#include "formats/caffe2/lut_query.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// Keys hold text as JSON strings, which know no other bytes.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_plain(const NamedValue& argument) {
  const auto plain = [](const Value& v) { return v.text() == nullptr || is_plain(*v.text()); };
  const List* list = argument.second.list();
  return is_plain(argument.first) && plain(argument.second) &&
         (list == nullptr || std::all_of(list->begin(), list->end(), plain));
}

bool all_equal(const List& list) {
  return std::all_of(list.begin(), list.end(), [&](const Value& v) { return v == list.front(); });
}

/// The arguments of a canonical key as nets mostly spell them.
class Spelling {
 public:
  explicit Spelling(const Key& key) : key_(key) {}

  std::vector<std::string> run() {
    const bool conv = key_.op.find("Conv") != std::string::npos;
    for (const auto& [name, value] : key_.attributes) {
      const List* list = value.list();
      const std::int64_t* number = value.integer();
      const bool numbers = list != nullptr && !list->empty();
      if (numbers && (name == "kernels" || name == "strides")) {
        sizes(name, *list);
      } else if (numbers && name == "dilations") {
        if (!all_equal(*list) || list->front() != Value(1)) sizes(name, *list);
      } else if (numbers && name == "pads") {
        // Convolutions say a padding of 0, pools do not.
        if (conv || !all_equal(*list) || list->front() != Value(0)) pads(*list);
      } else if (!(number != nullptr && is_default(name, *number))) {
        add(name, value);
      }
    }
    std::sort(arguments_.begin(), arguments_.end(),
              [](const NamedValue& a, const NamedValue& b) { return a.first < b.first; });
    std::vector<std::string> texts;
    for (const NamedValue& argument : arguments_) texts.push_back(caffe2_argument_text(argument));
    return texts;
  }

 private:
  [[nodiscard]] bool is_default(std::string_view name, std::int64_t number) const {
    const bool concat = key_.op.ends_with("Concat");
    if (name == "group") return number == 1 && key_.op.find("Conv") != std::string::npos;
    if (name == "axis")
      return number == (key_.op == "Int8Concat" ? 3 : 1) && key_.attribute("broadcast") == nullptr;
    return name == "add_axis" && number == 0 && concat;
  }
  void add(std::string name, Value value) {
    arguments_.emplace_back(std::move(name), std::move(value));
  }
  /// kernels=[3,3] as kernel 3, kernels=[3,1] as kernel_h 3 and kernel_w 1.
  void sizes(const std::string& plural, const List& list) {
    const std::string name = plural.substr(0, plural.size() - 1);
    if (list.size() == 2 && all_equal(list)) return add(name, list.front());
    if (list.size() != 2) return add(plural, Value(list));
    add(name + "_h", list[0]);
    add(name + "_w", list[1]);
  }
  void pads(const List& list) {
    if (list.size() == 4 && all_equal(list)) return add("pad", list.front());
    if (list.size() != 4) return add("pads", Value(list));
    constexpr const char* kNames[] = {"pad_t", "pad_l", "pad_b", "pad_r"};
    for (std::size_t i = 0; i < 4; ++i) add(kNames[i], list[i]);
  }

  const Key& key_;
  std::vector<NamedValue> arguments_;
};

std::vector<std::string> literal_arguments(const Key& key) {
  std::vector<std::string> texts;
  for (const NamedValue& attribute : key.attributes)
    texts.push_back(caffe2_argument_text(attribute));
  return texts;
}

}  // namespace

std::optional<Dtype> dtype_of_caffe2(int number) {
  switch (number) {
    case 1:
      return Dtype::F32;
    case 2:
      return Dtype::I32;
    case 3:
      return Dtype::U8;  // BYTE
    case 4:
      return Dtype::String;
    case 5:
      return Dtype::Bool;
    case 6:
      return Dtype::U8;
    case 7:
      return Dtype::I8;
    case 8:
      return Dtype::U16;
    case 9:
      return Dtype::I16;
    case 10:
      return Dtype::I64;
    case 12:
      return Dtype::F16;
    case 13:
      return Dtype::F64;
    default:
      return std::nullopt;
  }
}

std::optional<int> caffe2_number(Dtype dtype) {
  for (const int number : {1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13}) {
    if (dtype_of_caffe2(number) == dtype) return number;
  }
  return std::nullopt;
}

bool is_inert_argument(std::string_view name) {
  return name == "Y_scale" || name == "Y_zero_point" || name == "ws_nbytes_limit";
}

Result<Key> key_of(const LutQuery& query) {
  if (query.input_shapes.size() != query.input_dtypes.size()) {
    return fail(Code::Input, "{}: {} shapes, but {} data types", base::printable(query.op_type),
                query.input_shapes.size(), query.input_dtypes.size());
  }
  Key key;
  key.domain = kCaffe2Domain;
  key.op = query.op_type;
  for (const std::string& text : query.op_args) {
    auto argument = parse_caffe2_argument(text);
    if (!argument) return fail_in(base::printable(query.op_type), std::move(argument).error());
    if (key.attribute(argument->first) != nullptr || !is_plain(*argument)) {
      return fail(Code::Input, "{}: argument {} {}", base::printable(query.op_type),
                  base::printable(argument->first),
                  is_plain(*argument) ? "appears twice" : "holds bytes that are not ASCII");
    }
    key.attributes.push_back(std::move(*argument));
  }
  for (std::size_t i = 0; i < query.input_shapes.size(); ++i) {
    const auto dtype = dtype_of_caffe2(query.input_dtypes[i]);
    if (!dtype) {
      return fail(Code::Input, "{}: operand {} has the data type {}, which Caffe2 does not define",
                  base::printable(query.op_type), i, query.input_dtypes[i]);
    }
    TensorEntry entry;
    entry.dtype = *dtype;
    entry.shape = Shape::of(query.input_shapes[i]);
    key.operands.emplace_back(std::move(entry));
  }
  mark_caffe2_parameters(key);
  OPLAT_CHECK(complete_caffe2(key));
  return key;
}

std::optional<LutQuery> lut_query_of(const Key& key) {
  if (key.domain != kCaffe2Domain || !is_caffe2_operator(key.op)) return std::nullopt;
  LutQuery query;
  query.op_type = key.op;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const TensorEntry* tensor = key.operand(i);
    const auto number = tensor == nullptr ? std::nullopt : caffe2_number(tensor->dtype);
    if (!number || !tensor->shape.ranked) return std::nullopt;
    std::vector<std::int64_t> dims;
    for (const Dim& dim : tensor->shape.dims) {
      if (!dim) return std::nullopt;
      dims.push_back(*dim);
    }
    query.input_shapes.push_back(std::move(dims));
    query.input_dtypes.push_back(*number);
  }
  // Where an operator carries an argument of another kind's name, its attributes as they are say
  // the same.
  for (const bool usual : {true, false}) {
    query.op_args = usual ? Spelling(key).run() : literal_arguments(key);
    const auto back = key_of(query);
    if (back && *back == key) return query;
  }
  return std::nullopt;
}

}  // namespace oplat::formats::caffe2
