// SPDX-License-Identifier: Apache-2.0
/// A stack machine of the instructions that make data, described in Python's pickletools. Objects
/// live in an arena, since memo sharing may tie them into a cycle; the walk that turns them into
/// JSON is bounded in depth and size, since sharing may also stand for more than fits memory.
#include "compat/mmt/pickle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "compat/pickle_bytes.hpp"

namespace oplat::compat::mmt {
namespace {

constexpr unsigned kOldestProtocol = 2;
constexpr unsigned kNewestProtocol = 5;
constexpr std::size_t kMaxItems = 4'000'000;
constexpr std::size_t kMaxNodesOfOperator = 100'000;
constexpr int kMaxDepth = 32;
// A tuple is an array in an object, a dict of pairs an array of arrays in one.
constexpr int kMaxWrittenDepth = 3 * kMaxDepth + 8;
constexpr std::string_view kModule = "mmt.utils";
constexpr std::string_view kClass = "ops_meta";

/// The class of an operator in tables of MMT 1 and 2.0; later ones keep it in a file of its own.
constexpr std::string_view kClassAttribute = "classname";
constexpr std::string_view kGlobal = "global";

/// Class is ops_meta, Global any other name that the pickle would have Python import.
enum class Kind : std::uint8_t {
  None,
  Bool,
  Int,
  Float,
  Text,
  List,
  Tuple,
  Dict,
  Class,
  Object,
  Global
};

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 11> kNames = {
      "None",    "a truth value", "an integer", "a float",     "a string", "a list",
      "a tuple", "a dict",        "a class",    "an ops_meta", "a global"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct Node {
  Kind kind = Kind::None;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};           ///< of a global: its name
  std::string_view module = {};         ///< of a global
  std::vector<const Node*> items = {};  ///< of a dict: keys and values in turn; of an object: state
  std::size_t offset = 0;
};

struct Instruction {
  std::uint8_t code;
  std::string_view name;
};
/// Instructions that call what was imported, or import what is named elsewhere.
constexpr Instruction kRunsCode[] = {{'R', "REDUCE"},     {'i', "INST"},   {'o', "OBJ"},
                                     {0x92, "NEWOBJ_EX"}, {'P', "PERSID"}, {'Q', "BINPERSID"},
                                     {0x82, "EXT1"},      {0x83, "EXT2"},  {0x84, "EXT4"}};

/// A dotted name of ASCII: a line of a pickle, and nothing else.
bool is_importable(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

class Machine : private PickleBytes {
 public:
  explicit Machine(std::string_view bytes) : PickleBytes(bytes) {}

  Result<std::vector<PickledOperator>> run() {
    if (size() == 0) return fail(Code::Input, "is empty; expected a pickle of MMT");
    while (!stopped_) {
      OPLAT_TRY(code, instruction());
      OPLAT_CHECK(step(code));
      if (nodes_.size() > kMaxItems || stack_.size() > kMaxItems || memo_.size() > kMaxItems)
        return wrong("more than {} objects, the limit", kMaxItems);
    }
    OPLAT_CHECK(at_end());
    if (stack_.size() != 1 || stack_.front() == nullptr || stack_.front()->kind != Kind::List) {
      return wrong(
          "the pickle is {}; expected a list of ops_meta",
          stack_.empty() || stack_.back() == nullptr ? "nothing" : name(stack_.back()->kind));
    }
    return operators(*stack_.front());
  }

 private:
  Node& make(Kind kind) {
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.offset = offset();
    return node;
  }
  Status push(Kind kind) {
    stack_.push_back(&make(kind));
    return {};
  }
  Status push_integer(std::int64_t value, Kind kind = Kind::Int) {
    Node& node = make(kind);
    node.integer = value;
    stack_.push_back(&node);
    return {};
  }

  Status step(std::uint8_t code) {
    switch (code) {
      case 0x80:
        return protocol(kOldestProtocol, kNewestProtocol);
      case 0x95:
        return frame();
      case '.':
        stopped_ = true;
        return {};
      case '(':
        stack_.push_back(nullptr);
        return {};
      case ']':
        return push(Kind::List);
      case ')':
        return push(Kind::Tuple);
      case '}':
        return push(Kind::Dict);
      case 'N':
        return push(Kind::None);
      case 'a':
        return append(1);
      case 'e':
        return append_marked();
      case 's':
        return set(2);
      case 'u':
        return set_marked();
      case 't':
        return tuple_of_mark();
      case 0x85:
      case 0x86:
      case 0x87:
        return tuple(code - 0x84U);
      case 0x88:
        return push_integer(1, Kind::Bool);
      case 0x89:
        return push_integer(0, Kind::Bool);
      case 'J':
        return integer(4);
      case 'K':
        return unsigned_integer(1);
      case 'M':
        return unsigned_integer(2);
      case 0x8a:
        return long_of_length(1);
      case 0x8b:
        return long_of_length(4);
      case 'G':
        return binary_float();
      case 'X':
        return text_of_length(4);
      case 0x8c:
        return text_of_length(1);
      case 0x8d:
        return text_of_length(8);
      case 'q':
        return put_of_length(1);
      case 'r':
        return put_of_length(4);
      case 0x94:
        return put(memo_.size());
      case 'h':
        return get_of_length(1);
      case 'j':
        return get_of_length(4);
      case 'c':
        return global_of_lines();
      case 0x93:
        return global_of_stack();
      case 0x81:
        return new_object();
      case 'b':
        return build();
      default:
        return refuse(code);
    }
  }

  [[nodiscard]] Status refuse(std::uint8_t code) const {
    const auto* found = std::find_if(std::begin(kRunsCode), std::end(kRunsCode),
                                     [&](const Instruction& each) { return each.code == code; });
    if (found != std::end(kRunsCode))
      return wrong("{} could run code and is refused; tables of MMT do not have it", found->name);
    return wrong("instruction 0x{:02x} makes nothing that tables of MMT have", code);
  }

  Status integer(std::uint64_t size) {
    if (size > kMaxPickleInteger)
      return wrong("an integer of {} bytes; the limit is {}", size, kMaxPickleInteger);
    OPLAT_TRY(value, signed_number(static_cast<std::size_t>(size)));
    return push_integer(value);
  }
  Status unsigned_integer(std::size_t size) {
    OPLAT_TRY(value, number(size));
    return push_integer(static_cast<std::int64_t>(value));
  }
  Status long_of_length(std::size_t size) {
    OPLAT_TRY(length, number(size));
    return integer(length);
  }
  Status binary_float() {
    OPLAT_TRY(value, real());
    Node& node = make(Kind::Float);
    node.real = value;
    stack_.push_back(&node);
    return {};
  }
  Status text_of_length(std::size_t size) {
    OPLAT_TRY(length, number(size));
    if (length > kMaxPickleText)
      return wrong("a string of {} bytes; the limit is {}", length, kMaxPickleText);
    OPLAT_TRY(taken, take(length));
    Node& node = make(Kind::Text);
    node.text = taken;
    stack_.push_back(&node);
    return {};
  }

  /// The index after the last mark.
  Result<std::size_t> after_mark() {
    for (std::size_t i = stack_.size(); i > 0; --i) {
      if (stack_[i - 1] == nullptr) return i;
    }
    return wrong("no MARK before it");
  }
  /// The object below the last `count` items, if it is of `kind` and none of these is a mark.
  Result<Node*> target(Kind kind, std::size_t count) {
    if (stack_.size() < count + 1) return wrong("the stack has only {} objects", stack_.size());
    for (std::size_t i = stack_.size() - count - 1; i < stack_.size(); ++i) {
      if (stack_[i] == nullptr) return wrong("a mark where an object is expected");
    }
    Node* found = stack_[stack_.size() - count - 1];
    if (found->kind == Kind::Global) return refuse(*found);
    if (found->kind != kind) return wrong("{}; expected {}", name(found->kind), name(kind));
    return found;
  }
  Status move_into(Kind kind, std::size_t count) {
    OPLAT_TRY(into, target(kind, count));
    items_ += count;
    if (items_ > kMaxItems) return wrong("more than {} objects, the limit", kMaxItems);
    into->items.insert(into->items.end(), stack_.end() - static_cast<std::ptrdiff_t>(count),
                       stack_.end());
    stack_.resize(stack_.size() - count);
    return {};
  }
  Status append(std::size_t count) { return move_into(Kind::List, count); }
  Status set(std::size_t count) { return move_into(Kind::Dict, count); }
  /// The items after the last mark, without the mark.
  Result<std::size_t> unmark() {
    OPLAT_TRY(first, after_mark());
    const std::size_t count = stack_.size() - first;
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first) - 1);
    return count;
  }
  Status append_marked() {
    OPLAT_TRY(count, unmark());
    return append(count);
  }
  Status set_marked() {
    OPLAT_TRY(count, unmark());
    if (count % 2 != 0) return wrong("a key without a value");
    return set(count);
  }
  Status tuple_of_mark() {
    OPLAT_TRY(count, unmark());
    return tuple(count);
  }
  Status tuple(std::size_t count) {
    if (stack_.size() < count) return wrong("the stack has only {} objects", stack_.size());
    Node& made = make(Kind::Tuple);
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i) {
      if (stack_[i] == nullptr) return wrong("a mark where an object is expected");
      made.items.push_back(stack_[i]);
    }
    stack_.resize(stack_.size() - count);
    stack_.push_back(&made);
    return {};
  }

