// SPDX-License-Identifier: Apache-2.0
/// Values of the worker protocol <-> JSON. Whatever comes in is untrusted: types, ranges and
/// lengths are checked, unknown fields are ignored. Errors of the decoders are Code::Input and name
/// the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "measure/kernel_runner.hpp"
#include "runtimes/memory_look.hpp"
#include "runtimes/protocol.hpp"
#include "table/records.hpp"

namespace oplat::runtimes {

using Json = nlohmann::json;

/// Times that one answer may hold in all; a block ends by rounds before it has more, so that its
/// line fits.
inline constexpr std::int64_t kMaxSamples = 400'000;
/// Bytes of a file that one `put` may carry.
inline constexpr std::size_t kMaxPieceBytes = std::size_t{8} << 20;

Json encode(const Hello& hello);
Json encode(const PlanRequest& request);
Json encode(const table::Plan& plan);
Json encode(const NodeTimes& times);
Json encode(const PutRequest& request);
Json encode(const PutOutcome& outcome);
Json encode(const measure::OpenRequest& request);
Json encode(const measure::OpenOutcome& outcome);
Json encode(const measure::BlockRequest& request);
Json encode(const measure::BlockOutcome& outcome);
Json encode(const measure::MemoryQuestion& question);
Json encode(const measure::MemoryOutcome& outcome);

Result<Hello> decode_hello(const Json& json);
Result<PlanRequest> decode_plan_request(const Json& json);
/// Every key must parse.
Result<table::Plan> decode_plan(const Json& json);
Result<NodeTimes> decode_node_times(const Json& json);
Result<PutRequest> decode_put_request(const Json& json);
Result<PutOutcome> decode_put_outcome(const Json& json);
Result<measure::OpenRequest> decode_open_request(const Json& json);
Result<measure::OpenOutcome> decode_open_outcome(const Json& json);
Result<measure::BlockRequest> decode_block_request(const Json& json);
/// `handles`: length of the request's list, which the answer must have too.
Result<measure::BlockOutcome> decode_block_outcome(const Json& json, std::size_t handles);

Result<measure::MemoryQuestion> decode_memory_question(const Json& json);
/// The answer to a question about a pool of `pool_bytes`.
Result<measure::MemoryOutcome> decode_memory_outcome(const Json& json, std::int64_t pool_bytes);

/// {"handle": n}, the parameters of `close`.
Json encode_handle(measure::Handle handle);
Result<measure::Handle> decode_handle(const Json& json);

std::string_view topology_name(measure::Topology topology);

}  // namespace oplat::runtimes
