// SPDX-License-Identifier: Apache-2.0
/// The client against workers that crash, hang and talk rubbish: it must say what happened, leave
/// no process behind and go on after restart().
#include "runtimes/worker_client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "runtimes/process.hpp"

namespace oplat::runtimes {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

WorkerOptions fake(std::vector<std::string> arguments) {
  WorkerOptions options;
  options.command = {OPLAT_FAKE_WORKER};
  options.arguments = std::move(arguments);
  options.request_deadline = std::chrono::seconds(30);
  return options;
}

measure::OpenRequest open_request() {
  measure::OpenRequest request;
  request.key = "Relu/14{}(f32[1,8])->(f32[1,8])";
  return request;
}

measure::BlockRequest block_request(std::vector<measure::Handle> handles) {
  measure::BlockRequest request;
  request.handles = std::move(handles);
  request.duration = std::chrono::nanoseconds(0);
  request.references = false;
  request.core_exclusive = false;
  return request;
}

bool exists(std::int64_t process) { return ::kill(static_cast<pid_t>(process), 0) == 0; }

/// A process that is not ours to reap goes a moment after its group is killed.
bool vanishes(std::int64_t process) {
  for (int i = 0; i < 1000 && exists(process); ++i) {
    // Where nobody adopts orphans it stays as a zombie, which holds nothing any more.
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    if (line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return !exists(process);
}

class WorkerClientTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
  }
};

std::string failure_of(const Result<measure::OpenOutcome>& outcome) {
  if (!outcome) return "error: " + outcome.error().message;
  const auto* failed = std::get_if<table::Failed>(&*outcome);
  return failed == nullptr ? "no failure" : failed->reason;
}

/// Opens with a worker of this mode; expects the failure, the death, and a working client after
/// restart().
void expect_lost_at_open(const std::string& mode, const testing::Matcher<std::string>& reason) {
  auto client = WorkerClient::start("fake", fake({mode}));
  ASSERT_TRUE(client) << client.error().message;
  const auto process = (*client)->process_id();
  ASSERT_TRUE(process);
  EXPECT_THAT(failure_of((*client)->open(open_request())), reason);
  EXPECT_TRUE((*client)->dead());
  EXPECT_FALSE(exists(*process));
  const auto further = (*client)->open(open_request());
  ASSERT_FALSE(further);
  EXPECT_EQ(further.error().code, Code::Runtime);
  ASSERT_TRUE((*client)->restart());
  EXPECT_FALSE((*client)->dead());
  EXPECT_NE((*client)->process_id(), process);
  EXPECT_EQ((*client)->hello().runtime, "fake");
}

TEST_F(WorkerClientTest, AsksAGoodWorkerEverything) {
  auto started = WorkerClient::start("fake", fake({"good"}));
  ASSERT_TRUE(started) << started.error().message;
  WorkerClient& client = **started;
  EXPECT_EQ(client.hello().version, "1.2.3");
  EXPECT_EQ(client.hello().options.at("level").default_value, "99");
  EXPECT_EQ(client.hello().device.name, "bench");
  PlanRequest plan_request;
  plan_request.model = "net.onnx";
  const auto plan = client.plan(plan_request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->model, "net.onnx");
  ASSERT_EQ(plan->kernels.size(), 1U);
  EXPECT_EQ(plan->kernels[0].count, 2);
  auto request = open_request();
  const auto one = client.open(request);
  request.copies = 8;
  const auto many = client.open(request);
  ASSERT_TRUE(one && many);
  const auto t1 = std::get<measure::Opened>(*one);
  const auto tk = std::get<measure::Opened>(*many);
  EXPECT_NE(t1.handle, tk.handle);
  const auto block = client.block(block_request({t1.handle, tk.handle}));
  ASSERT_TRUE(block) << block.error().message;
  const auto& samples = std::get<measure::BlockSamples>(*block);
  EXPECT_EQ(samples.ns, (std::vector<std::vector<double>>{{100, 100, 100}, {800, 800, 800}}));
  EXPECT_TRUE(client.close(t1.handle));
  EXPECT_FALSE(client.dead());
}

TEST_F(WorkerClientTest, LooksAtTheMemoryOfAWorker) {
  auto client = WorkerClient::start("fake", fake({"good"}));
  ASSERT_TRUE(client) << client.error().message;
  constexpr std::int64_t kPool = 1 << 20;
  const auto limit = (*client)->look_at_memory({0});
  ASSERT_TRUE(limit && std::holds_alternative<measure::MemoryAnswer>(*limit));
  const auto most = std::get<measure::MemoryAnswer>(*limit);
  EXPECT_GT(most.max_pool_bytes, kPool);
  EXPECT_FALSE(most.look);
  const auto outcome = (*client)->look_at_memory({kPool});
  ASSERT_TRUE(outcome && std::holds_alternative<measure::MemoryAnswer>(*outcome));
  const auto look = std::get<measure::MemoryAnswer>(*outcome).look;
  ASSERT_TRUE(look);
  EXPECT_EQ(look->pool_bytes, kPool);
  EXPECT_GT(look->stream_ns, 0);
  EXPECT_GT(look->chase_ns, look->stream_ns);
  // After a wait loads at random are timed alone.
  const auto waited = (*client)->look_at_memory({kPool, 1'000'000});
  ASSERT_TRUE(waited && std::holds_alternative<measure::MemoryAnswer>(*waited));
  EXPECT_FALSE(std::get<measure::MemoryAnswer>(*waited).look);
  EXPECT_GT(std::get<measure::MemoryAnswer>(*waited).waited_chase_ns.value_or(0), 0);
  // More than memory has gives no look, and the worker lives on.
  const auto large = (*client)->look_at_memory({std::int64_t{1} << 49});
  ASSERT_TRUE(large && std::holds_alternative<measure::MemoryAnswer>(*large));
  EXPECT_FALSE(std::get<measure::MemoryAnswer>(*large).look);
  const auto long_ago = (*client)->look_at_memory({std::int64_t{1} << 49, 0});
  ASSERT_TRUE(long_ago && std::holds_alternative<measure::MemoryAnswer>(*long_ago));
  EXPECT_FALSE(std::get<measure::MemoryAnswer>(*long_ago).waited_chase_ns);
  // A pool that no window fits into is a mistake of the client's.
  const auto small = (*client)->look_at_memory({4096});
  ASSERT_TRUE(small);
  EXPECT_FALSE((*client)->dead());
}

TEST_F(WorkerClientTest, WorkersWithoutMemoryOfTheirMachineSaySo) {
  for (const char* mode : {"unlike", "knows-less"}) {
    auto client = WorkerClient::start("fake", fake({mode}));
    ASSERT_TRUE(client) << client.error().message;
    const auto outcome = (*client)->look_at_memory({0});
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(std::holds_alternative<table::Unsupported>(*outcome)) << mode;
    EXPECT_FALSE((*client)->dead());
  }
  auto client = WorkerClient::start("fake", fake({"rubbish-later"}));
  ASSERT_TRUE(client) << client.error().message;
  const auto outcome = (*client)->look_at_memory({1 << 20});
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<table::Failed>(*outcome));
  EXPECT_THAT(std::get<table::Failed>(*outcome).reason, HasSubstr("max_pool_bytes"));
}

