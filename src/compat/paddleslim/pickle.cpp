// SPDX-License-Identifier: Apache-2.0
/// A stack machine of the harmless instructions, described in Python's pickletools.
#include "compat/paddleslim/pickle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "compat/pickle_bytes.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr unsigned kNewestProtocol = 5;
/// Entries of one dict; keys and values lie on the stack until they are set, and may each be
/// remembered once.
constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxItems = 2 * kMaxEntries + 1000;
/// As Python's own pickler sets them.
constexpr std::size_t kEntriesOfBatch = 1000;

struct Instruction {
  std::uint8_t code;
  std::string_view name;
};

/// Instructions that import names or call what was imported.
constexpr Instruction kRunsCode[] = {{'c', "GLOBAL"},    {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},
                                     {'b', "BUILD"},     {'i', "INST"},          {'o', "OBJ"},
                                     {0x81, "NEWOBJ"},   {0x92, "NEWOBJ_EX"},    {'P', "PERSID"},
                                     {'Q', "BINPERSID"}, {0x82, "EXT1"},         {0x83, "EXT2"},
                                     {0x84, "EXT4"}};
/// Instructions that make what a latency table does not hold, or that no pickler writes for one.
constexpr Instruction kOtherObjects[] = {
    {']', "EMPTY_LIST"},  {'l', "LIST"},           {'a', "APPEND"},
    {'e', "APPENDS"},     {')', "EMPTY_TUPLE"},    {'t', "TUPLE"},
    {0x85, "TUPLE1"},     {0x86, "TUPLE2"},        {0x87, "TUPLE3"},
    {0x8f, "EMPTY_SET"},  {0x90, "ADDITEMS"},      {0x91, "FROZENSET"},
    {'B', "BINBYTES"},    {'C', "SHORT_BINBYTES"}, {0x8e, "BINBYTES8"},
    {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"},   {0x98, "READONLY_BUFFER"},
    {'0', "POP"},         {'1', "POP_MARK"},       {'2', "DUP"}};

std::string_view name_in(std::span<const Instruction> list, std::uint8_t code) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Instruction& each) { return each.code == code; });
  return found == list.end() ? std::string_view() : found->name;
}

/// What lies on the stack. Texts are views of the file, or of texts that had to be decoded.
struct Mark {};
struct Dict {};
struct Text {
  std::string_view text;
  std::size_t offset;
};
using Item = std::variant<Mark, Dict, Text, double, PickleWord>;

struct Kind {
  std::string_view operator()(const Mark&) const { return "a mark"; }
  std::string_view operator()(const Dict&) const { return "a dict"; }
  std::string_view operator()(const Text&) const { return "a string"; }
  std::string_view operator()(double) const { return "a number"; }
  std::string_view operator()(PickleWord word) const { return name(word); }
};

class Machine : private PickleBytes {
 public:
  explicit Machine(std::string_view bytes) : PickleBytes(bytes) {}

  Result<std::vector<PickleEntry>> run() {
    if (size() == 0) return fail(Code::Input, "is empty; expected a pickle of a dict");
    while (!stopped_) {
      OPLAT_TRY(code, instruction());
      OPLAT_CHECK(step(code));
      if (stack_.size() > kMaxItems || memo_.size() > kMaxItems) {
        return wrong("more than {} objects; the limit for a table is {} rows", kMaxItems,
                     kMaxEntries);
      }
    }
    if (stack_.size() != 1 || !std::holds_alternative<Dict>(stack_.front())) {
      return wrong("the pickle is {}; expected a dict",
                   stack_.empty() ? "nothing" : std::visit(Kind{}, stack_.back()));
    }
    OPLAT_CHECK(at_end());
    return std::move(entries_);
  }

 private:
  Status step(std::uint8_t code) {
    switch (code) {
      case 0x80:
        return protocol(0, kNewestProtocol);
      case 0x95:
        return frame();
      case '.':
        stopped_ = true;
        return {};
      case '}':
        return dict();
      case '(':
        stack_.emplace_back(Mark{});
        return {};
      case 'd':
        return dict_of_mark();
      case 's':
        return set_item();
      case 'u':
        return set_items();
      case 'X':
        return text_of_length(4);
      case 0x8c:
      case 'U':
        return text_of_length(1);
      case 0x8d:
        return text_of_length(8);
      case 'T':
        return text_of_length(4);
      case 'V':
        return escaped_text();
      case 'S':
        return quoted_text();
      case 'G':
        return binary_float();
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
      case 'F':
        return decimal(false);
      case 'I':
      case 'L':
        return decimal(true);
      case 'N':
        return push(PickleWord::None);
      case 0x88:
        return push(PickleWord::True);
      case 0x89:
        return push(PickleWord::False);
      case 'q':
        return put_of_length(1);
      case 'r':
        return put_of_length(4);
      case 'p':
        return put_of_line();
      case 0x94:
        return put(memo_.size());
      case 'h':
        return get_of_length(1);
      case 'j':
        return get_of_length(4);
      case 'g':
        return get_of_line();
      default:
        return refuse(code);
    }
  }

