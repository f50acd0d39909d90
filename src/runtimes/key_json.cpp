// SPDX-License-Identifier: Apache-2.0
#include "runtimes/key_json.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace oplat::runtimes {
namespace {

using Json = nlohmann::json;

/// Lists of a value nest at most this deep, as in a key's text.
constexpr int kMaxKeyLists = 32;

Json value_to_json(const ir::Value& value) {
  if (value.unknown()) return nullptr;
  if (const auto* integer = value.integer()) return *integer;
  if (const auto* text = value.text()) return *text;
  if (const auto* real = value.real()) {
    if (std::isfinite(*real)) return *real;
    return {{"float", std::isnan(*real) ? "nan" : *real > 0 ? "inf" : "-inf"}};
  }
  Json list = Json::array();
  for (const ir::Value& each : *value.list()) list.push_back(value_to_json(each));
  return list;
}

Json names_to_json(const std::vector<ir::NamedValue>& names) {
  Json object = Json::object();
  for (const auto& [name, value] : names) object[name] = value_to_json(value);
  return object;
}

Json entry_to_json(const ir::Entry& entry) {
  if (const auto* alias = std::get_if<ir::AliasEntry>(&entry)) return {{"alias", alias->index}};
  const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
  if (tensor == nullptr) return nullptr;
  Json dims = nullptr;
  if (tensor->shape.ranked) {
    dims = Json::array();
    for (const ir::Dim& dim : tensor->shape.dims) dims.push_back(dim ? Json(*dim) : Json(nullptr));
  }
  Json object = {{"dtype", ir::name(tensor->dtype)}, {"dims", std::move(dims)}};
  if (tensor->constant) object["constant"] = true;
  if (tensor->value) object["value"] = value_to_json(*tensor->value);
  return object;
}

Json entries_to_json(const std::vector<ir::Entry>& entries) {
  Json list = Json::array();
  for (const ir::Entry& entry : entries) list.push_back(entry_to_json(entry));
  return list;
}

tl::unexpected<Error> wrong(std::string_view place, std::string_view what) {
  return fail(Code::Input, "key: {}: {}", base::printable(place), what);
}

/// An integer that fits 63 bits and a sign.
std::optional<std::int64_t> integer_of(const Json& value) {
  constexpr auto kMax = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMax) return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<double> special_float(const Json& value) {
  const auto found = value.find("float");
  if (found == value.end() || !found->is_string() || value.size() != 1) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Result<ir::Value> value_from_json(const Json& value, std::string_view place, int depth = 0) {
  if (value.is_null()) return ir::Value(ir::Unknown{});
  if (value.is_boolean()) return ir::Value(value.get<bool>() ? "true" : "false");
  if (value.is_string()) return ir::Value(value.get<std::string>());
  if (value.is_number_float()) return ir::Value(value.get<double>());
  if (const auto integer = integer_of(value)) return ir::Value(*integer);
  if (value.is_object()) {
    if (const auto special = special_float(value)) return ir::Value(*special);
  }
  if (!value.is_array())
    return wrong(place, fmt::format("{} is not a value", base::printable(value.dump(), 60)));
  if (depth >= kMaxKeyLists)
    return wrong(place, fmt::format("lists nest at most {} deep", kMaxKeyLists));
  ir::List list;
  list.reserve(value.size());
  for (const Json& each : value) {
    OPLAT_TRY(item, value_from_json(each, place, depth + 1));
    list.push_back(std::move(item));
  }
  return ir::Value(std::move(list));
}

/// A field, or nullptr if it is missing or null.
const Json* field(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Status read_text(const Json& object, const char* name, std::string& to) {
  const Json* found = field(object, name);
  if (found == nullptr) return {};
  if (!found->is_string()) return wrong(name, "expected a text");
  to = found->get<std::string>();
  return {};
}

Status read_names(const Json& object, const char* name, std::vector<ir::NamedValue>& to) {
  const Json* found = field(object, name);
  if (found == nullptr) return {};
  if (!found->is_object()) return wrong(name, "expected an object of values");
  for (const auto& [each, value] : found->items()) {
    OPLAT_TRY(read, value_from_json(value, each));
    to.emplace_back(each, std::move(read));
  }
  return {};
}

Result<ir::Entry> tensor_from_json(const Json& entry, std::string_view place) {
  ir::TensorEntry tensor;
  const Json* type = field(entry, "dtype");
  if (type == nullptr || !type->is_string())
    return wrong(place, "expected null, an alias or a tensor with a \"dtype\"");
  const auto dtype = ir::parse_dtype(type->get_ref<const std::string&>());
  if (!dtype)
    return wrong(place, fmt::format("unknown dtype {}", base::printable(type->dump(), 60)));
  tensor.dtype = *dtype;
  const Json* dims = field(entry, "dims");
  tensor.shape.ranked = dims != nullptr;
  if (dims != nullptr && !dims->is_array()) return wrong(place, "\"dims\" is not a list");
  for (std::size_t i = 0; dims != nullptr && i < dims->size(); ++i) {
    const Json& dim = (*dims)[i];
    const auto number = integer_of(dim);
    if (!dim.is_null() && (!number || *number < 0))
      return wrong(place, fmt::format("{} is not a dimension", base::printable(dim.dump(), 60)));
    tensor.shape.dims.push_back(number);
  }
  if (const Json* constant = field(entry, "constant")) {
    if (!constant->is_boolean()) return wrong(place, "\"constant\" is not true or false");
    tensor.constant = constant->get<bool>();
  }
  if (const auto value = entry.find("value"); value != entry.end()) {
    OPLAT_TRY(read, value_from_json(*value, place));
    tensor.value = std::move(read);
  }
  return ir::Entry(std::move(tensor));
}

Result<ir::Entry> entry_from_json(const Json& entry, std::string_view place) {
  if (entry.is_null()) return ir::Entry(ir::AbsentEntry{});
  if (!entry.is_object()) return wrong(place, "expected null or an object");
  const Json* alias = field(entry, "alias");
  if (alias == nullptr) return tensor_from_json(entry, place);
  const auto index = integer_of(*alias);
  if (!index || *index < 0) return wrong(place, "\"alias\" is not the index of an operand");
  return ir::Entry(ir::AliasEntry{static_cast<std::size_t>(*index)});
}

Status read_entries(const Json& object, const char* name, std::vector<ir::Entry>& to) {
  const Json* found = field(object, name);
  if (found == nullptr) return {};
  if (!found->is_array()) return wrong(name, "expected a list");
  for (std::size_t i = 0; i < found->size(); ++i) {
    OPLAT_TRY(entry, entry_from_json((*found)[i], fmt::format("{}[{}]", name, i)));
    to.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

nlohmann::json key_to_json(const ir::Key& key) {
  return {{"domain", key.domain},
          {"op", key.op},
          {"since", key.since ? Json(*key.since) : Json(nullptr)},
          {"tags", names_to_json(key.tags)},
          {"attributes", names_to_json(key.attributes)},
          {"operands", entries_to_json(key.operands)},
          {"results", entries_to_json(key.results)}};
}

Result<ir::Key> key_from_json(const nlohmann::json& object) {
  if (!object.is_object()) return fail(Code::Input, "key: expected a JSON object");
  ir::Key key;
  OPLAT_CHECK(read_text(object, "domain", key.domain));
  OPLAT_CHECK(read_text(object, "op", key.op));
  if (const Json* since = field(object, "since")) {
    key.since = integer_of(*since);
    if (!key.since || *key.since < 0) return wrong("since", "expected a version");
  }
  OPLAT_CHECK(read_names(object, "tags", key.tags));
  OPLAT_CHECK(read_names(object, "attributes", key.attributes));
  OPLAT_CHECK(read_entries(object, "operands", key.operands));
  OPLAT_CHECK(read_entries(object, "results", key.results));
  key.canonicalise();
  // The parser is the judge of what a key is: aliases, names, constants.
  const std::string text = ir::print(key);
  if (auto parsed = ir::parse(text); !parsed)
    return fail(Code::Input, "key: {}: {}", base::printable(text, 100), parsed.error().message);
  return key;
}

}  // namespace oplat::runtimes
