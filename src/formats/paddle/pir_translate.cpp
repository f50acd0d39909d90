// SPDX-License-Identifier: Apache-2.0
/// PIR into the words of ProgramDesc: values become variables, constant operands attributes.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"
#include "formats/paddle/pir.hpp"

namespace oplat::formats::paddle {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

const ir::Value* attribute(const PirOperator& op, std::string_view name) {
  for (const ir::NamedValue& each : op.attributes) {
    if (each.first == name) return &each.second;
  }
  return nullptr;
}

void set(Operator& op, std::string_view name, ir::Value value) {
  for (ir::NamedValue& each : op.attributes) {
    if (each.first == name) {
      each.second = std::move(value);
      return;
    }
  }
  op.attributes.emplace_back(std::string(name), std::move(value));
}

class Translator {
 public:
  explicit Translator(const std::string& file) : file_(file) {}

  Result<Program> run(const std::vector<PirOperator>& operators) {
    for (std::size_t i = 0; i < operators.size(); ++i) OPLAT_CHECK(add(i, operators[i]));
    drop_unread_constants();
    Program program;
    program.blocks.push_back(std::move(block_));
    return program;
  }

 private:
  std::string where(std::size_t index, const PirOperator& op) const {
    return fmt::format("{}: operator {} ({})", file_, index, base::printable(op.name));
  }

  /// Variables that a value means: one, or those of a list. Short texts may name long lists: all
  /// that was handed out is bounded.
  Result<std::vector<std::string>> variables_of(const std::string& place, std::int64_t id) {
    const auto found = values_.find(id);
    if (found != values_.end()) {
      handed_out_ += found->second.size();
      if (handed_out_ > kMaxVariables)
        return fail(Code::Input, "{}: there are more than {} operands before it", place,
                    kMaxVariables);
      return found->second;
    }
    return fail(Code::Input,
                "{} reads value {}, which no earlier operator writes: the program is cyclic, or "
                "not in order of execution",
                place, id);
  }

  Status define(const std::string& place, std::int64_t id, std::vector<std::string> names,
                const std::vector<Variable>& variables) {
    if (!values_.try_emplace(id, names).second) {
      return fail(Code::Input, "{} writes value {}, which an earlier operator also writes", place,
                  id);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      block_.variables.insert_or_assign(names[i], variables[i]);
    return {};
  }

  /// New variables for a result.
  Result<std::vector<std::string>> make(const std::string& place, const PirResult& result) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < result.type.tensors.size(); ++i) {
      std::string name = result.type.list ? fmt::format("value_{}.{}", result.id, i)
                                          : fmt::format("value_{}", result.id);
      while (block_.variables.contains(name)) name += '\'';
      names.push_back(std::move(name));
    }
    OPLAT_CHECK(define(place, result.id, names, result.type.tensors));
    return names;
  }

  Status add(std::size_t i, const PirOperator& op) {
    const std::string place = where(i, op);
    if (op.dialect == "builtin") return add_builtin(i, place, op);
    if (op.dialect == "pd_op" && (op.name == "data" || op.name == "feed"))
      return add_input(place, op);
    if (op.dialect == "pd_op" && op.name == "fetch") {
      Operator fetch{.type = "fetch",
                     .shown = {},
                     .inputs = {},
                     .outputs = {},
                     .attributes = {},
                     .bodies = {}};
      OPLAT_CHECK(add_operands(place, op, "X", fetch));
      block_.operators.push_back(std::move(fetch));
      return {};
    }
    return add_operator(place, op);
  }

  Status add_builtin(std::size_t i, const std::string& place, const PirOperator& op) {
    if (op.name == "parameter" || op.name == "constant") {
      const ir::Value* name =
          attribute(op, op.name == "parameter" ? "parameter_name" : "tensor_name");
      if (name == nullptr) name = attribute(op, "value");
      if (name == nullptr || name->text() == nullptr || op.results.size() != 1 ||
          op.results[0].type.tensors.size() != 1) {
        return fail(Code::Input, "{}: a parameter lacks a name or a tensor", place);
      }
      if (block_.variables.contains(*name->text())) {
        return fail(Code::Input, "{}: parameter '{}' appears twice", place,
                    base::printable(*name->text()));
      }
      std::vector<Variable> variables = op.results[0].type.tensors;
      variables[0].persistable = true;
      variables[0].stored = op.stored;
      return define(place, op.results[0].id, {*name->text()}, variables);
    }
    if (op.name == "combine" && op.results.size() == 1) {
      std::vector<std::string> all;
      for (const std::int64_t id : op.operands) {
        OPLAT_TRY(names, variables_of(place, id));
        all.insert(all.end(), names.begin(), names.end());
        if (all.size() > kMaxParts)
          return fail(Code::Input, "{}: a list has more than {} values", place, kMaxParts);
      }
      if (!values_.try_emplace(op.results[0].id, std::move(all)).second) {
        return fail(Code::Input, "{} writes value {}, which an earlier operator also writes", place,
                    op.results[0].id);
      }
      lists_.insert(op.results[0].id);
      return {};
    }
    if ((op.name == "split" || op.name == "slice") && op.operands.size() == 1)
      return take_apart(place, op);
    if (op.name == "shadow_output") {
      Operator fetch{.type = "fetch",
                     .shown = {},
                     .inputs = {},
                     .outputs = {},
                     .attributes = {},
                     .bodies = {}};
      OPLAT_CHECK(add_operands(place, op, "X", fetch));
      block_.operators.push_back(std::move(fetch));
      return {};
    }
    return fail(Code::Input, "{}: operator {} (builtin.{}) is not supported", file_, i,
                base::printable(op.name));
  }