TEST_F(WorkerClientTest, PrintingRuntimesDoNotCorruptTheProtocol) {
  auto client = WorkerClient::start("fake", fake({"good"}));
  ASSERT_TRUE(client) << client.error().message;
  for (int i = 0; i < 20; ++i) {
    const auto outcome = (*client)->open(open_request());
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(std::holds_alternative<measure::Opened>(*outcome));
  }
}

TEST_F(WorkerClientTest, RefusalsAndErrorsOfAWorkerLeaveItAlive) {
  auto started = WorkerClient::start("fake", fake({"good"}));
  ASSERT_TRUE(started) << started.error().message;
  WorkerClient& client = **started;
  auto request = open_request();
  request.key = "Unknown{}()->()";
  const auto refused = client.open(request);
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<table::Unsupported>(*refused).reason, "no such operator");
  request.key = "Throws{}()->()";
  EXPECT_EQ(failure_of(client.open(request)), "out of memory");
  PlanRequest plan_request;
  plan_request.model = "absent.onnx";
  const auto absent = client.plan(plan_request);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Input);
  EXPECT_EQ(absent.error().message, "absent.onnx: no such file");
  plan_request.model = "throws.onnx";
  const auto thrown = client.plan(plan_request);
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, Code::Internal);
  EXPECT_THAT(thrown.error().message, HasSubstr("thrown by the runtime"));
  EXPECT_FALSE(client.dead());
}