  Status put(std::uint64_t index) {
    if (stack_.empty() || stack_.back() == nullptr)
      return wrong("the stack is empty where a value is stored");
    memo_.insert_or_assign(index, stack_.back());
    return {};
  }
  Status put_of_length(std::size_t size) {
    OPLAT_TRY(index, number(size));
    return put(index);
  }
  Status get_of_length(std::size_t size) {
    OPLAT_TRY(index, number(size));
    const auto found = memo_.find(index);
    if (found == memo_.end()) return wrong("no value was stored as {}", index);
    stack_.push_back(found->second);
    return {};
  }

  Status global(std::string_view module, std::string_view object) {
    if (module == kModule && object == kClass) return push(Kind::Class);
    Node& node = make(Kind::Global);
    node.module = module;
    node.text = object;
    stack_.push_back(&node);
    return {};
  }
  /// A global anywhere but as the class of an operator, where it is no more than a name.
  [[nodiscard]] tl::unexpected<Error> refuse(const Node& global) {
    blame(global.offset);
    return wrong("the global {}.{} could run code and is refused; expected {}.{}",
                 base::printable(global.module, 200), base::printable(global.text, 200), kModule,
                 kClass);
  }
  Status global_of_lines() {
    OPLAT_TRY(module, line());
    OPLAT_TRY(object, line());
    return global(module, object);
  }
  Status global_of_stack() {
    if (stack_.size() < 2 || stack_.back() == nullptr || stack_[stack_.size() - 2] == nullptr ||
        stack_.back()->kind != Kind::Text || stack_[stack_.size() - 2]->kind != Kind::Text)
      return wrong("STACK_GLOBAL without two strings");
    const std::string_view object = stack_.back()->text;
    const std::string_view module = stack_[stack_.size() - 2]->text;
    stack_.resize(stack_.size() - 2);
    return global(module, object);
  }
  Status new_object() {
    OPLAT_TRY(made, target(Kind::Class, 1));
    static_cast<void>(made);
    if (stack_.back()->kind != Kind::Tuple || !stack_.back()->items.empty())
      return wrong("NEWOBJ with arguments; ops_meta has none");
    stack_.resize(stack_.size() - 2);
    return push(Kind::Object);
  }
  Status build() {
    OPLAT_TRY(object, target(Kind::Object, 1));
    if (stack_.back()->kind == Kind::Global) return refuse(*stack_.back());
    if (stack_.back()->kind != Kind::Dict)
      return wrong("BUILD with {}; expected a dict of attributes", name(stack_.back()->kind));
    if (!object->items.empty()) return wrong("BUILD for an object that has its attributes");
    object->items.push_back(stack_.back());
    stack_.pop_back();
    return {};
  }

