// SPDX-License-Identifier: Apache-2.0
#include "runtimes/worker_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <variant>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "formats/format_reader.hpp"
#include "runtimes/line_buffer.hpp"
#include "runtimes/messages.hpp"
#include "runtimes/process.hpp"
#include "runtimes/remote_files.hpp"
#include "runtimes/rpc.hpp"

namespace oplat::runtimes {
namespace {

using Clock = std::chrono::steady_clock;

/// The longest time between two looks at the child and at Ctrl-C.
constexpr std::chrono::milliseconds kLook{100};
/// For a worker that closed its descriptor to end, and for one that was told to shut down.
constexpr std::chrono::milliseconds kGrace{1000};

/// The process is gone; why, as a kernel's failure says it.
struct Lost {
  std::string reason;
};
struct Interrupted {};
using Exchange = std::variant<Json, Error, Lost, Interrupted>;

Error interrupted_error() {
  return Error{Code::Interrupted, "interrupted while a worker was at work"};
}

/// Handles that a caller holds name the process too, so that one of an earlier process is told from
/// a new one.
constexpr int kHandleBits = 32;
measure::Handle join(std::int64_t generation, measure::Handle handle) {
  return generation << kHandleBits | handle;
}
std::int64_t generation_of(measure::Handle handle) { return handle >> kHandleBits; }
measure::Handle inner_of(measure::Handle handle) {
  return handle & ((measure::Handle{1} << kHandleBits) - 1);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  if (what.empty() || what == by) return;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// A worker that was sent copies of files names its own paths; who reads the message knows ours.
template <class Request>
std::string in_our_paths(std::string text, const Request& ours, const Request& theirs) {
  replace_all(text, theirs.model, ours.model);
  for (const auto& [name, data] : theirs.inputs) replace_all(text, data, ours.inputs.at(name));
  return text;
}

/// Whether what is said of an input names a file of data.
bool is_data_file(const std::string& data) {
  return data != "zeros" && data != "ones" && !data.starts_with("uniform:");
}

}  // namespace

std::chrono::seconds model_deadline(const std::string& path, std::chrono::seconds usual) {
  constexpr std::uintmax_t kBytesPerSecond = std::uintmax_t{8} << 20;
  // Weights of a larger one are its own: it is read whole to ask for further files.
  constexpr std::uintmax_t kMaxWithSiblings = std::uintmax_t{256} << 20;
  const auto size_of = [](const std::filesystem::path& file) -> std::uintmax_t {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    return error ? 0 : size;
  };
  const std::uintmax_t own = size_of(path);
  if (own == 0) return usual;  // nothing to read, or a folder
  std::uintmax_t bytes = own;
  // A file that cannot be read is the worker's to refuse.
  if (own > kMaxWithSiblings) return usual + std::chrono::seconds(bytes / kBytesPerSecond);
  if (const auto source = base::Source::open(path))
    if (const auto reader = formats::reader_for(*source))
      if (const auto siblings = (*reader)->siblings(*source))
        for (const std::string& name : *siblings)
          if (const auto file = source->sibling_path(name)) bytes += size_of(*file);
  return usual + std::chrono::seconds(bytes / kBytesPerSecond);
}

struct WorkerClient::Impl {
  std::string runtime;
  WorkerOptions options;
  Hello hello;
  std::unique_ptr<Process> process;
  LineBuffer lines{kMaxLineBytes};
  std::int64_t next_id = 1;
  std::int64_t generation = 0;
  std::string why_dead = "it was never started";
  std::map<std::string, std::chrono::seconds> deadlines;  ///< of models, by path
  RemoteFiles files{[this](const PutRequest& piece) { return put(piece); }};

