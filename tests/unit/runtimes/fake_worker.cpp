// SPDX-License-Identifier: Apache-2.0
/// A worker whose first argument says how it misbehaves. All but "good" and "unlike" write their
/// messages by hand, so that the client is not tested against its own encoder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "runtimes/serve.hpp"

namespace {

using namespace oplat;

/// Answers everything, chatters on standard output while it does.
class GoodWorker final : public runtimes::Worker {
 public:
  explicit GoodWorker(bool shares_files) : shares_files_(shares_files) {}
  Result<runtimes::Hello> hello() override {
    runtimes::Hello hello;
    hello.runtime = "fake";
    hello.version = "1.2.3";
    hello.options["level"] = {{"0", "99"}, "99"};
    hello.device.name = "bench";
    hello.shared_file_system = shares_files_;
    // For the test of the environment.
    const char* telemetry = std::getenv("ORT_DISABLE_TELEMETRY");
    const char* threads = std::getenv("OMP_NUM_THREADS");
    hello.build =
        std::string(telemetry == nullptr ? "-" : telemetry) + (threads == nullptr ? "-" : threads);
    return hello;
  }
  Result<table::Plan> plan(const runtimes::PlanRequest& request) override {
    if (request.model == "absent.onnx") return fail(Code::Input, "absent.onnx: no such file");
    if (request.model == "throws.onnx") throw std::runtime_error("thrown by the runtime");
    table::Plan plan;
    plan.model = request.model;
    plan.kernels = {{"n0", "Relu/14{}(f32[1,8])->(f32[1,8])", 2}};
    return plan;
  }
  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    std::printf("printed by printf {\"jsonrpc\":\"2.0\"}\n");
    std::fflush(stdout);
    std::cout << "printed by cout" << std::endl;
    if (::write(1, "written to fd 1\n", 16) != 16) return fail(Code::Internal, "cannot write");
    if (request.key.rfind("Unknown", 0) == 0) return table::Unsupported{"no such operator"};
    if (request.key.rfind("Throws", 0) == 0) throw std::bad_alloc();
    open_[next_] = static_cast<double>(request.copies);
    return measure::Opened{next_++, 64, "single"};
  }
  Result<double> run(measure::Handle handle) override {
    if (open_.count(handle) == 0) return fail(Code::Usage, "unknown handle {}", handle);
    return 100.0 * open_[handle];
  }
  Status close(measure::Handle handle) override {
    open_.erase(handle);
    return {};
  }

 private:
  bool shares_files_;
  std::map<measure::Handle, double> open_;
  measure::Handle next_ = 0;
};

/// Kernels take 10 us by themselves, in a model ("unlike") three times as long; "alike" has no
/// profiler, and "planless" neither that nor plans. Answers without waiting.
class UnlikeWorker final : public runtimes::Worker {
 public:
  explicit UnlikeWorker(std::string mode) : mode_(std::move(mode)) {}
  Result<runtimes::Hello> hello() override {
    runtimes::Hello hello;
    hello.runtime = "fake";
    hello.version = "1.2.3";
    hello.precisions = {"model"};
    hello.rewrites_batch = true;
    hello.device.name = "bench";
    return hello;
  }
  Result<table::Plan> plan(const runtimes::PlanRequest& request) override {
    if (mode_ == "planless") return fail(Code::Runtime, "it gives no plans");
    table::Plan plan;
    plan.model = std::filesystem::path(request.model).filename().string();
    plan.kernels = {{"n0", "Relu/14{}(f32[1,8])->(f32[1,8])", 2}};
    return plan;
  }
  Result<runtimes::NodeTimes> node_times(const runtimes::PlanRequest& /*request*/) override {
    if (mode_ != "unlike") return runtimes::NodeTimes();
    return runtimes::NodeTimes{{"n0", {29'000, 31'000}}, {"of another plan", {1, 2}}};
  }
  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override {
    const double one_ns = request.key.empty() ? 60'000 : 10'000;
    open_[next_] = one_ns * static_cast<double>(request.copies);
    return measure::Opened{next_++, 64, "fan"};
  }
  Result<double> run(measure::Handle handle) override { return open_[handle]; }
  Status close(measure::Handle handle) override {
    open_.erase(handle);
    return {};
  }
  [[nodiscard]] bool virtual_time() const override { return true; }