  /// Elements of a list by position, or one of them.
  Status take_apart(const std::string& place, const PirOperator& op) {
    OPLAT_TRY(names, variables_of(place, op.operands[0]));
    std::size_t first = 0;
    if (const ir::Value* index = attribute(op, "index");
        index != nullptr && index->integer() != nullptr) {
      first = static_cast<std::size_t>(std::max<std::int64_t>(*index->integer(), 0));
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (first + i >= names.size()) {
        return fail(Code::Input, "{} takes element {} of a list of {}", place, first + i,
                    names.size());
      }
      if (op.results[i].id == 0) continue;
      if (!values_.try_emplace(op.results[i].id, std::vector<std::string>{names[first + i]})
               .second) {
        return fail(Code::Input, "{} writes value {}, which an earlier operator also writes", place,
                    op.results[i].id);
      }
    }
    return {};
  }

  Status add_input(const std::string& place, const PirOperator& op) {
    const ir::Value* name = attribute(op, "name");
    if (name == nullptr || name->text() == nullptr || op.results.size() != 1 ||
        op.results[0].type.tensors.size() != 1) {
      return fail(Code::Input, "{}: an input lacks a name or a tensor", place);
    }
    if (block_.variables.contains(*name->text())) {
      return fail(Code::Input, "{}: input '{}' appears twice", place,
                  base::printable(*name->text()));
    }
    OPLAT_CHECK(define(place, op.results[0].id, {*name->text()}, op.results[0].type.tensors));
    Operator feed{
        .type = "feed", .shown = {}, .inputs = {}, .outputs = {}, .attributes = {}, .bodies = {}};
    feed.outputs.push_back({.slot = "Out", .variables = {*name->text()}});
    feed.attributes.emplace_back("col", inputs_++);
    block_.operators.push_back(std::move(feed));
    return {};
  }

