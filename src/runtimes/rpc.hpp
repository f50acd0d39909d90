// SPDX-License-Identifier: Apache-2.0
/// JSON-RPC 2.0 envelopes, one a line.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"

namespace oplat::runtimes {

using Json = nlohmann::json;

/// JSON-RPC's own error numbers, and the one that carries an oplat code in `data.code`.
enum class RpcError {
  Parse = -32700,
  InvalidRequest = -32600,
  NoMethod = -32601,
  InvalidParams = -32602,
  Ours = -32000
};

/// "usage", "runtime", ...: the names of Code on the wire.
std::string_view code_name(Code code);
std::optional<Code> parse_code(std::string_view name);

/// Lines without their end. Text that is not UTF-8 is replaced where it is not.
std::string request_line(std::int64_t id, std::string_view method, const Json& params);
std::string result_line(const Json& id, const Json& result);
std::string error_line(const Json& id, RpcError number, const Error& error);

struct Request {
  Json id;  ///< integer or string
  std::string method;
  Json params;
};
/// Why a line is not a request, with the id to answer to (null where it has none).
struct BadRequest {
  Json id;
  RpcError number;
  Error error;
};
std::variant<Request, BadRequest> parse_request(std::string_view line);

/// The result, or the error that the worker answered.
using Reply = std::variant<Json, Error>;
/// Code::Input where the line is not a reply to request `id`: not JSON, NUL bytes, deep nesting,
/// another id.
Result<Reply> parse_reply(std::string_view line, std::int64_t id);

}  // namespace oplat::runtimes
