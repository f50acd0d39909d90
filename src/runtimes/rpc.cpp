// SPDX-License-Identifier: Apache-2.0
#include "runtimes/rpc.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"

namespace oplat::runtimes {
namespace {

constexpr std::array<std::pair<Code, std::string_view>, 9> kCodes{
    {{Code::Usage, "usage"},
     {Code::Input, "input"},
     {Code::Missing, "missing"},
     {Code::Runtime, "runtime"},
     {Code::Refused, "refused"},
     {Code::GateNotMet, "gate_not_met"},
     {Code::Write, "write"},
     {Code::Interrupted, "interrupted"},
     {Code::Internal, "internal"}}};
/// Deepest nesting of a message; ours need seven.
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxMessage = 65'536;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool nested_too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Result<Json> parse_line(std::string_view line) {
  // The parser takes a NUL for the end of its input and would not see what follows.
  if (line.find('\0') != std::string_view::npos) return fail(Code::Input, "a line with NUL bytes");
  if (nested_too_deep(line)) return fail(Code::Input, "a line nested deeper than {}", kMaxDepth);
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return fail(Code::Input, "no JSON: \"{}\"", base::printable(line, 60));
  if (!json.is_object())
    return fail(Code::Input, "no JSON object: \"{}\"", base::printable(line, 60));
  return json;
}

bool is_version_2(const Json& json) {
  const auto version = json.find("jsonrpc");
  return version != json.end() && version->is_string() &&
         version->get_ref<const std::string&>() == "2.0";
}

Error decode_error(const Json& json) {
  Error error{Code::Runtime, "the worker gives no message"};
  const auto message = json.find("message");
  if (message != json.end() && message->is_string()) {
    error.message = message->get<std::string>();
    if (error.message.size() > kMaxMessage) error.message.resize(kMaxMessage);
  }
  const auto data = json.find("data");
  if (data == json.end() || !data->is_object()) return error;
  const auto code = data->find("code");
  if (code != data->end() && code->is_string()) {
    error.code = parse_code(code->get_ref<const std::string&>()).value_or(Code::Runtime);
  }
  return error;
}

}  // namespace

std::string_view code_name(Code code) {
  for (const auto& [value, name] : kCodes) {
    if (value == code) return name;
  }
  return "internal";
}

std::optional<Code> parse_code(std::string_view name) {
  for (const auto& [value, known] : kCodes) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string request_line(std::int64_t id, std::string_view method, const Json& params) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

std::string result_line(const Json& id, const Json& result) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string error_line(const Json& id, RpcError number, const Error& error) {
  return line_of({{"jsonrpc", "2.0"},
                  {"id", id},
                  {"error",
                   {{"code", static_cast<int>(number)},
                    {"message", error.message},
                    {"data", {{"code", code_name(error.code)}}}}}});
}

std::variant<Request, BadRequest> parse_request(std::string_view line) {
  auto json = parse_line(line);
  if (!json) return BadRequest{nullptr, RpcError::Parse, json.error()};
  const auto bad = [](Json id, std::string message) {
    return BadRequest{std::move(id), RpcError::InvalidRequest,
                      Error{Code::Usage, std::move(message)}};
  };
  const auto id = json->find("id");
  if (id == json->end() || (!id->is_number_integer() && !id->is_string())) {
    return bad(nullptr, "request without an integer or string \"id\"");
  }
  if (!is_version_2(*json)) return bad(*id, "request without \"jsonrpc\": \"2.0\"");
  const auto method = json->find("method");
  if (method == json->end() || !method->is_string()) return bad(*id, "request without \"method\"");
  const auto params = json->find("params");
  return Request{*id, method->get<std::string>(),
                 params == json->end() ? Json::object() : std::move(*params)};
}

Result<Reply> parse_reply(std::string_view line, std::int64_t id) {
  OPLAT_TRY(json, parse_line(line));
  if (!is_version_2(json))
    return fail(Code::Input, "no JSON-RPC 2.0: \"{}\"", base::printable(line, 60));
  const auto answered = json.find("id");
  const auto error = json.find("error");
  const bool has_error = error != json.end() && error->is_object();
  // A request that could not be read has no id to answer to; with one request at a time it can only
  // be ours.
  const bool nameless = has_error && answered != json.end() && answered->is_null();
  const bool ours =
      answered != json.end() && answered->is_number_integer() && *answered == Json(id);
  if (!ours && !nameless)
    return fail(Code::Input, "an answer to no request: \"{}\"", base::printable(line, 60));
  const auto result = json.find("result");
  if (has_error == (result != json.end())) {
    return fail(Code::Input, "neither a result nor an error: \"{}\"", base::printable(line, 60));
  }
  if (has_error) return Reply(decode_error(*error));
  return Reply(std::in_place_type<Json>, std::move(*result));
}

}  // namespace oplat::runtimes