  Status add_operator(const std::string& place, const PirOperator& source) {
    std::string_view bare = source.name;
    const PirName* name = find_pir_name(bare);
    if (name == nullptr && bare.ends_with('_')) {
      bare.remove_suffix(1);
      name = find_pir_name(bare);
    }
    Operator op;
    op.type = std::string(name != nullptr ? name->op : bare);
    op.shown = source.name;
    op.attributes = source.attributes;
    if (name != nullptr) rename(name->attributes, op);
    OPLAT_CHECK(add_operands(place, source, name != nullptr ? name->operands : "X,Y,Z", op));
    if (source.has_regions) op.bodies.emplace_back("regions", 1);
    const auto slots = parts_of(name != nullptr ? name->results : "Out", ',');
    for (std::size_t i = 0; i < source.results.size(); ++i) {
      const PirResult& result = source.results[i];
      if (result.id == 0) continue;
      OPLAT_TRY(names, make(place, result));
      const std::string slot =
          i < slots.size() ? std::string(slots[i]) : fmt::format("Result{}", i);
      op.outputs.push_back({.slot = slot, .variables = std::move(names)});
    }
    std::sort(op.attributes.begin(), op.attributes.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    note_constant(source, op);
    block_.operators.push_back(std::move(op));
    if (block_.operators.size() > kMaxOperators)
      return fail(Code::Input, "{}: has more than {} operators", file_, kMaxOperators);
    return {};
  }

  static void rename(std::string_view rules, Operator& op) {
    for (std::string_view rule : parts_of(rules, ',')) {
      if (rule.starts_with('+')) {
        const auto sides = parts_of(rule.substr(1), '=');
        const auto number = base::parse_int(sides[1]);
        set(op, sides[0],
            number             ? ir::Value(*number)
            : sides[1] == "[]" ? ir::Value(ir::List{})
                               : ir::Value(base::parse_double(sides[1]).value_or(0)));
        continue;
      }
      const auto sides = parts_of(rule, '>');
      for (ir::NamedValue& each : op.attributes) {
        if (each.first == sides[0]) each.first = std::string(sides[1]);
      }
    }
  }

  Status add_operands(const std::string& place, const PirOperator& source,
                      std::string_view operands, Operator& op) {
    const auto slots = parts_of(operands, ',');
    for (std::size_t i = 0; i < source.operands.size(); ++i) {
      const std::int64_t id = source.operands[i];
      if (id == 0) continue;
      std::string slot = i < slots.size() ? std::string(slots[i]) : fmt::format("Operand{}", i);
      if (slot == "-") continue;
      OPLAT_TRY(names, variables_of(place, id));
      if (slot.starts_with('@')) {
        const auto forms = parts_of(slots[i].substr(1), '/');
        if (const auto constant = constants_.find(id); constant != constants_.end()) {
          set(op, forms[0], constant->second);
          continue;
        }
        const auto stacked = stacked_.find(id);
        const bool list = forms.size() > 2 && (lists_.contains(id) || stacked != stacked_.end());
        if (list && stacked != stacked_.end()) {
          OPLAT_TRY(parts, variables_of(place, stacked->second));
          names = std::move(parts);
        }
        slot = list ? forms[2] : forms.size() > 1 && !forms[1].empty() ? forms[1] : forms[0];
      }
      if (names.empty()) continue;
      op.inputs.push_back({.slot = std::move(slot), .variables = std::move(names)});
    }
    return {};
  }

  /// A scalar as attributes of its element type are: full keeps all of them as doubles.
  static ir::Value narrowed(const PirOperator& source, const ir::Value& value) {
    const ir::Value* dtype = attribute(source, "dtype");
    if (value.real() == nullptr || dtype == nullptr || dtype->integer() == nullptr) return value;
    const auto element = dtype_of(static_cast<int>(*dtype->integer()));
    if (element == ir::Dtype::F32)
      return formats::caffe2::caffe2_float(static_cast<float>(*value.real()));
    constexpr double kMax = 0x1p53;
    const bool whole = element && ir::is_integer(*element) && std::abs(*value.real()) < kMax;
    return whole ? ir::Value(static_cast<std::int64_t>(*value.real())) : value;
  }

  /// What operators behind it may have as an attribute, or as a list of tensors.
  void note_constant(const PirOperator& source, Operator& op) {
    const bool scalars = source.results.size() == 1 && source.results[0].type.tensors.size() == 1 &&
                         source.results[0].type.tensors[0].dims.size() == 1;
    if (source.name == "stack" && scalars && source.operands.size() == 1) {
      stacked_.try_emplace(source.results[0].id, source.operands[0]);
      for (const Argument& argument : op.outputs)
        made_constants_.insert(argument.variables.begin(), argument.variables.end());
      return;
    }
    if ((source.name != "full" && source.name != "full_int_array") || source.results.size() != 1)
      return;
    const ir::Value* value = attribute(source, "value");
    if (value == nullptr || value->unknown()) return;
    constants_.try_emplace(source.results[0].id, narrowed(source, *value));
    if (source.name == "full_int_array" && value->list() != nullptr) {
      set(op, "shape", ir::Value::ints({static_cast<std::int64_t>(value->list()->size())}));
    }
    for (const Argument& argument : op.outputs)
      made_constants_.insert(argument.variables.begin(), argument.variables.end());
  }

  /// Those that became attributes or lists only.
  void drop_unread_constants() {
    std::unordered_set<std::string_view> read;
    for (const Operator& op : block_.operators) {
      for (const Argument& argument : op.inputs)
        read.insert(argument.variables.begin(), argument.variables.end());
    }
    std::erase_if(block_.operators, [&](const Operator& op) {
      return op.outputs.size() == 1 && op.outputs[0].variables.size() == 1 &&
             made_constants_.contains(op.outputs[0].variables[0]) &&
             !read.contains(op.outputs[0].variables[0]);
    });
  }

  const std::string& file_;
  Block block_;
  std::int64_t inputs_ = 0;
  std::size_t handed_out_ = 0;
  std::unordered_map<std::int64_t, std::vector<std::string>> values_;
  std::unordered_set<std::int64_t> lists_;
  std::unordered_map<std::int64_t, ir::Value> constants_;
  std::unordered_map<std::int64_t, std::int64_t>
      stacked_;  ///< one-dimensional results: the list of their elements
  std::unordered_set<std::string> made_constants_;
};

}  // namespace

Result<Program> translate(const std::string& file, const std::vector<PirOperator>& operators) {
  return Translator(file).run(operators);
}

}  // namespace oplat::formats::paddle
