// SPDX-License-Identifier: Apache-2.0
/// Bytes to a NetDef, binary or text.
#include "formats/caffe2/net.hpp"
#include "base/lfs.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <limits>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {
namespace {

/// Messages in messages, known or not: a NetDef is three deep.
constexpr int kMaxDepth = 32;
/// A text net lists parameters only by name; this is some million operators.
constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;

/// Reads tags and lengths of a message without understanding it.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    std::uint64_t number = 0;
    unsigned wire_type = 0;
    std::string_view payload;  ///< of a length-delimited field, cut off where the bytes end
  };
  /// The next field; nothing at the end, or if the bytes are not a message.
  std::optional<Field> next() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field field{*tag >> 3U, static_cast<unsigned>(*tag & 7U), {}};
    if (field.wire_type == 0) return varint() ? std::optional(field) : std::nullopt;
    if (field.wire_type != 2) return std::nullopt;
    const auto length = varint();
    if (!length) return std::nullopt;
    field.payload = bytes_.substr(at_, *length);
    at_ += field.payload.size();
    return field;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      number |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return number;
    }
    return std::nullopt;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Whether the first fields are an operator's: blobs and a type that are names.
bool looks_like_operator(std::string_view bytes) {
  Fields fields(bytes);
  bool typed = false;
  for (int i = 0; i < 64 && !typed; ++i) {
    const auto field = fields.next();
    if (!field) break;
    if (field->wire_type != 2 || field->number < 1 || field->number > 5) return false;
    typed = field->number == 4 && !field->payload.empty();
  }
  return typed;
}

int probe_binary(std::string_view bytes) {
  Fields fields(bytes);
  for (int i = 0; i < 8; ++i) {
    const auto field = fields.next();
    if (!field || field->number < 1 || field->number > 8) return 0;
    if ((field->number == 4) != (field->wire_type == 0)) return 0;
    if (field->number == 2) return looks_like_operator(field->payload) ? 70 : 0;
  }
  return 0;
}

/// Words with which the text of a net may begin.
int probe_text(std::string_view bytes) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < bytes.size() &&
           (std::string_view(" \t\r\n").find(bytes[at]) != std::string_view::npos ||
            bytes[at] == '#')) {
      if (bytes[at] == '#') {
        at = std::min(bytes.find('\n', at), bytes.size());
      } else {
        ++at;
      }
    }
  };
  skip();
  const std::size_t start = at;
  while (at < bytes.size() && ((bytes[at] >= 'a' && bytes[at] <= 'z') || bytes[at] == '_')) ++at;
  const std::string_view word = bytes.substr(start, at - start);
  skip();
  if (at >= bytes.size() || (bytes[at] != ':' && bytes[at] != '{' && bytes[at] != '<')) return 0;
  if (word == "op") return 70;
  const bool opening = word == "name" || word == "type" || word == "num_workers" ||
                       word == "device_option" || word == "arg" || word == "external_input" ||
                       word == "external_output";
  if (!opening) return 0;
  // Caffe's own nets begin with a name too, and have layers.
  for (const std::string_view op :
       {"\nop {", "\nop{", " op {", " op{", "\nop:", "\nop <", "\nop<"}) {
    if (bytes.find(op) != std::string_view::npos) return 70;
  }
  return 0;
}

/// Keeps the first error.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    // Lines and columns are counted from 0, -1 where the whole is meant.
    text =
        line < 0 ? message : fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int, int, const std::string&) override {}
  std::string text;
};

Result<wire::Net> parse_text(const std::string& name, const std::string& bytes) {
  if (bytes.size() > kMaxTextBytes) {
    return fail(Code::Input, "{}: has {} bytes of text; the limit for a net is {}", name,
                bytes.size(), kMaxTextBytes);
  }
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxDepth);
  wire::Net net;
  if (!parser.ParseFromString(bytes, &net)) {
    return fail(Code::Input, "{}: is not a Caffe2 net, or is truncated: {}", name,
                base::printable(error.text, 200));
  }
  return net;
}

Result<wire::Net> parse_binary(const std::string& name, const std::string& bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(Code::Input, "{}: has {} bytes; protobuf's limit is 2 GiB", name, bytes.size());
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxDepth);
  wire::Net net;
  if (!net.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return fail(
        Code::Input,
        "{}: is not a Caffe2 net, or is truncated: its bytes are invalid near offset {} of {}",
        name, coded.CurrentPosition(), bytes.size());
  }
  return net;
}

}  // namespace

int probe_net(std::string_view bytes) {
  const int binary = probe_binary(bytes);
  return binary > 0 ? binary : probe_text(bytes);
}

Result<wire::Net> parse_net(const std::string& name, const std::string& bytes) {
  if (bytes.empty()) return fail(Code::Input, "{}: the file is empty; expected a Caffe2 net", name);
  if (base::is_lfs_pointer(bytes)) {
    return fail(Code::Input, "{}: is a Git LFS pointer, not the net; fetch it with: git lfs pull",
                name);
  }
  // A binary net may begin with a line feed, the tag of its name, and a length that is a letter.
  auto net = probe_binary(bytes) == 0 && probe_text(bytes) > 0 ? parse_text(name, bytes)
                                                               : parse_binary(name, bytes);
  if (net && net->op_size() == 0) return fail(Code::Input, "{}: the net holds no operators", name);
  return net;
}

Result<ir::NamedValue> argument_of(const wire::Argument& argument) {
  const int kinds = (argument.has_f() ? 1 : 0) + (argument.has_i() ? 1 : 0) +
                    (argument.has_s() ? 1 : 0) + (argument.floats_size() > 0 ? 1 : 0) +
                    (argument.ints_size() > 0 ? 1 : 0) + (argument.strings_size() > 0 ? 1 : 0);
  if (kinds > 1) {
    return fail(Code::Input, "argument '{}' holds values of {} kinds; expected one",
                base::printable(argument.name()), kinds);
  }
  ir::NamedValue result(argument.name(), ir::Value());
  if (argument.has_f()) result.second = caffe2_float(argument.f());
  if (argument.has_i()) result.second = std::int64_t{argument.i()};
  if (argument.has_s()) result.second = argument.s();
  if (kinds == 1 && result.second.unknown()) {
    ir::List list;
    for (const float f : argument.floats()) list.emplace_back(caffe2_float(f));
    for (const std::int64_t i : argument.ints()) list.emplace_back(i);
    for (const std::string& s : argument.strings()) list.emplace_back(s);
    result.second = std::move(list);
  }
  return result;
}

}  // namespace oplat::formats::caffe2