 private:
  std::string mode_;
  std::map<measure::Handle, double> open_;
  measure::Handle next_ = 0;
};

std::string read_line() {
  std::string line;
  char c = 0;
  while (::read(0, &c, 1) == 1 && c != '\n') line += c;
  if (line.empty()) std::exit(0);  // end of input
  return line;
}

/// The number behind "id": of a request.
std::string id_of(const std::string& line) {
  const std::size_t at = line.find("\"id\":");
  return at == std::string::npos ? "0" : line.substr(at + 5, line.find_first_of(",}", at) - at - 5);
}

void put(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(1, text.data() + done, text.size() - done);
    if (wrote <= 0) std::_Exit(9);
    done += static_cast<std::size_t>(wrote);
  }
}

void answer(const std::string& id, const std::string& result) {
  put("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + result + "}\n");
}

std::string hello_text(const std::string& mode) {
  return std::string("{\"protocol\":") + (mode == "old-protocol" ? "99" : "1") +
         (mode == "old-release" ? ",\"oplat\":\"0.0.9\"" : "") +
         ",\"runtime\":\"fake\",\"version\":\"1\",\"device\":{\"name\":\"bench\"" +
         (mode.starts_with("memory") ? ",\"l2_bytes\":1048576,\"llc_bytes\":503316480" : "") +
         "},\"later_addition\":[1]}";
}

