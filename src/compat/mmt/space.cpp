// SPDX-License-Identifier: Apache-2.0
#include "compat/mmt/space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace oplat::compat::mmt {
namespace {

using base::Yaml;
using base::YamlEntry;

constexpr std::size_t kMaxOperators = 100'000;
constexpr std::string_view kShape = "input_shape";
constexpr std::string_view kNoParameters = "no_params";
constexpr std::string_view kOplatFormat = "format";

template <class... Args>
tl::unexpected<Error> wrong(std::string_view name, int line, fmt::format_string<Args...> format,
                            Args&&... args) {
  return fail(Code::Input, "{}:{}: {}", name, line,
              fmt::format(format, std::forward<Args>(args)...));
}

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// A scalar as YAML 1.1 means it, which PyYAML reads.
Attributes scalar(const std::string& text) {
  constexpr std::array<std::string_view, 9> kTrue = {"true", "True", "TRUE", "yes", "Yes",
                                                     "YES",  "on",   "On",   "ON"};
  constexpr std::array<std::string_view, 9> kFalse = {"false", "False", "FALSE", "no", "No",
                                                      "NO",    "off",   "Off",   "OFF"};
  constexpr std::array<std::string_view, 5> kNull = {"null", "Null", "NULL", "~", ""};
  if (is_one_of(text, kNull)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  if (const auto integer = base::parse_int(text)) return *integer;
  // "inf" and "nan" are words; JSON would make null of them.
  if (const auto real = base::parse_double(text); real && std::isfinite(*real)) return *real;
  return text;
}

/// JSON, which the space becomes, is UTF-8.
bool is_utf8(std::string_view bytes) {
  try {
    static_cast<void>(Attributes(std::string(bytes)).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// A candidate: a scalar, or a list of them, which is one candidate.
Result<Attributes> candidate(std::string_view name, const Yaml& yaml) {
  if (const std::string* text = yaml.text()) return yaml.quoted ? Attributes(*text) : scalar(*text);
  if (yaml.list() == nullptr)
    return wrong(name, yaml.line, "{} as a candidate; expected a value or a list",
                 yaml.described());
  auto made = Attributes::array();
  for (const Yaml& item : *yaml.list()) {
    OPLAT_TRY(value, candidate(name, item));
    made.push_back(std::move(value));
  }
  return made;
}

Result<std::vector<Attributes>> candidates(std::string_view name, const YamlEntry& entry) {
  const Yaml::List* list = entry.value.list();
  if (list == nullptr) {
    return wrong(name, entry.line, "{} is {}; expected a list of candidates, such as [{}]",
                 base::printable(entry.name, 100), entry.value.described(),
                 entry.value.text() != nullptr ? base::printable(*entry.value.text(), 40) : "1");
  }
  if (list->empty())
    return wrong(name, entry.line, "{} has no candidates", base::printable(entry.name, 100));
  std::vector<Attributes> found;
  for (const Yaml& item : *list) {
    OPLAT_TRY(value, candidate(name, item));
    found.push_back(std::move(value));
  }
  return found;
}

Result<std::vector<std::vector<std::int64_t>>> shapes(std::string_view name,
                                                      const YamlEntry& entry) {
  OPLAT_TRY(values, candidates(name, entry));
  std::vector<std::vector<std::int64_t>> found;
  for (const Attributes& value : values) {
    std::vector<std::int64_t>& shape = found.emplace_back();
    if (!value.is_array())
      return wrong(name, entry.line,
                   "input_shape has {}; expected lists, such as [[1, 3, 224, 224]]",
                   base::printable(value.dump(), 40));
    for (const Attributes& dim : value) {
      if (!dim.is_number_integer() || dim.get<std::int64_t>() < 1 ||
          dim.get<std::int64_t>() > kMaxDimension)
        return wrong(name, entry.line, "input_shape has the dimension {}; expected 1 to 2^31",
                     base::printable(dim.dump(), 40));
      shape.push_back(dim.get<std::int64_t>());
    }
  }
  return found;
}

struct Argument {
  std::string name;
  std::vector<Attributes> values;
};

/// One class of a package.
class ClassSpace {
 public:
  ClassSpace(std::string_view file, const std::string& package, const YamlEntry& entry)
      : file_(file), package_(package), entry_(entry) {}

  Status expand(std::vector<SpaceOperator>& operators) {
    OPLAT_CHECK(read());
    if (without_parameters_) {
      for (const auto& shape : shapes_) operators.push_back(made(nullptr, shape));
    } else {
      std::vector<std::size_t> choice(arguments_.size(), 0);
      do {
        Attributes parameters = Attributes::object();
        for (std::size_t i = 0; i < choice.size(); ++i)
          parameters[arguments_[i].name] = arguments_[i].values[choice[i]];
        operators.push_back(made(std::move(parameters), shapes_[choice.front()]));
        if (operators.size() > kMaxOperators) return too_many();
      } while (next(choice));
    }
    return operators.size() > kMaxOperators ? too_many() : Status();
  }

 private:
  [[nodiscard]] Status too_many() const {
    return wrong(file_, entry_.line, "more than {} operators, the limit", kMaxOperators);
  }
  [[nodiscard]] std::string shown() const {
    return fmt::format("{}.{}", base::printable(package_, 100), base::printable(entry_.name, 100));
  }
  SpaceOperator made(Attributes parameters, const std::vector<std::int64_t>& shape) {
    return {package_, entry_.name, std::move(parameters), shape, entry_.line};
  }

  bool next(std::vector<std::size_t>& choice) {
    for (std::size_t i = choice.size(); i > 0; --i) {
      if (++choice[i - 1] < arguments_[i - 1].values.size()) return true;
      choice[i - 1] = 0;
    }
    return false;
  }

  Status read() {
    const Yaml::Map* map = entry_.value.map();
    if (map == nullptr) {
      return wrong(file_, entry_.line, "{} is {}; expected its arguments and input_shape", shown(),
                   entry_.value.described());
    }
    for (const YamlEntry& argument : *map) OPLAT_CHECK(read(argument));
    if (shapes_.empty()) return wrong(file_, entry_.line, "{} has no input_shape", shown());
    if (without_parameters_ && !arguments_.empty()) {
      return wrong(file_, entry_.line, "{} has no_params and the argument {}", shown(),
                   base::printable(arguments_.front().name, 100));
    }
    if (without_parameters_) return {};
    if (arguments_.empty())
      return wrong(file_, entry_.line, "{} has no arguments; say no_params: true", shown());
    const std::size_t first = arguments_.front().values.size();
    if (first != shapes_.size()) {
      return wrong(file_, entry_.line,
                   "{} has {} input_shape for {} candidates of its first argument, {}; give one "
                   "each",
                   shown(), shapes_.size(), first, base::printable(arguments_.front().name, 100));
    }
    return {};
  }

  Status read(const YamlEntry& argument) {
    if (argument.name == kShape) {
      OPLAT_TRY(found, shapes(file_, argument));
      shapes_ = std::move(found);
      return {};
    }
    if (argument.name == kNoParameters) {
      const std::string* text = argument.value.text();
      const Attributes value = text == nullptr ? Attributes() : scalar(*text);
      if (!value.is_boolean())
        return wrong(file_, argument.line, "no_params is {}; expected true or false",
                     argument.value.described());
      without_parameters_ = value.get<bool>();
      return {};
    }
    OPLAT_TRY(values, candidates(file_, argument));
    arguments_.push_back({argument.name, std::move(values)});
    return {};
  }

  std::string_view file_;
  const std::string& package_;
  const YamlEntry& entry_;
  std::vector<Argument> arguments_;
  std::vector<std::vector<std::int64_t>> shapes_;
  bool without_parameters_ = false;
};

/// "None" in the place of classes, which MMT skips.
bool is_nothing(const Yaml& yaml) {
  const std::string* text = yaml.text();
  return text != nullptr && (*text == "None" || scalar(*text).is_null());
}

}  // namespace

std::string text_of(const SpaceOperator& one) {
  std::string arguments;
  if (one.parameters.is_object()) {
    for (const auto& [name, value] : one.parameters.items())
      arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ",", name, value.dump());
  }
  return fmt::format("{}.{}({}) [{}]", one.package, one.class_name, arguments,
                     fmt::join(one.input_shape, ","));
}

bool is_space(std::string_view name, std::string_view bytes) {
  const auto yaml = base::parse_yaml(name, bytes);
  if (!yaml || yaml->map() == nullptr || yaml->map()->empty()) return false;
  return std::all_of(yaml->map()->begin(), yaml->map()->end(), [](const YamlEntry& entry) {
    return entry.name != kOplatFormat && (entry.value.map() != nullptr || is_nothing(entry.value));
  });
}

Result<ExpandedSpace> expand_space(std::string_view name, std::string_view bytes) {
  if (!is_utf8(bytes)) return fail(Code::Input, "{}: is not UTF-8; expected YAML", name);
  OPLAT_TRY(yaml, base::parse_yaml(name, bytes));
  if (yaml.map() == nullptr || yaml.map()->empty()) {
    return wrong(name, yaml.line,
                 "the file is {}; expected packages, such as torch.nn:", yaml.described());
  }
  ExpandedSpace space;
  for (const YamlEntry& package : *yaml.map()) {
    const std::string shown = base::printable(package.name, 100);
    if (is_nothing(package.value)) {
      space.left_out.push_back(
          fmt::format("{}:{}: {} has no classes, and is skipped", name, package.line, shown));
      continue;
    }
    if (package.value.map() == nullptr) {
      return wrong(name, package.line, "{} is {}; expected its classes", shown,
                   package.value.described());
    }
    for (const YamlEntry& one : *package.value.map())
      OPLAT_CHECK(ClassSpace(name, package.name, one).expand(space.operators));
  }
  if (space.operators.empty()) return wrong(name, yaml.line, "the space has no operators");
  return space;
}

}  // namespace oplat::compat::mmt