  [[nodiscard]] Result<std::vector<PickledOperator>> operators(const Node& list) {
    std::vector<PickledOperator> found;
    for (const Node* item : list.items) {
      blame(item->offset);
      if (item->kind == Kind::Global) return refuse(*item);
      if (item->kind != Kind::Object)
        return wrong("the list has {}; expected ops_meta", name(item->kind));
      if (item->items.empty()) return wrong("an ops_meta without attributes");
      std::size_t visited = 0;
      OPLAT_TRY(attributes, attributes_of(*item->items.front(), visited));
      json_nodes_ += visited;
      if (json_nodes_ > kMaxItems) return wrong("more than {} objects, the limit", kMaxItems);
      if (!attributes.is_object() || attributes.contains("tuple") || attributes.contains("dict"))
        return wrong("an ops_meta whose attributes have no names");
      found.push_back({std::move(attributes), item->offset});
    }
    return found;
  }

  /// The state of an operator. Its class is a name, {"global": [module, name]}.
  Result<nlohmann::ordered_json> attributes_of(const Node& state, std::size_t& visited) {
    const Node* of_class = nullptr;
    Node others = state;
    for (std::size_t i = 0; i < others.items.size(); i += 2) {
      if (others.items[i]->kind != Kind::Text || others.items[i]->text != kClassAttribute) continue;
      const Node* given = others.items[i + 1];
      of_class = given->kind == Kind::Global ? given : nullptr;
      if (of_class != nullptr) others.items[i + 1] = &none_;
    }
    OPLAT_TRY(attributes, json(others, 0, visited));
    if (of_class == nullptr || !attributes.contains(kClassAttribute)) return attributes;
    blame(of_class->offset);
    if (!is_importable(of_class->module) || !is_importable(of_class->text))
      return wrong("'{}.{}' is not the name of a class", base::printable(of_class->module, 200),
                   base::printable(of_class->text, 200));
    nlohmann::ordered_json class_name;
    class_name[kGlobal] = {std::string(of_class->module), std::string(of_class->text)};
    attributes[kClassAttribute] = std::move(class_name);
    return attributes;
  }

