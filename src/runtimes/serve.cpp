// SPDX-License-Identifier: Apache-2.0
#include "runtimes/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "runtimes/block_loop.hpp"
#include "runtimes/line_buffer.hpp"
#include "runtimes/memory_look.hpp"
#include "runtimes/messages.hpp"
#include "runtimes/rpc.hpp"
#include "runtimes/uploads.hpp"

namespace oplat::runtimes {
namespace {

constexpr int kDone = 0;
constexpr int kCannotServe = 1;

/// What a method answers: its result, or an error under a JSON-RPC number.
struct MethodError {
  RpcError number = RpcError::Ours;
  Error error;
};
using Answer = tl::expected<Json, MethodError>;

tl::unexpected<MethodError> refuse(Error error) {
  return tl::unexpected(MethodError{RpcError::Ours, std::move(error)});
}
tl::unexpected<MethodError> bad_params(Error error) {
  error.code = Code::Usage;
  return tl::unexpected(MethodError{RpcError::InvalidParams, std::move(error)});
}

/// Decodes, calls, encodes.
template <class Request, class Call>
Answer answer(Result<Request> request, const Call& call) {
  if (!request) return bad_params(std::move(request).error());
  auto result = call(*request);
  if (!result) return refuse(std::move(result).error());
  return encode(*result);
}

Answer dispatch(Worker& worker, const Request& request) {
  const std::string& method = request.method;
  const Json& params = request.params;
  if (method == "hello") {
    auto hello = worker.hello();
    if (!hello) return refuse(std::move(hello).error());
    hello->oplat = base::version();
    return encode(*hello);
  }
  if (method == "plan")
    return answer(decode_plan_request(params), [&](const auto& r) { return worker.plan(r); });
  if (method == "times")
    return answer(decode_plan_request(params), [&](const auto& r) { return worker.node_times(r); });
  if (method == "open")
    return answer(decode_open_request(params), [&](const auto& r) { return worker.open(r); });
  if (method == "block")
    return answer(decode_block_request(params),
                  [&](const auto& r) { return run_block(worker, r); });
  if (method == "memory")
    return answer(decode_memory_question(params), [&](const measure::MemoryQuestion& r) {
      return Result<measure::MemoryOutcome>(look_at_memory(worker, r));
    });
  if (method == "put") {
    return answer(decode_put_request(params), [&](const PutRequest& r) -> Result<PutOutcome> {
      OPLAT_TRY(uploads, Uploads::standard());
      return uploads.put(r);
    });
  }
  if (method == "close") {
    const auto handle = decode_handle(params);
    if (!handle) return bad_params(handle.error());
    if (auto status = worker.close(*handle); !status) return refuse(std::move(status).error());
    return Json::object();
  }
  if (method == "shutdown") return Json::object();
  return tl::unexpected(MethodError{
      RpcError::NoMethod,
      Error{Code::Usage, fmt::format("unknown method \"{}\"", base::printable(method))}});
}

/// No exception of a runtime may end the worker: the client would take it for a crash of the
/// kernel.
Answer dispatch_safely(Worker& worker, const Request& request) {
  try {
    return dispatch(worker, request);
  } catch (const std::bad_alloc&) {
    if (request.method == "open" || request.method == "block")
      return Json{{"failed", "out of memory"}};
    return refuse(Error{Code::Runtime, "out of memory"});
  } catch (const std::exception& e) {
    return refuse(Error{Code::Internal, fmt::format("{}: {}", request.method, e.what())});
  }
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool write_line(int fd, std::string line) {
  line += '\n';
  return write_all(fd, line);
}

/// Waits for input; false at its end.
bool read_more(LineBuffer& lines) {
  std::array<char, 65'536> piece{};
  while (true) {
    const ssize_t read = ::read(0, piece.data(), piece.size());
    if (read > 0) {
      lines.add({piece.data(), static_cast<std::size_t>(read)});
      return true;
    }
    if (read == 0 || errno != EINTR) return false;
  }
}

void prepare_process() {
  // A client that is killed cannot close anything in order; without it nobody would wait for our
  // answers.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);
  // Handlers that only note a signal would keep a worker that waits for input alive.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

/// Ends the process as soon as nobody can read its answers any more. The loop itself would notice
/// only when it writes the next one, after the block that it is at, and never if a kernel hangs.
/// Over a connection that was cut, such a worker would keep the device busy while the client's next
/// worker measures there. The thread sleeps in poll() until then.
class ReaderWatch {
 public:
  explicit ReaderWatch(int protocol_fd) {
    if (::pipe2(stop_.data(), O_CLOEXEC) != 0) return;
    try {
      thread_ = std::thread([fd = protocol_fd, stop = stop_[0]] { watch(fd, stop); });
    } catch (const std::system_error&) {
      // No thread to be had: the loop notices by itself, later.
    }
  }
  ReaderWatch(const ReaderWatch&) = delete;
  ReaderWatch& operator=(const ReaderWatch&) = delete;
  ~ReaderWatch() {
    if (stop_[1] >= 0) ::close(stop_[1]);
    if (thread_.joinable()) thread_.join();
    if (stop_[0] >= 0) ::close(stop_[0]);
  }

 private:
  static void watch(int protocol_fd, int stop) {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (true) {
      std::array<pollfd, 2> waits{{{protocol_fd, 0, 0}, {stop, 0, 0}}};  // errors are always told
      const int ready = ::poll(waits.data(), waits.size(), -1);
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0 || waits[1].revents != 0) return;
      if ((waits[0].revents & (POLLERR | POLLHUP)) != 0) ::_exit(kDone);
      if (waits[0].revents != 0) return;
    }
  }

  std::array<int, 2> stop_{-1, -1};
  std::thread thread_;
};

std::string too_long_line(std::size_t bytes) {
  return error_line(nullptr, RpcError::InvalidRequest,
                    Error{Code::Usage, fmt::format("a line of {} bytes or more is longer than {}",
                                                   bytes, kMaxLineBytes)});
}

/// Reads requests and writes what `reply` makes of each, until it says to stop.
template <class Respond>
int serve_lines(int protocol_fd, const Respond& respond) {
  prepare_process();
  const ReaderWatch reader(protocol_fd);
  LineBuffer lines(kMaxLineBytes);
  while (true) {
    const auto line = lines.take();
    if (!line) {
      if (lines.too_long()) {
        write_line(protocol_fd, too_long_line(lines.bytes().size()));
        return kCannotServe;
      }
      if (!read_more(lines)) return kDone;
      continue;
    }
    auto request = parse_request(*line);
    if (const auto* bad = std::get_if<BadRequest>(&request)) {
      if (!write_line(protocol_fd, error_line(bad->id, bad->number, bad->error))) return kDone;
      continue;
    }
    const auto& good = std::get<Request>(request);
    if (!write_line(protocol_fd, respond(good))) return kDone;
    if (good.method == "shutdown") return kDone;
  }
}

}  // namespace

int claim_protocol_descriptor() {
  std::cout.flush();
  std::fflush(stdout);
  const int descriptor = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  if (descriptor < 0) return -1;
  if (::dup2(2, 1) < 0) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

int serve(Worker& worker, int protocol_fd) {
  return serve_lines(protocol_fd, [&](const Request& request) {
    auto result = dispatch_safely(worker, request);
    if (!result) return error_line(request.id, result.error().number, result.error().error);
    std::string line = result_line(request.id, *result);
    if (line.size() <= kMaxLineBytes) return line;
    return error_line(request.id, RpcError::Ours,
                      Error{Code::Missing, fmt::format("an answer of {} bytes is longer than {}",
                                                       line.size(), kMaxLineBytes)});
  });
}

int serve_failure(const Error& error, int protocol_fd) {
  const int status = serve_lines(protocol_fd, [&](const Request& request) {
    if (request.method == "shutdown") return result_line(request.id, Json::object());
    return error_line(request.id, RpcError::Ours, error);
  });
  return status == kDone ? kCannotServe : status;
}

}  // namespace oplat::runtimes