  [[nodiscard]] Status refuse(std::uint8_t code) const {
    if (const std::string_view known = name_in(kRunsCode, code); !known.empty()) {
      return wrong(
          "{} could run code and is refused; write the table as a dict of str to float (convert "
          "NumPy numbers with float())",
          known);
    }
    if (const std::string_view known = name_in(kOtherObjects, code); !known.empty()) {
      return wrong("{}; expected a dict of str to float", known);
    }
    return wrong("0x{:02x} is not an instruction of a pickle", code);
  }

  Status push(Item item) {
    stack_.push_back(item);
    return {};
  }

  Status dict() {
    if (has_dict_) return wrong("a second dict; expected one dict of str to float");
    has_dict_ = true;
    return push(Dict{});
  }
  Status dict_of_mark() {
    OPLAT_TRY(first, after_mark());
    if (has_dict_) return wrong("a second dict; expected one dict of str to float");
    has_dict_ = true;
    OPLAT_CHECK(set_from(first));
    stack_.back() = Dict{};
    return {};
  }
  Status set_item() {
    if (stack_.size() < 3) {
      return wrong("SETITEM finds {} objects; expected a dict, a key and a value", stack_.size());
    }
    const std::size_t first = stack_.size() - 2;
    OPLAT_CHECK(is_dict(first - 1));
    return set_from(first);
  }
  Status set_items() {
    OPLAT_TRY(first, after_mark());
    if (first < 2) return wrong("SETITEMS finds no dict");
    OPLAT_CHECK(is_dict(first - 2));
    OPLAT_CHECK(set_from(first));
    stack_.pop_back();
    return {};
  }
  [[nodiscard]] Status is_dict(std::size_t at) const {
    if (std::holds_alternative<Dict>(stack_[at])) return {};
    return wrong("an entry is set in {}; expected a dict", std::visit(Kind{}, stack_[at]));
  }
  /// The index after the last mark.
  Result<std::size_t> after_mark() {
    for (std::size_t i = stack_.size(); i > 0; --i) {
      if (std::holds_alternative<Mark>(stack_[i - 1])) return i;
    }
    return wrong("no MARK before it");
  }
  /// Keys and values from `first` to the top, which they leave.
  Status set_from(std::size_t first) {
    if ((stack_.size() - first) % 2 != 0) return wrong("a key without a value");
    if (entries_.size() + (stack_.size() - first) / 2 > kMaxEntries)
      return wrong("more than {} rows, the limit", kMaxEntries);
    for (std::size_t i = first; i < stack_.size(); i += 2) {
      const auto* key = std::get_if<Text>(&stack_[i]);
      if (key == nullptr)
        return wrong("a key is {}; expected a string", std::visit(Kind{}, stack_[i]));
      const Item& value = stack_[i + 1];
      // Keys of a dict differ, so each is in the file; a text remembered and taken again and
      // again would be many.
      key_bytes_ += key->text.size();
      if (key_bytes_ > size()) return wrong("keys have more bytes than the file");
      PickleEntry entry{std::string(key->text), 0.0, key->offset};
      if (const auto* real = std::get_if<double>(&value)) {
        entry.value = *real;
      } else if (const auto* word = std::get_if<PickleWord>(&value)) {
        entry.value = *word;
      } else {
        return wrong("the value of '{}' is {}; expected a number", base::printable(key->text),
                     std::visit(Kind{}, value));
      }
      entries_.push_back(std::move(entry));
    }
    stack_.resize(first);
    return {};
  }