[[noreturn]] void crash() {
  std::signal(SIGSEGV, SIG_DFL);  // sanitizers would turn it into an exit status
  std::raise(SIGSEGV);
  std::_Exit(8);
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

/// A child that outlives a careless kill and holds our descriptors.
void leave_child(const char* file) {
  const pid_t child = ::fork();
  if (child == 0) hang();
  const int fd = ::open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dprintf(fd, "%d\n", static_cast<int>(child));
  ::close(fd);
}

void misbehave_at_open(const std::string& mode, const std::string& id, const char* file) {
  if (mode == "crash") crash();
  if (mode == "exit") {
    std::fprintf(stderr, "first line\ncannot map the library\n");
    std::_Exit(3);
  }
  if (mode == "abort-mid-line") {
    put("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"resu");
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (mode == "rubbish") put("loading kernels... done\n");
  if (mode == "wrong-id")
    answer("999999", "{\"opened\":{\"handle\":1,\"bytes\":1,\"topology\":\"single\"}}");
  if (mode == "nul")
    put(std::string("{\"jsonrpc\":\"2.0\",\"id\":") + id + ",\"result\":{\"unsupported\":\"x\"}}" +
        std::string(1, '\0') + "\n");
  if (mode == "deep") put(std::string(100'000, '[') + "\n");
  if (mode == "long-line") put("\"" + std::string(std::size_t{20} << 20, 'x') + "\"\n");
  if (mode == "endless-line") {
    while (true) put(std::string(1 << 20, 'x'));
  }
  if (mode == "wrong-type")
    answer(id, "{\"opened\":{\"handle\":\"one\",\"bytes\":1,\"topology\":\"single\"}}");
  if (mode == "negative-handle")
    answer(id, "{\"opened\":{\"handle\":-1,\"bytes\":1,\"topology\":\"single\"}}");
  if (mode == "close-output") {
    ::close(1);
    hang();
  }
  if (mode == "child-keeps-pipe") {
    leave_child(file);
    crash();
  }
  if (mode == "leaves-a-file") {
    const std::filesystem::path temporary = std::filesystem::temp_directory_path();
    std::ofstream(temporary / "left") << "of a model";
    std::ofstream(file) << temporary.string();
    crash();
  }
  if (mode == "chatter") {
    // More than a pipe holds: a client that does not read it would wait for ever.
    for (int i = 0; i < 4096; ++i) std::fprintf(stderr, "%064d\n", i);
  }
  if (mode == "twice")
    answer(id, "{\"opened\":{\"handle\":1,\"bytes\":1,\"topology\":\"single\"}}");
  answer(id, "{\"opened\":{\"handle\":1,\"bytes\":1,\"topology\":\"single\"}}");
}

void misbehave_at_block(const std::string& mode, const std::string& id, const char* file) {
  if (mode == "hang-on-block") {
    if (file != nullptr) leave_child(file);
    hang();
  }
  if (mode == "short-samples") return answer(id, "{\"samples\":{\"ns\":[[1.0,2.0]]}}");
  if (mode == "negative-time") return answer(id, "{\"samples\":{\"ns\":[[1.0],[-2.0]]}}");
  answer(id, "{\"samples\":{\"ns\":[[1.0],[2.0]]}}");
}

void answer_unknown_method(const std::string& id) {
  put("{\"jsonrpc\":\"2.0\",\"id\":" + id +
      ",\"error\":{\"code\":-32601,\"message\":\"unknown method\","
      "\"data\":{\"code\":\"usage\"}}}\n");
}

/// Of a machine whose caches hold 1 and 16 MiB, whatever it reports; or which is lost at the first
/// look, whose memory looks flat, or whose worker does not know the request.
void answer_about_memory(const std::string& mode, const std::string& id, const std::string& line) {
  constexpr double kMib = 1 << 20;
  const std::string name = "\"pool_bytes\":";
  const double pool = std::strtod(line.c_str() + line.find(name) + name.size(), nullptr);
  if (mode == "memory-unknown") return answer_unknown_method(id);
  if (pool == 0) return answer(id, "{\"max_pool_bytes\":4294967296}");
  if (mode == "memory-lost") crash();
  const std::string wait = "\"wait_ns\":";
  if (const std::size_t at = line.find(wait); at != std::string::npos) {
    // Others take all of the last level within 8 ms.
    const double ms = std::strtod(line.c_str() + at + wait.size(), nullptr) / 1e6;
    return answer(id, "{\"max_pool_bytes\":4294967296,\"waited\":{\"chase_ns\":" +
                          std::to_string(40 + 60 * std::min(1.0, ms / 8)) + "}}");
  }
  const bool flat = mode == "memory-flat";
  const int chase_ns = flat || pool <= kMib ? 10 : pool <= 16 * kMib ? 40 : 100;
  answer(id,
         "{\"max_pool_bytes\":4294967296,\"look\":{\"stream_ns\":" + std::to_string(chase_ns / 10) +
             ",\"chase_ns\":" + std::to_string(chase_ns) + "}}");
}

int serve_by_hand(const std::string& mode, const char* file) {
  if (mode == "rubbish-at-start") put("runtime 7.1 says hello\n");
  if (mode == "ignore-end") std::signal(SIGTERM, SIG_IGN);
  while (true) {
    const std::string line = read_line();
    const std::string id = id_of(line);
    if (line.find("\"method\":\"hello\"") != std::string::npos) {
      answer(id, hello_text(mode));
    } else if (mode.starts_with("memory") &&
               line.find("\"method\":\"memory\"") != std::string::npos) {
      answer_about_memory(mode, id, line);
    } else if (mode.starts_with("memory") &&
               line.find("\"method\":\"open\"") != std::string::npos) {
      answer(id, "{\"unsupported\":\"its memory is all that there is\"}");
    } else if (line.find("\"method\":\"open\"") != std::string::npos) {
      misbehave_at_open(mode, id, file);
    } else if (line.find("\"method\":\"block\"") != std::string::npos) {
      misbehave_at_block(mode, id, file);
    } else if (mode == "knows-less") {
      answer_unknown_method(id);
    } else if (mode == "ignore-end") {
      hang();
    } else {
      answer(id, "{}");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "good";
  const char* file = argc > 2 ? argv[2] : nullptr;
  if (mode == "exit-at-start") {
    std::fprintf(stderr, "libfake.so.7: cannot open shared object\n");
    return 3;
  }
  if (mode == "slow-start") hang();
  if (mode == "refuses") {
    return runtimes::serve_failure(Error{Code::Refused, "fake 7 is too old, install fake 8"},
                                   runtimes::claim_protocol_descriptor());
  }
  if (mode == "unlike" || mode == "alike" || mode == "planless") {
    UnlikeWorker worker(mode);
    return runtimes::serve(worker, runtimes::claim_protocol_descriptor());
  }
  if (mode == "good" || mode == "elsewhere") {
    GoodWorker worker(mode == "good");
    return runtimes::serve(worker, runtimes::claim_protocol_descriptor());
  }
  return serve_by_hand(mode, file);
}