TEST_F(WorkerClientTest, ACrashNamesItsSignal) {
  expect_lost_at_open("crash", HasSubstr("worker ended: signal 11 (SIGSEGV)"));
}

TEST_F(WorkerClientTest, AnExitNamesItsStatusAndLastWords) {
  expect_lost_at_open("exit", testing::AllOf(HasSubstr("worker ended: exit status 3"),
                                             HasSubstr("cannot map the library"),
                                             testing::Not(HasSubstr("first line"))));
}

TEST_F(WorkerClientTest, HalfALineThenAnAbortIsACrash) {
  expect_lost_at_open("abort-mid-line", HasSubstr("worker ended: signal 6 (SIGABRT)"));
}

TEST_F(WorkerClientTest, WhatIsNoAnswerIsRubbish) {
  for (const char* mode : {"rubbish", "wrong-id", "nul", "deep", "wrong-type", "negative-handle"}) {
    SCOPED_TRACE(mode);
    expect_lost_at_open(mode, StartsWith("worker sent rubbish: "));
  }
}

TEST_F(WorkerClientTest, RubbishIsQuoted) {
  expect_lost_at_open("rubbish", HasSubstr("loading kernels... done"));
}

TEST_F(WorkerClientTest, LinesBeyondTheBoundAreRubbish) {
  expect_lost_at_open("long-line", HasSubstr("a line longer than 16777216 bytes"));
  expect_lost_at_open("endless-line", HasSubstr("a line longer than 16777216 bytes"));
}

TEST_F(WorkerClientTest, AnUnaskedAnswerIsRubbishAtTheNextRequest) {
  auto client = WorkerClient::start("fake", fake({"twice"}));
  ASSERT_TRUE(client);
  const auto first = (*client)->open(open_request());
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<measure::Opened>(*first));
  EXPECT_THAT(failure_of((*client)->open(open_request())), StartsWith("worker sent rubbish: "));
}

TEST_F(WorkerClientTest, AWorkerThatClosesItsOutputIsKilled) {
  expect_lost_at_open("close-output", HasSubstr("closed its end of the protocol"));
}

TEST_F(WorkerClientTest, AHangIsKilledAtTheDeadlineWithItsWholeGroup) {
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const std::string file = folder->path() / "child";
  auto options = fake({"hang-on-block", file});
  options.request_deadline = std::chrono::seconds(1);
  auto client = WorkerClient::start("fake", options);
  ASSERT_TRUE(client) << client.error().message;
  const auto process = (*client)->process_id();
  const auto opened = (*client)->open(open_request());
  ASSERT_TRUE(opened);
  const auto handle = std::get<measure::Opened>(*opened).handle;
  const auto outcome = (*client)->block(block_request({handle}));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(std::get<table::Failed>(*outcome).reason, "time limit of 1 s");
  EXPECT_TRUE((*client)->dead());
  EXPECT_FALSE(exists(*process));
  std::int64_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(vanishes(child));
  ASSERT_TRUE((*client)->restart());
  // The handle named the old process; the new one may have given the same number to something else.
  const auto stale = (*client)->block(block_request({handle}));
  ASSERT_TRUE(stale);
  EXPECT_THAT(std::get<table::Failed>(*stale).reason, HasSubstr("has ended"));
  EXPECT_FALSE((*client)->dead());
}