  Status begin();
  void end();
  Exchange exchange(std::string_view method, const Json& params, std::chrono::nanoseconds deadline);
  Exchange converse(const std::string& line, std::int64_t id, std::chrono::nanoseconds deadline);
  bool send(std::string_view line, std::size_t& sent);
  bool receive();
  [[nodiscard]] bool stop_asked() const;
  Lost lose(std::string reason);
  Lost lose_by_end();
  void note_death();
  [[nodiscard]] Error dead_error() const;
  /// Whom messages mean: "runtime onnxruntime", or the command of a worker elsewhere.
  [[nodiscard]] std::string who() const;
  Result<PutOutcome> put(const PutRequest& piece);
  [[nodiscard]] std::chrono::seconds deadline_of(const std::string& model);
  template <class Request>
  Result<Request> with_the_workers_paths(Request request);
  Result<Json> ask_of_model(const char* method, const PlanRequest& request);
};

/// The usual one without a model. Its files are looked at once.
std::chrono::seconds WorkerClient::Impl::deadline_of(const std::string& model) {
  if (model.empty()) return options.request_deadline;
  const auto [at, is_new] = deadlines.try_emplace(model);
  if (is_new) at->second = model_deadline(model, options.request_deadline);
  return at->second;
}

Result<PutOutcome> WorkerClient::Impl::put(const PutRequest& piece) {
  auto answer = exchange("put", encode(piece), options.request_deadline);
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) return fail(std::move(*error));
  if (auto* lost = std::get_if<Lost>(&answer))
    return fail(Code::Runtime, "sending {} to the worker: {}", piece.name, lost->reason);
  auto outcome = decode_put_outcome(std::get<Json>(answer));
  if (outcome) return outcome;
  const auto lost = lose("worker sent rubbish: " + outcome.error().message);
  return fail(Code::Runtime, "sending {} to the worker: {}", piece.name, lost.reason);
}

/// The request as the worker understands it: if it sees other files than we do, it gets ours first.
template <class Request>
Result<Request> WorkerClient::Impl::with_the_workers_paths(Request request) {
  if (options.shares_files && hello.shared_file_system) return request;
  if (!request.model.empty()) {
    OPLAT_TRY(path, files.model(request.model));
    request.model = path;
  }
  for (auto& [name, data] : request.inputs) {
    if (!is_data_file(data)) continue;
    OPLAT_TRY(path, files.file(data));
    data = path;
  }
  return request;
}

void WorkerClient::Impl::note_death() {
  if (process && process->ended()) lose_by_end();
}

std::string WorkerClient::Impl::who() const {
  if (options.shares_files) return fmt::format("runtime {}", runtime);
  return fmt::format("worker '{}'", base::printable(base::join(options.command, " "), 200));
}

Error WorkerClient::Impl::dead_error() const {
  return Error{Code::Runtime, fmt::format("{}: the worker is not running: {}", who(), why_dead)};
}

Lost WorkerClient::Impl::lose(std::string reason) {
  if (process) {
    process->finish();
    process.reset();
  }
  lines = LineBuffer(kMaxLineBytes);
  why_dead = reason;
  return Lost{std::move(reason)};
}

Lost WorkerClient::Impl::lose_by_end() {
  const bool by_itself = process->wait(kGrace);
  process->drain_errors();
  const std::string how = process->finish();
  const std::string words = process->last_words();
  std::string reason =
      by_itself ? "worker ended: " + how : "worker closed its end of the protocol and was killed";
  if (!words.empty()) reason += fmt::format("; its last words: \"{}\"", words);
  return lose(std::move(reason));
}

/// False where the worker no longer reads.
bool WorkerClient::Impl::send(std::string_view line, std::size_t& sent) {
  while (sent < line.size()) {
    const ssize_t wrote = ::send(process->input(), line.data() + sent, line.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote > 0) {
      sent += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// False at the end of the worker's output. Reads little more than one line can hold.
bool WorkerClient::Impl::receive() {
  std::array<char, 65'536> piece{};
  while (!lines.too_long()) {
    const ssize_t read = ::read(process->output(), piece.data(), piece.size());
    if (read > 0) {
      lines.add({piece.data(), static_cast<std::size_t>(read)});
    } else if (read == 0) {
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool WorkerClient::Impl::stop_asked() const {
  return base::interrupted() != 0 || (options.stop_asked && options.stop_asked());
}

Exchange WorkerClient::Impl::converse(const std::string& line, std::int64_t id,
                                      std::chrono::nanoseconds deadline) {
  const auto until = Clock::now() + deadline;
  std::size_t sent = 0;
  bool reads = true;
  while (true) {
    if (stop_asked()) {
      lose("interrupted");
      return Interrupted{};
    }
    if (sent < line.size() && !send(line, sent))
      sent = line.size();  // its end of output says the rest
    if (const auto answer = lines.take()) {
      auto reply = parse_reply(*answer, id);
      if (!reply) return lose("worker sent rubbish: " + reply.error().message);
      if (auto* error = std::get_if<Error>(&*reply)) return std::move(*error);
      return std::get<Json>(std::move(*reply));
    }
    if (lines.too_long())
      return lose(fmt::format("worker sent rubbish: a line longer than {} bytes", kMaxLineBytes));
    if (!reads) return lose_by_end();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) {
      const double seconds = std::chrono::duration<double>(deadline).count();
      return lose(fmt::format("time limit of {:.3g} s", seconds));
    }
    // A child of the worker may hold the pipe open after the worker itself has ended.
    if (process->ended()) {
      receive();
      reads = false;
      continue;
    }
    std::array<pollfd, 3> waits{{{process->output(), POLLIN, 0},
                                 {process->errors(), POLLIN, 0},
                                 {sent < line.size() ? process->input() : -1, POLLOUT, 0}}};
    const int ready =
        ::poll(waits.data(), waits.size(), static_cast<int>(std::min(left, kLook).count() + 1));
    if (ready < 0 && errno != EINTR) return lose("cannot wait for the worker");
    if (ready <= 0) continue;
    if (waits[1].revents != 0) process->drain_errors();
    if (waits[0].revents != 0) reads = receive();
  }
}

Exchange WorkerClient::Impl::exchange(std::string_view method, const Json& params,
                                      std::chrono::nanoseconds deadline) {
  if (stop_asked()) {
    lose("interrupted");
    return Interrupted{};
  }
  const std::int64_t id = next_id++;
  std::string line = request_line(id, method, params);
  if (line.size() > kMaxLineBytes) {
    return Error{Code::Usage, fmt::format("a request of {} bytes is longer than {}", line.size(),
                                          kMaxLineBytes)};
  }
  line += '\n';
  if (!receive() && lines.empty()) return lose_by_end();
  if (!lines.empty()) {
    return lose(
        fmt::format("worker sent rubbish: unasked \"{}\"", base::printable(lines.bytes(), 60)));
  }
  return converse(line, id, deadline);
}

Status WorkerClient::Impl::begin() {
  ProcessOptions start;
  start.command = options.command.empty()
                      ? std::vector<std::string>{"/proc/self/exe", "worker", runtime}
                      : options.command;
  start.command.insert(start.command.end(), options.arguments.begin(), options.arguments.end());
  start.memory_limit_bytes = options.memory_limit_bytes;
  start.cpu = options.cpu;
  OPLAT_TRY(started, Process::start(start));
  process = std::move(started);
  ++generation;
  files.forget();
  auto answer = exchange("hello", {{"protocol", kProtocolVersion}}, options.start_deadline);
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* lost = std::get_if<Lost>(&answer))
    return fail(Code::Runtime, "{}: {}", who(), lost->reason);
  if (auto* error = std::get_if<Error>(&answer)) {
    lose(error->message);
    return fail(std::move(*error));
  }
  auto decoded = decode_hello(std::get<Json>(answer));
  if (!decoded) {
    lose("worker sent rubbish: " + decoded.error().message);
    return fail(Code::Runtime, "{}: {}", who(), why_dead);
  }
  if (decoded->protocol != kProtocolVersion) {
    lose(fmt::format("it speaks protocol {}, this oplat speaks {}", decoded->protocol,
                     kProtocolVersion));
    return fail(Code::Runtime, "{}: {}", who(), why_dead);
  }
  // Another version may print other keys for the same kernels.
  if (!decoded->oplat.empty() && decoded->oplat != base::version()) {
    lose(fmt::format("the worker is oplat {}, this is oplat {}; use one version on both sides",
                     base::printable(decoded->oplat), base::version()));
    return fail(Code::Runtime, "{}: {}", who(), why_dead);
  }
  hello = std::move(*decoded);
  return {};
}

void WorkerClient::Impl::end() {
  note_death();
  if (!process) return;
  // A worker in order answers and ends; end of input tells any other.
  std::size_t sent = 0;
  send(request_line(next_id++, "shutdown", Json::object()) + "\n", sent);
  process->close_input();
  const auto until = Clock::now() + kGrace;
  while (!process->wait(std::chrono::milliseconds(20)) && Clock::now() < until) {
    receive();
    process->drain_errors();
  }
  lose("it was shut down");
}

WorkerClient::WorkerClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

WorkerClient::~WorkerClient() { impl_->end(); }

Result<std::unique_ptr<WorkerClient>> WorkerClient::start(std::string_view runtime,
                                                          const WorkerOptions& options) {
  if (options.command.empty() && find_runtime(runtime) == nullptr) {
    std::vector<std::string> names;
    for (const auto& entry : runtimes()) names.emplace_back(entry.name);
    const auto near = base::nearest_word(runtime, names);
    return fail(Code::Runtime, "unknown runtime {}{}; known: {}", base::printable(runtime),
                near ? fmt::format(", did you mean {}", *near) : "", base::join(names, ", "));
  }
  auto impl = std::make_unique<Impl>();
  impl->runtime = runtime;
  impl->options = options;
  OPLAT_CHECK(impl->begin());
  return std::unique_ptr<WorkerClient>(new WorkerClient(std::move(impl)));
}

const Hello& WorkerClient::hello() const { return impl_->hello; }

bool WorkerClient::dead() const {
  impl_->note_death();
  return impl_->process == nullptr;
}

std::optional<std::int64_t> WorkerClient::process_id() const {
  if (dead()) return std::nullopt;
  return impl_->process->id();
}

Status WorkerClient::restart() {
  impl_->end();
  return impl_->begin();
}

/// Asks about a whole model, which nothing else can answer if the worker is lost meanwhile.
Result<Json> WorkerClient::Impl::ask_of_model(const char* method, const PlanRequest& request) {
  OPLAT_TRY(theirs, with_the_workers_paths(request));
  auto answer = exchange(method, encode(theirs), deadline_of(request.model));
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) {
    error->message = in_our_paths(std::move(error->message), request, theirs);
    return fail(std::move(*error));
  }
  if (auto* lost = std::get_if<Lost>(&answer))
    return fail(Code::Runtime, "{} of {}: {}", method, request.model, lost->reason);
  return std::get<Json>(std::move(answer));
}

Result<table::Plan> WorkerClient::plan(const PlanRequest& request) {
  if (dead()) return fail(impl_->dead_error());
  OPLAT_TRY(answer, impl_->ask_of_model("plan", request));
  auto plan = decode_plan(answer);
  if (plan) return plan;
  const auto lost = impl_->lose("worker sent rubbish: " + plan.error().message);
  return fail(Code::Runtime, "plan of {}: {}", request.model, lost.reason);
}

Result<NodeTimes> WorkerClient::node_times(const PlanRequest& request) {
  if (dead()) return fail(impl_->dead_error());
  OPLAT_TRY(answer, impl_->ask_of_model("times", request));
  auto times = decode_node_times(answer);
  if (times) return times;
  const auto lost = impl_->lose("worker sent rubbish: " + times.error().message);
  return fail(Code::Runtime, "times of {}: {}", request.model, lost.reason);
}

Result<measure::OpenOutcome> WorkerClient::open(const measure::OpenRequest& request) {
  if (dead()) return fail(impl_->dead_error());
  auto theirs = impl_->with_the_workers_paths(request);
  // A worker that is lost while it gets a file is this model's failure, as one lost later is.
  const bool lost_it = !theirs && theirs.error().code != Code::Interrupted && dead();
  if (lost_it) return table::Failed{theirs.error().message};
  if (!theirs) return fail(std::move(theirs).error());
  auto answer = impl_->exchange("open", encode(*theirs), impl_->deadline_of(request.model));
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) {
    error->message = in_our_paths(std::move(error->message), request, *theirs);
    return fail(std::move(*error));
  }
  if (auto* lost = std::get_if<Lost>(&answer)) return table::Failed{std::move(lost->reason)};
  auto outcome = decode_open_outcome(std::get<Json>(answer));
  if (!outcome)
    return table::Failed{impl_->lose("worker sent rubbish: " + outcome.error().message).reason};
  const auto ours = [&](std::string& reason) {
    reason = in_our_paths(std::move(reason), request, *theirs);
  };
  if (auto* opened = std::get_if<measure::Opened>(&*outcome))
    opened->handle = join(impl_->generation, opened->handle);
  if (auto* unsupported = std::get_if<table::Unsupported>(&*outcome)) ours(unsupported->reason);
  if (auto* skipped = std::get_if<table::Skipped>(&*outcome)) ours(skipped->reason);
  if (auto* failed = std::get_if<table::Failed>(&*outcome)) ours(failed->reason);
  return outcome;
}

Result<measure::BlockOutcome> WorkerClient::block(const measure::BlockRequest& request) {
  if (dead()) return fail(impl_->dead_error());
  auto inner = request;
  for (auto& handle : inner.handles) {
    if (generation_of(handle) != impl_->generation)
      return table::Failed{"the worker that held this handle has ended"};
    handle = inner_of(handle);
  }
  if (inner.wake)
    inner.wake = inner_of(*inner.wake);  // opened with the others, by the same process
  // The duration is the caller's wish, not a delay of the worker's.
  const auto deadline = std::chrono::nanoseconds(impl_->options.request_deadline) +
                        request.duration + request.max_wait;
  auto answer = impl_->exchange("block", encode(inner), deadline);
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) return fail(std::move(*error));
  if (auto* lost = std::get_if<Lost>(&answer)) return table::Failed{std::move(lost->reason)};
  auto outcome = decode_block_outcome(std::get<Json>(answer), request.handles.size());
  if (!outcome)
    return table::Failed{impl_->lose("worker sent rubbish: " + outcome.error().message).reason};
  return outcome;
}

Result<measure::MemoryOutcome> WorkerClient::look_at_memory(
    const measure::MemoryQuestion& question) {
  if (dead()) return fail(impl_->dead_error());
  auto answer = impl_->exchange("memory", encode(question), impl_->options.request_deadline);
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) {
    // Only a worker with a loop of its own, or of another protocol, does not know the method.
    if (error->code == Code::Usage)
      return table::Unsupported{"its worker does not know the request for memory"};
    return fail(std::move(*error));
  }
  if (auto* lost = std::get_if<Lost>(&answer)) return table::Failed{std::move(lost->reason)};
  auto outcome = decode_memory_outcome(std::get<Json>(answer), question.pool_bytes);
  if (!outcome)
    return table::Failed{impl_->lose("worker sent rubbish: " + outcome.error().message).reason};
  return outcome;
}

Status WorkerClient::close(measure::Handle handle) {
  if (dead() || generation_of(handle) != impl_->generation) return {};  // went with its process
  auto answer =
      impl_->exchange("close", encode_handle(inner_of(handle)), impl_->options.request_deadline);
  if (std::holds_alternative<Interrupted>(answer)) return fail(interrupted_error());
  if (auto* error = std::get_if<Error>(&answer)) return fail(std::move(*error));
  if (auto* lost = std::get_if<Lost>(&answer))
    return fail(Code::Runtime, "close: {}", lost->reason);
  return {};
}

}  // namespace oplat::runtimes