  Status text(std::string_view given) {
    if (given.size() > kMaxPickleText)
      return wrong("a string of {} bytes; the limit for a key is {}", given.size(), kMaxPickleText);
    const auto odd =
        std::find_if(given.begin(), given.end(), [](char c) { return c < ' ' || c > '~'; });
    if (odd != given.end()) {
      return wrong("'{}' holds byte 0x{:02x}; expected printable ASCII", base::printable(given),
                   static_cast<unsigned char>(*odd));
    }
    return push(Text{given, offset()});
  }
  Status text_of_length(std::size_t size) {
    OPLAT_TRY(length, number(size));
    OPLAT_TRY(taken, take(length));
    return text(taken);
  }
  /// Escapes stand for what no key of a latency table holds, but for \u005c, the backslash itself.
  Status escaped_text() {
    OPLAT_TRY(given, line());
    if (given.find('\\') != std::string_view::npos)
      return wrong("'{}' holds an escape", base::printable(given));
    return text(given);
  }
  /// A text of Python 2 between quotes.
  Status quoted_text() {
    OPLAT_TRY(given, line());
    const bool quoted = given.size() >= 2 && given.front() == given.back() &&
                        (given.front() == '\'' || given.front() == '"');
    if (!quoted) return wrong("'{}'; expected a string in quotes", base::printable(given));
    if (given.find('\\') != std::string_view::npos)
      return wrong("'{}' holds an escape", base::printable(given));
    return text(given.substr(1, given.size() - 2));
  }

  Status binary_float() {
    OPLAT_TRY(value, real());
    return push(value);
  }
  Status unsigned_integer(std::size_t size) {
    OPLAT_TRY(value, number(size));
    return push(static_cast<double>(value));
  }
  Status integer(std::size_t size) {
    if (size > kMaxPickleInteger) return wrong("an integer of {} bytes; expected a time", size);
    OPLAT_TRY(value, signed_number(size));
    return push(static_cast<double>(value));
  }
  Status long_of_length(std::size_t size) {
    OPLAT_TRY(length, number(size));
    return integer(length);
  }
  Status decimal(bool whole) {
    OPLAT_TRY(given, line());
    std::string_view digits = given;
    // Truth values of protocols 0 and 1.
    if (whole && digits == "00") return push(PickleWord::False);
    if (whole && digits == "01") return push(PickleWord::True);
    if (whole && digits.ends_with('L')) digits.remove_suffix(1);
    const auto value = base::parse_double(digits);
    if (!value || (whole && !base::parse_int(digits)))
      return wrong("'{}' is not a number", base::printable(given));
    return push(*value);
  }

  Status put(std::uint64_t index) {
    if (stack_.empty() || std::holds_alternative<Mark>(stack_.back()))
      return wrong("the stack is empty where a value is stored");
    memo_.insert_or_assign(index, stack_.back());
    return {};
  }
  Status put_of_length(std::size_t size) {
    OPLAT_TRY(index, number(size));
    return put(index);
  }
  Status put_of_line() {
    OPLAT_TRY(index, index_of_line());
    return put(index);
  }
  Status get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) return wrong("no value was stored as {}", index);
    return push(found->second);
  }
  Status get_of_length(std::size_t size) {
    OPLAT_TRY(index, number(size));
    return get(index);
  }
  Status get_of_line() {
    OPLAT_TRY(index, index_of_line());
    return get(index);
  }
  Result<std::uint64_t> index_of_line() {
    OPLAT_TRY(given, line());
    const auto index = base::parse_int(given);
    if (!index || *index < 0)
      return wrong("'{}' is not a valid memo index", base::printable(given));
    return static_cast<std::uint64_t>(*index);
  }

  bool stopped_ = false;
  bool has_dict_ = false;
  std::size_t key_bytes_ = 0;  ///< of all keys that were set
  std::vector<Item> stack_;
  std::unordered_map<std::uint64_t, Item> memo_;
  std::vector<PickleEntry> entries_;
};

void put_number(std::string& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void put_entry(std::string& out, const PickleEntry& entry) {
  out += 'X';
  put_number(out, entry.key.size(), 4);
  out += entry.key;
  if (const auto* word = std::get_if<PickleWord>(&entry.value)) {
    out += *word == PickleWord::None ? 'N' : *word == PickleWord::True ? '\x88' : '\x89';
    return;
  }
  out += 'G';
  const auto bits = std::bit_cast<std::uint64_t>(std::get<double>(entry.value));
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(bits >> shift & 0xFF);
}

}  // namespace

std::string_view name(PickleWord word) {
  switch (word) {
    case PickleWord::None:
      return "None";
    case PickleWord::True:
      return "True";
    default:
      return "False";
  }
}

Result<std::vector<PickleEntry>> read_pickled_dict(std::string_view bytes) {
  return Machine(bytes).run();
}

std::string write_pickled_dict(std::span<const PickleEntry> entries) {
  std::string out = "\x80\x03}";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i % kEntriesOfBatch == 0) out += '(';
    put_entry(out, entries[i]);
    if ((i + 1) % kEntriesOfBatch == 0 || i + 1 == entries.size()) out += 'u';
  }
  return out + '.';
}

}  // namespace oplat::compat::paddleslim