std::string proto_field(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

TEST(ModelDeadline, GrowsWithTheFilesOfTheModel) {
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const auto usual = std::chrono::seconds(120);
  const std::string model = folder->path() / "net.onnx";
  EXPECT_EQ(model_deadline(model, usual), usual) << "there is no such file";
  // ModelProto{ir_version 8, graph{y = Relu(w), initializer{external_data{location: w.bin}}}}
  const std::string entry = proto_field(1, "location") + proto_field(2, "w.bin");
  const std::string tensor = std::string("\x08\x04\x10\x01", 4) + proto_field(8, "w") +
                             proto_field(13, entry) + std::string("\x70\x01", 2);
  const std::string node = proto_field(1, "w") + proto_field(2, "y") + proto_field(4, "Relu");
  const std::string graph =
      proto_field(1, node) + proto_field(5, tensor) + proto_field(12, proto_field(1, "y"));
  ASSERT_TRUE(base::write_file(model, std::string("\x08\x08", 2) + proto_field(7, graph) +
                                          proto_field(8, std::string("\x10\x11", 2))));
  ASSERT_TRUE(base::write_file(folder->path() / "w.bin", "1234"));
  EXPECT_EQ(model_deadline(model, usual), usual);
  std::filesystem::resize_file(folder->path() / "w.bin", std::uintmax_t{3} << 30);  // a hole
  EXPECT_EQ(model_deadline(model, usual), usual + std::chrono::seconds(384));
  const std::string other = folder->path() / "net.bin";
  ASSERT_TRUE(base::write_file(other, "not a model"));
  std::filesystem::resize_file(other, std::uintmax_t{80} << 20);
  EXPECT_EQ(model_deadline(other, usual), usual + std::chrono::seconds(10));
}

TEST_F(WorkerClientTest, AChildThatKeepsThePipeOpenDoesNotHideACrash) {
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const std::string file = folder->path() / "child";
  auto client = WorkerClient::start("fake", fake({"child-keeps-pipe", file}));
  ASSERT_TRUE(client);
  EXPECT_THAT(failure_of((*client)->open(open_request())), HasSubstr("signal 11"));
  std::int64_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(vanishes(child));
}

TEST_F(WorkerClientTest, TemporaryFilesOfACrashedWorkerGoWithIt) {
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const std::string file = folder->path() / "temporary";
  auto client = WorkerClient::start("fake", fake({"leaves-a-file", file}));
  ASSERT_TRUE(client);
  EXPECT_THAT(failure_of((*client)->open(open_request())), HasSubstr("signal 11"));
  std::string temporary;
  std::getline(std::ifstream(file), temporary);
  EXPECT_THAT(temporary, HasSubstr("oplat-worker."));
  EXPECT_FALSE(std::filesystem::exists(temporary)) << temporary;
}

TEST_F(WorkerClientTest, WhatKilledProcessesLeftIsSweptAfterADay) {
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const auto make = [&](const std::string& name, bool old) {
    const std::filesystem::path path = folder->path() / name;
    std::filesystem::create_directory(path);
    std::ofstream(path / "left") << "of a model";
    if (old)
      std::filesystem::last_write_time(
          path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
    return path;
  };
  // No process has the largest number.
  const std::string dead = std::to_string(std::numeric_limits<pid_t>::max());
  const auto gone = make("oplat-worker." + dead + ".abcdef", true);
  const auto young = make("oplat-worker." + dead + ".ghijkl", false);
  const auto living = make("oplat-worker." + std::to_string(::getpid()) + ".abcdef", true);
  const auto other = make("oplat-worker.abcdef", true);
  sweep_temporary(folder->path());
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(young) && std::filesystem::exists(living) &&
              std::filesystem::exists(other));
  sweep_temporary(folder->path() / "none");
}

TEST_F(WorkerClientTest, MuchOnStandardErrorDoesNotBlock) {
  auto client = WorkerClient::start("fake", fake({"chatter"}));
  ASSERT_TRUE(client);
  const auto outcome = (*client)->open(open_request());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<measure::Opened>(*outcome));
}