  Result<nlohmann::ordered_json> json(const Node& node, int depth, std::size_t& visited) {
    blame(node.offset);
    if (depth > kMaxDepth) return wrong("more than {} levels of lists and dicts", kMaxDepth);
    if (++visited > kMaxNodesOfOperator)
      return wrong("an operator of more than {} objects", kMaxNodesOfOperator);
    switch (node.kind) {
      case Kind::None:
        return nlohmann::ordered_json();
      case Kind::Bool:
        return nlohmann::ordered_json(node.integer != 0);
      case Kind::Int:
        return nlohmann::ordered_json(node.integer);
      case Kind::Float:
        return finite(node.real);
      case Kind::Text:
        return text(node.text);
      case Kind::List:
      case Kind::Tuple:
        return sequence(node, depth, visited);
      case Kind::Dict:
        return dict(node, depth, visited);
      case Kind::Global:
        return refuse(node);
      default:
        return wrong("{} inside an ops_meta", name(node.kind));
    }
  }
  [[nodiscard]] Result<nlohmann::ordered_json> finite(double value) const {
    if (!std::isfinite(value)) return wrong("the number {} is not finite", value);
    return nlohmann::ordered_json(value);
  }
  [[nodiscard]] Result<nlohmann::ordered_json> text(std::string_view value) const {
    nlohmann::ordered_json made = std::string(value);
    try {
      static_cast<void>(made.dump());
    } catch (const nlohmann::json::exception&) {
      return wrong("'{}' is not UTF-8", base::printable(value, 200));
    }
    return made;
  }
  Result<nlohmann::ordered_json> sequence(const Node& node, int depth, std::size_t& visited) {
    auto made = nlohmann::ordered_json::array();
    for (const Node* item : node.items) {
      OPLAT_TRY(value, json(*item, depth + 1, visited));
      made.push_back(std::move(value));
    }
    if (node.kind == Kind::List) return made;
    nlohmann::ordered_json wrapped;
    wrapped["tuple"] = std::move(made);
    return wrapped;
  }
  Result<nlohmann::ordered_json> dict(const Node& node, int depth, std::size_t& visited) {
    bool named = true;
    for (std::size_t i = 0; i < node.items.size(); i += 2) {
      const Node& key = *node.items[i];
      named = named && key.kind == Kind::Text && key.text != "tuple" && key.text != "dict" &&
              key.text != kGlobal;
    }
    auto pairs = nlohmann::ordered_json::array();
    auto object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < node.items.size(); i += 2) {
      OPLAT_TRY(key, json(*node.items[i], depth + 1, visited));
      OPLAT_TRY(value, json(*node.items[i + 1], depth + 1, visited));
      if (named) {
        object[key.get<std::string>()] = std::move(value);
      } else {
        pairs.push_back(nlohmann::ordered_json::array({std::move(key), std::move(value)}));
      }
    }
    if (named) return object;
    nlohmann::ordered_json wrapped;
    wrapped["dict"] = std::move(pairs);
    return wrapped;
  }

  bool stopped_ = false;
  std::size_t items_ = 0;  ///< in all containers
  std::size_t json_nodes_ = 0;
  std::deque<Node> nodes_;
  const Node none_ = {};
  std::vector<Node*> stack_;  ///< nullptr: a mark
  std::unordered_map<std::uint64_t, Node*> memo_;
};

