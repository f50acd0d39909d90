// SPDX-License-Identifier: Apache-2.0
/// liboplat_worker (worker.h): the C functions over the same loop that the workers in C++ use. A
/// CallbackWorker is a Worker whose five methods are functions of somebody else; JSON that comes
/// from them is checked by the decoders that the client uses, so that a mistake is reported here,
/// under the name of the method, and not as rubbish on the wire.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "ir/key.hpp"
#include "runtimes/device_facts.hpp"
#include "runtimes/key_json.hpp"
#include "runtimes/messages.hpp"
#include "runtimes/rpc.hpp"
#include "runtimes/serve.hpp"
#include "runtimes/worker.h"

using oplat::Code;
using oplat::Error;

/// What a function of the worker said last.
struct oplat_worker_reply {
  std::optional<std::string> json;
  std::string kind;  ///< of a refusal; empty: none
  std::string reason;
};

namespace oplat::runtimes {
namespace {

/// Longest reason that is passed on; the client's limit is higher.
constexpr std::size_t kMaxRefusal = 16'384;

class CallbackWorker final : public Worker {
 public:
  explicit CallbackWorker(const oplat_worker& worker) : worker_(worker) {}

  Result<Hello> hello() override {
    oplat_worker_reply reply;
    worker_.hello(worker_.context, &reply);
    OPLAT_TRY(object, answered("hello", reply));
    object["protocol"] = kProtocolVersion;
    const bool knows_device = object.contains("device") && !object["device"].is_null();
    if (!knows_device) object["device"] = {{"name", "this machine"}};
    OPLAT_TRY(hello, checked("hello", decode_hello(object)));
    if (!knows_device) hello.device = this_device();
    return hello;
  }

  Result<table::Plan> plan(const PlanRequest& request) override {
    oplat_worker_reply reply;
    worker_.plan(worker_.context, encode(request).dump().c_str(), &reply);
    OPLAT_TRY(object, answered("plan", reply));
    return checked("plan", decode_plan(object));
  }

  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    oplat_worker_reply reply;
    worker_.open(worker_.context, encode(request).dump().c_str(), &reply);
    if (reply.kind == "unsupported") return table::Unsupported{reply.reason};
    if (reply.kind == "skipped") return table::Skipped{reply.reason};
    if (reply.kind == "failed") return table::Failed{reply.reason};
    OPLAT_TRY(object, answered("open", reply));
    return checked("open", decode_open_outcome({{"opened", std::move(object)}}));
  }

  Result<double> run(measure::Handle handle) override {
    oplat_worker_reply reply;
    const double ns = worker_.run(worker_.context, handle, &reply);
    if (!reply.kind.empty()) return fail(Code::Runtime, "{}", reply.reason);
    return ns;
  }

  Status close(measure::Handle handle) override {
    oplat_worker_reply reply;
    worker_.close(worker_.context, handle, &reply);
    if (!reply.kind.empty()) return fail(error_of(reply));
    return {};
  }

  [[nodiscard]] bool virtual_time() const override { return worker_.virtual_time != 0; }

 private:
  static Error error_of(const oplat_worker_reply& reply) {
    const bool outcome =
        reply.kind == "unsupported" || reply.kind == "skipped" || reply.kind == "failed";
    return {outcome ? Code::Runtime : parse_code(reply.kind).value_or(Code::Internal),
            reply.reason};
  }

  static Result<Json> answered(std::string_view method, const oplat_worker_reply& reply) {
    if (!reply.kind.empty()) return fail(error_of(reply));
    if (!reply.json) return fail(Code::Internal, "{}: the worker gave no answer", method);
    Json object = Json::parse(*reply.json, nullptr, false);
    if (!object.is_object())
      return fail(Code::Internal, "{}: the worker's answer is not a JSON object: {}", method,
                  base::printable(*reply.json, 60));
    return object;
  }

  /// What the worker's author got wrong, not what the client sent.
  template <class T>
  static Result<T> checked(std::string_view method, Result<T> decoded) {
    if (!decoded)
      return fail(Code::Internal, "{}: the worker's answer is wrong: {}", method,
                  decoded.error().message);
    return decoded;
  }

  const oplat_worker& worker_;
};

/// A copy that C can free; nullptr if memory is short.
char* copy_of(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Calls `make`, a Result<std::string>, and hands its text or its error to C.
template <class Make>
int text_for_c(char** out, const Make& make) {
  if (out == nullptr) return EINVAL;
  *out = nullptr;
  try {
    const Result<std::string> made = make();
    *out = copy_of(made ? *made : made.error().message);
    if (*out == nullptr) return ENOMEM;
    return made ? 0 : EINVAL;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    *out = copy_of(error.what());
    return EINVAL;
  }
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace
}  // namespace oplat::runtimes

namespace rt = oplat::runtimes;

extern "C" {

int32_t oplat_worker_abi(void) { return OPLAT_WORKER_ABI; }

void oplat_worker_answer(oplat_worker_reply* reply, const char* json) {
  reply->json = rt::text_or_empty(json);
  reply->kind.clear();
}

void oplat_worker_refuse(oplat_worker_reply* reply, const char* kind, const char* reason) {
  reply->kind = kind == nullptr || *kind == '\0' ? "internal" : kind;
  reply->reason = reason == nullptr || *reason == '\0' ? "no reason was given" : reason;
  if (reply->reason.size() > rt::kMaxRefusal) reply->reason.resize(rt::kMaxRefusal);
}

int oplat_worker_claim_output(void) { return rt::claim_protocol_descriptor(); }

int oplat_worker_serve(const struct oplat_worker* worker, int output) {
  if (worker == nullptr || output < 0) return 1;
  if (worker->abi != OPLAT_WORKER_ABI) {
    return rt::serve_failure(
        Error{Code::Runtime,
              fmt::format("the worker is written for version {} of liboplat_worker, this is "
                          "version {}; use the worker and the library of one release",
                          worker->abi, OPLAT_WORKER_ABI)},
        output);
  }
  rt::CallbackWorker adapter(*worker);
  return rt::serve(adapter, output);
}

int oplat_worker_serve_failure(const char* code, const char* message, int output) {
  if (output < 0) return 1;
  const auto known = rt::parse_code(rt::text_or_empty(code));
  return rt::serve_failure(Error{known.value_or(Code::Internal), rt::text_or_empty(message)},
                           output);
}

int oplat_worker_parse_key(const char* key, char** out) {
  return rt::text_for_c(out, [&]() -> oplat::Result<std::string> {
    OPLAT_TRY(parsed, oplat::ir::parse(rt::text_or_empty(key)));
    return rt::key_to_json(parsed).dump();
  });
}

int oplat_worker_print_key(const char* json, char** out) {
  return rt::text_for_c(out, [&]() -> oplat::Result<std::string> {
    const rt::Json object = rt::Json::parse(rt::text_or_empty(json), nullptr, false);
    if (object.is_discarded()) return oplat::fail(Code::Input, "key: not JSON");
    OPLAT_TRY(key, rt::key_from_json(object));
    return oplat::ir::print(key);
  });
}

void oplat_worker_free(char* text) { std::free(text); }

}  // extern "C"