TEST_F(WorkerClientTest, SamplesThatDoNotFitTheRequestAreRubbish) {
  for (const char* mode : {"short-samples", "negative-time"}) {
    SCOPED_TRACE(mode);
    auto client = WorkerClient::start("fake", fake({mode}));
    ASSERT_TRUE(client);
    const auto opened = (*client)->open(open_request());
    ASSERT_TRUE(opened);
    const auto handle = std::get<measure::Opened>(*opened).handle;
    const auto outcome = (*client)->block(block_request({handle, handle}));
    ASSERT_TRUE(outcome);
    EXPECT_THAT(std::get<table::Failed>(*outcome).reason, StartsWith("worker sent rubbish: "));
    EXPECT_TRUE((*client)->dead());
  }
}

TEST_F(WorkerClientTest, ADeathBetweenRequestsIsSeen) {
  auto client = WorkerClient::start("fake", fake({"good"}));
  ASSERT_TRUE(client);
  const auto process = (*client)->process_id();
  ASSERT_TRUE(process);
  ::kill(static_cast<pid_t>(*process), SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(*process), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE((*client)->dead());
  const auto outcome = (*client)->open(open_request());
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("SIGKILL"));
}

TEST_F(WorkerClientTest, StartFailures) {
  const auto start = [](std::vector<std::string> arguments) {
    auto options = fake(std::move(arguments));
    options.start_deadline = std::chrono::seconds(1);
    return WorkerClient::start("fake", options);
  };
  const auto exits = start({"exit-at-start"});
  ASSERT_FALSE(exits);
  EXPECT_EQ(exits.error().code, Code::Runtime);
  EXPECT_THAT(exits.error().message,
              testing::AllOf(HasSubstr("exit status 3"), HasSubstr("libfake.so.7")));
  const auto slow = start({"slow-start"});
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, Code::Runtime);
  EXPECT_THAT(slow.error().message, HasSubstr("time limit of 1 s"));
  const auto noisy = start({"rubbish-at-start"});
  ASSERT_FALSE(noisy);
  EXPECT_THAT(noisy.error().message, HasSubstr("worker sent rubbish: "));
  const auto newer = start({"old-protocol"});
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, Code::Runtime);
  EXPECT_THAT(newer.error().message, HasSubstr("protocol 99"));
  const auto refuses = start({"refuses"});
  ASSERT_FALSE(refuses);
  EXPECT_EQ(refuses.error().code, Code::Refused);
  EXPECT_EQ(refuses.error().message, "fake 7 is too old, install fake 8");
}

TEST_F(WorkerClientTest, AProgramThatIsNotThere) {
  WorkerOptions options;
  options.command = {"/nonexistent/worker"};
  const auto client = WorkerClient::start("fake", options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Runtime);
  EXPECT_THAT(client.error().message, HasSubstr("/nonexistent/worker"));
}

TEST_F(WorkerClientTest, AnUnknownRuntimeNamesTheKnownOnes) {
  const auto client = WorkerClient::start("refrence");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Runtime);
  EXPECT_THAT(client.error().message,
              testing::AllOf(HasSubstr("did you mean reference"), HasSubstr("replay")));
}

TEST_F(WorkerClientTest, AWorkerThatIgnoresShutdownIsKilledByTheDestructor) {
  std::optional<std::int64_t> process;
  {
    auto client = WorkerClient::start("fake", fake({"ignore-end"}));
    ASSERT_TRUE(client);
    process = (*client)->process_id();
    ASSERT_TRUE(process);
  }
  EXPECT_FALSE(exists(*process));
}

TEST_F(WorkerClientTest, TheEnvironmentIsScrubbed) {
  ::setenv("OMP_NUM_THREADS", "7", 1);
  const auto client = WorkerClient::start("fake", fake({"good"}));
  ::unsetenv("OMP_NUM_THREADS");
  ASSERT_TRUE(client);
  EXPECT_EQ((*client)->hello().build, "1-");
}