class Writer {
 public:
  Result<std::string> list(std::span<const Attributes> operators) {
    out_ = "\x80\x03](";
    for (const Attributes& attributes : operators) {
      if (!attributes.is_object()) return fail(Code::Input, "attributes that are not an object");
      out_ += fmt::format("c{}\n{}\n)\x81", kModule, kClass);
      OPLAT_CHECK(state(attributes));
      out_ += 'b';
    }
    out_ += "e.";
    if (nested_class_) out_[1] = '\x04';
    return std::move(out_);
  }

 private:
  /// Attributes may come from a table that somebody else wrote.
  struct Deeper {
    explicit Deeper(int& depth) : depth_of(depth) { ++depth_of; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --depth_of; }
    int& depth_of;
  };

  void number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  void text(const std::string& value) {
    out_ += 'X';
    number(value.size(), 4);
    out_ += value;
  }
  /// Attributes of an operator, of which one may be its class.
  Status state(const Attributes& attributes) {
    out_ += "}(";
    for (const auto& [name, each] : attributes.items()) {
      text(name);
      const bool is_class =
          name == kClassAttribute && each.is_object() && each.size() == 1 && each.contains(kGlobal);
      OPLAT_CHECK(is_class ? class_name(each.front()) : value(each));
    }
    out_ += 'u';
    return {};
  }
  Status class_name(const Attributes& names) {
    if (!names.is_array() || names.size() != 2 || !names[0].is_string() || !names[1].is_string() ||
        !is_importable(names[0].get_ref<const std::string&>()) ||
        !is_importable(names[1].get_ref<const std::string&>()))
      return fail(Code::Input, "'{}' is not the name of a class",
                  base::printable(names.dump(), 200));
    const auto& object = names[1].get_ref<const std::string&>();
    // Python looks for a class inside a class only from this protocol on.
    nested_class_ = nested_class_ || object.find('.') != std::string::npos;
    out_ += fmt::format("c{}\n{}\n", names[0].get_ref<const std::string&>(), object);
    return {};
  }
  Status object(const Attributes& attributes) {
    out_ += "}(";
    for (const auto& [name, each] : attributes.items()) {
      text(name);
      OPLAT_CHECK(value(each));
    }
    out_ += 'u';
    return {};
  }
  Status items(const Attributes& values) {
    for (const Attributes& each : values) OPLAT_CHECK(value(each));
    return {};
  }
  Status value(const Attributes& given) {
    const Deeper deeper(depth_);
    if (depth_ > kMaxWrittenDepth)
      return fail(Code::Input, "more than {} levels of lists and dicts", kMaxWrittenDepth);
    switch (given.type()) {
      case Attributes::value_t::null:
        out_ += 'N';
        return {};
      case Attributes::value_t::boolean:
        out_ += given.get<bool>() ? '\x88' : '\x89';
        return {};
      case Attributes::value_t::number_integer:
      case Attributes::value_t::number_unsigned:
        out_ += "\x8a\x08";
        number(static_cast<std::uint64_t>(given.get<std::int64_t>()), 8);
        return {};
      case Attributes::value_t::number_float: {
        out_ += 'G';
        const auto bits = std::bit_cast<std::uint64_t>(given.get<double>());
        for (int shift = 56; shift >= 0; shift -= 8)
          out_ += static_cast<char>(bits >> shift & 0xFF);
        return {};
      }
      case Attributes::value_t::string:
        text(given.get<std::string>());
        return {};
      case Attributes::value_t::array:
        out_ += "](";
        OPLAT_CHECK(items(given));
        out_ += 'e';
        return {};
      case Attributes::value_t::object:
        return wrapped(given);
      default:
        return fail(Code::Input, "an attribute that no pickle of MMT has");
    }
  }
  Status wrapped(const Attributes& given) {
    const bool single = given.size() == 1 && given.front().is_array();
    if (single && given.contains("tuple")) {
      out_ += '(';
      OPLAT_CHECK(items(given.front()));
      out_ += 't';
      return {};
    }
    if (!single || !given.contains("dict")) return object(given);
    out_ += "}(";
    for (const Attributes& pair : given.front()) {
      if (!pair.is_array() || pair.size() != 2)
        return fail(Code::Input, "a dict of something other than pairs");
      OPLAT_CHECK(items(pair));
    }
    out_ += 'u';
    return {};
  }

  std::string out_;
  int depth_ = 0;
  bool nested_class_ = false;
};

}  // namespace

Result<std::vector<PickledOperator>> read_operators(std::string_view bytes) {
  return Machine(bytes).run();
}

Result<std::string> write_operators(std::span<const Attributes> operators) {
  return Writer().list(operators);
}

}  // namespace oplat::compat::mmt
