// SPDX-License-Identifier: Apache-2.0
#include "app/mmt.hpp"

#include <utility>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "compat/mmt/pickle.hpp"
#include "compat/mmt/space.hpp"

namespace oplat::app {
namespace {

constexpr std::uint64_t kMaxPickleBytes = std::uint64_t{128} << 20;

}  // namespace

bool is_mmt_space(const std::string& file) {
  const auto bytes = base::read_file(file, base::kMaxYamlBytes);
  return bytes && compat::mmt::is_space(file, *bytes);
}

Result<MmtSpaceResult> expand_mmt_space(const std::string& file) {
  OPLAT_TRY(bytes, base::read_file(file, base::kMaxYamlBytes));
  OPLAT_TRY(space, compat::mmt::expand_space(file, bytes));
  MmtSpaceResult result;
  result.left_out = std::move(space.left_out);
  auto list = compat::mmt::Attributes::array();
  for (const compat::mmt::SpaceOperator& one : space.operators) {
    result.operators.push_back(compat::mmt::text_of(one));
    compat::mmt::Attributes entry;
    entry["package"] = one.package;
    entry["class"] = one.class_name;
    entry["parameters"] = one.parameters;
    entry["input_shape"] = one.input_shape;
    entry["line"] = one.line;
    list.push_back(std::move(entry));
  }
  result.json = list.dump();
  return result;
}

Result<std::string> read_mmt_operators(const std::string& file) {
  OPLAT_TRY(bytes, base::read_file(file, kMaxPickleBytes));
  auto operators = compat::mmt::read_operators(bytes);
  if (!operators) return fail_in(file, operators.error());
  auto list = compat::mmt::Attributes::array();
  for (compat::mmt::PickledOperator& one : *operators) list.push_back(std::move(one.attributes));
  return list.dump();
}

Status write_mmt_operators(const std::string& file, const std::string& json) {
  const auto list = compat::mmt::Attributes::parse(json, nullptr, false);
  if (!list.is_array()) return fail(Code::Input, "{}: the operators are not a JSON list", file);
  const std::vector<compat::mmt::Attributes> operators(list.begin(), list.end());
  OPLAT_TRY(bytes, compat::mmt::write_operators(operators));
  return base::write_file(file, bytes);
}

}  // namespace oplat::app