TEST_F(WorkerClientTest, MemoryIsBoundedAndTheProcessPinned) {
  // A shell says what it was given: programs under a sanitizer cannot live within an address space
  // this small.
  WorkerOptions options;
  options.command = {"/bin/sh", "-c", "echo limit $(ulimit -v) >&2; exit 1"};
  options.memory_limit_bytes = std::int64_t{1} << 30;
  const auto limited = WorkerClient::start("fake", options);
  ASSERT_FALSE(limited);
  EXPECT_THAT(limited.error().message, HasSubstr("limit 1048576"));
  options = {};
  options.command = {"/bin/sh", "-c",
                     "echo pinned $(grep Cpus_allowed_list /proc/self/status) >&2; exit 1"};
  options.cpu = 0;
  const auto pinned = WorkerClient::start("fake", options);
  ASSERT_FALSE(pinned);
  EXPECT_THAT(pinned.error().message, HasSubstr("pinned Cpus_allowed_list: 0\""));
  options.cpu = 100'000;
  const auto nowhere = WorkerClient::start("fake", options);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::Usage);
  EXPECT_THAT(nowhere.error().message,
              HasSubstr("--cpu 100000: there is no such CPU; the CPUs are 0"));
  options.cpu = 1023;
  const auto too_high = WorkerClient::start("fake", options);
  ASSERT_FALSE(too_high);
  EXPECT_THAT(too_high.error().message,
              HasSubstr("--cpu 1023: a worker cannot be pinned to it: Invalid argument; the CPUs "
                        "are 0"));
}

TEST_F(WorkerClientTest, NoDescriptorOfOursReachesTheWorker) {
  const int leak = ::fcntl(2, F_DUPFD, 100);  // without close-on-exec
  ASSERT_GE(leak, 100);
  WorkerOptions options;
  options.command = {"/bin/sh", "-c",
                     "[ -e /proc/$$/fd/" + std::to_string(leak) +
                         " ] && echo inherited >&2 || echo closed >&2; exit 1"};
  const auto client = WorkerClient::start("fake", options);
  ::close(leak);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("closed"));
}

TEST_F(WorkerClientTest, CtrlCKillsTheWorkerAndSaysSo) {
  const auto interrupted_block = [] {
    base::install_interrupt_handlers();
    auto client = WorkerClient::start("fake", fake({"hang-on-block"}));
    if (!client) std::_Exit(2);
    const auto process = (*client)->process_id();
    const auto opened = (*client)->open(open_request());
    if (!opened) std::_Exit(3);
    std::raise(SIGINT);
    const auto outcome =
        (*client)->block(block_request({std::get<measure::Opened>(*opened).handle}));
    if (outcome || outcome.error().code != Code::Interrupted) std::_Exit(4);
    if (!(*client)->dead() || exists(*process)) std::_Exit(5);
    std::_Exit(0);
  };
  EXPECT_EXIT(interrupted_block(), testing::ExitedWithCode(0), "");
}

TEST_F(WorkerClientTest, WhoeverWaitsMayStopARequest) {
  WorkerOptions options = fake({"hang-on-block"});
  bool stop = false;
  options.stop_asked = [&stop] { return stop; };
  const auto started = WorkerClient::start("fake", options);
  ASSERT_TRUE(started) << started.error().message;
  const auto& client = *started;
  const auto process = client->process_id();
  const auto opened = client->open(open_request());
  ASSERT_TRUE(opened) << opened.error().message;
  stop = true;
  const auto outcome = client->block(block_request({std::get<measure::Opened>(*opened).handle}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::Interrupted);
  EXPECT_TRUE(client->dead());
  EXPECT_FALSE(exists(*process));
  EXPECT_EQ(client->restart().error().code, Code::Interrupted);
}

}  // namespace
}  // namespace oplat::runtimes
