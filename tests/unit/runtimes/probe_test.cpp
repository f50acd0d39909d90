// SPDX-License-Identifier: Apache-2.0
#include "runtimes/probe.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <thread>

#include "base/text.hpp"
#include "unit/runtimes/busy_cpu.hpp"

namespace {

TEST(ProbeTest, TheClockNeverGoesBack) {
  std::int64_t last = oplat_probe_now_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t now = oplat_probe_now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ProbeTest, ReferencesCheckTheirArguments) {
  double ns = 5;
  EXPECT_EQ(oplat_probe_reference_compute(0, &ns), EINVAL);
  EXPECT_EQ(oplat_probe_reference_compute(1002, &ns), EINVAL);
  EXPECT_EQ(oplat_probe_reference_memory(0, &ns), EINVAL);
  EXPECT_EQ(oplat_probe_reference_compute(1, nullptr), EINVAL);
  EXPECT_EQ(ns, 5);
  EXPECT_EQ(oplat_probe_reference_compute(2, &ns), 0);
  EXPECT_GT(ns, 0);
  EXPECT_NE(ns, 5);
  EXPECT_EQ(oplat_probe_reference_memory(3, &ns), 0);
  EXPECT_GT(ns, 0);
}

TEST(ProbeTest, ACoreIsAloneAtTheMomentOfItsLeastTime) {
  // However busy the machine is, some of many looks come near the best of them: at once on a quiet
  // one, within seconds next to others.
  constexpr int kLooks = 1'000'000;
  int alone = 0;
  for (int i = 0; i < kLooks && alone == 0; ++i) alone += oplat_probe_alone();
  EXPECT_GT(alone, 0);
}

TEST(ProbeTest, ALookAtSeveralCoresLeavesNothingBehind) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  oplat_probe_cores best{};
  for (int i = 0; i < 20; ++i) (void)oplat_probe_apart(CPU_COUNT(&before), &best);
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  // A thread is joined a moment before it is gone.
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  for (int i = 0; i < 100 && threads() > 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(threads(), 1) << "threads that are left behind";
}

TEST(ProbeTest, CoresThatNobodyKnowsTheThreadsOfAreNotAskedFor) {
  cpu_set_t whole;
  ASSERT_EQ(::sched_getaffinity(0, sizeof whole, &whole), 0);
  const int cpus = CPU_COUNT(&whole);
  oplat_probe_cores best{};
  for (const int threads : {-1, 0, 1, cpus + 1, 1000})
    EXPECT_EQ(oplat_probe_apart(threads, &best), 1) << threads;
  EXPECT_EQ(oplat_probe_apart(cpus, nullptr), 1);
  EXPECT_EQ(best.issue_ns, 0);
}

TEST(ProbeTest, CoresAreComparedWithTheirBest) {
  cpu_set_t whole;
  ASSERT_EQ(::sched_getaffinity(0, sizeof whole, &whole), 0);
  if (CPU_COUNT(&whole) != 2) GTEST_SKIP() << "made for two CPUs";
  oplat_probe_cores best{};
  // The first looks may be those of shared cores; a far better one later begins anew.
  for (int i = 0; i < 2000 && (i < 200 || best.handoff_ns == 0); ++i)
    (void)oplat_probe_apart(2, &best);
  if (best.issue_ns == 0) GTEST_SKIP() << "the CPUs are hardware threads of one core";
  EXPECT_GT(best.issue_ns, 0);
  EXPECT_GT(best.handoff_ns, 0);
  // Of cores that once were ten times as fast, none is good enough.
  oplat_probe_cores faster{best.issue_ns / 10, best.handoff_ns};
  EXPECT_EQ(oplat_probe_apart(2, &faster), 0);
  EXPECT_EQ(faster.issue_ns, best.issue_ns / 10);
  oplat_probe_cores nearer{best.issue_ns, best.handoff_ns / 10};
  EXPECT_EQ(oplat_probe_apart(2, &nearer), 0);
}

TEST(ProbeTest, ACoreOnWhichAnotherProgramRunsIsNotApart) {
  const oplat::runtimes::BusyCpu busy;
  if (!busy.works()) GTEST_SKIP() << "made for two cores and a user who may run real-time threads";
  oplat_probe_cores best{};
  EXPECT_EQ(oplat_probe_apart(2, &best), 0);
}

TEST(ProbeTest, AWatchLooksWithinACall) {
  oplat_probe_watch watch{};
  EXPECT_EQ(oplat_probe_watch_end(&watch), EINVAL);
  ASSERT_EQ(oplat_probe_watch_begin(), 0);
  const std::int64_t begin = oplat_probe_now_ns();
  while (oplat_probe_now_ns() - begin < 100'000'000) {
  }
  ASSERT_EQ(oplat_probe_watch_end(&watch), 0);
  EXPECT_GT(watch.looks, 5);  // every 2 ms; a busy machine may run late
  EXPECT_LE(watch.looks, 60);
  EXPECT_LE(watch.shared, watch.looks);
  EXPECT_GT(watch.own_ns, 0);
  EXPECT_EQ(oplat_probe_watch_end(&watch), EINVAL);
}

TEST(ProbeTest, ScrubGrowsAndRefusesWhatMemoryCannotHold) {
  EXPECT_EQ(oplat_probe_scrub(0, 1), 0);
  EXPECT_EQ(oplat_probe_scrub(1, 1), 0);
  EXPECT_EQ(oplat_probe_scrub(5'000'000, 1), 0);
  EXPECT_EQ(oplat_probe_scrub(1000, 2), 0);
  EXPECT_EQ(oplat_probe_scrub(-1, 1), EINVAL);
  EXPECT_EQ(oplat_probe_scrub(4096, 0), EINVAL);
  EXPECT_EQ(oplat_probe_scrub(std::numeric_limits<std::int64_t>::max(), 1), EINVAL);
  oplat_probe_release();
  EXPECT_EQ(oplat_probe_scrub(4096, 1000), 0);
  oplat_probe_release();
}

TEST(ProbeTest, ALookAtMemoryChecksItsArgumentsAndTimesBothWays) {
  oplat_probe_look look{};
  EXPECT_EQ(oplat_probe_memory_look(0, &look), EINVAL);
  EXPECT_EQ(oplat_probe_memory_look(4096, &look), EINVAL);
  EXPECT_EQ(oplat_probe_memory_look(std::int64_t{1} << 20, nullptr), EINVAL);
  EXPECT_EQ(oplat_probe_memory_look(std::numeric_limits<std::int64_t>::max(), &look), EINVAL);
  // Growing, shrinking, and sizes that are not whole pages.
  for (const std::int64_t bytes : {65'536, 16 << 20, 1'000'001, 32 << 20, 100'000}) {
    ASSERT_EQ(oplat_probe_memory_look(bytes, &look), 0) << bytes;
    EXPECT_GT(look.window_bytes, 0);
    EXPECT_LE(look.window_bytes, std::min<std::int64_t>(bytes, 4 << 20));
    EXPECT_GT(look.stream_ns, 0);
    // A load that waits is never quicker than one that does not.
    EXPECT_GT(look.chase_ns, look.stream_ns) << bytes;
  }
  oplat_probe_release();
  EXPECT_EQ(oplat_probe_memory_look(65'536, &look), 0);
  oplat_probe_release();
}

TEST(ProbeTest, ALookAfterAWaitWaits) {
  double chase_ns = 0;
  constexpr std::int64_t kPoolBytes = 5 << 20;
  EXPECT_EQ(oplat_probe_memory_wait(4096, 0, &chase_ns), EINVAL);
  EXPECT_EQ(oplat_probe_memory_wait(kPoolBytes, -1, &chase_ns), EINVAL);
  EXPECT_EQ(oplat_probe_memory_wait(kPoolBytes, std::int64_t{1} << 40, &chase_ns), EINVAL);
  EXPECT_EQ(oplat_probe_memory_wait(kPoolBytes, 0, nullptr), EINVAL);
  for (const std::int64_t wait_ns : {0, 20'000'000}) {
    chase_ns = 0;
    const std::int64_t begin_ns = oplat_probe_now_ns();
    ASSERT_EQ(oplat_probe_memory_wait(kPoolBytes, wait_ns, &chase_ns), 0);
    EXPECT_GE(oplat_probe_now_ns() - begin_ns, wait_ns);
    EXPECT_GT(chase_ns, 0);
  }
  // The links are the look's.
  oplat_probe_look look{};
  EXPECT_EQ(oplat_probe_memory_look(100'000, &look), 0);
  EXPECT_EQ(oplat_probe_memory_wait(kPoolBytes, 0, &chase_ns), 0);
  oplat_probe_release();
}

TEST(ProbeTest, ScrubTouchesItsPages) {
  oplat_probe_release();
  oplat_probe_counters before{};
  oplat_probe_counters after{};
  ASSERT_EQ(oplat_probe_read_counters(&before), 0);
  ASSERT_EQ(oplat_probe_scrub(std::int64_t{64} << 20, 2), 0);
  ASSERT_EQ(oplat_probe_read_counters(&after), 0);
  // 64 MiB are 16,384 small pages or 32 huge ones.
  EXPECT_GE(after.faults - before.faults, 32);
  oplat_probe_release();
}

TEST(ProbeTest, MachineFactsHangTogether) {
  oplat_probe_machine machine{};
  ASSERT_EQ(oplat_probe_read_machine(&machine), 0);
  EXPECT_EQ(machine.cores, static_cast<std::int64_t>(std::thread::hardware_concurrency()));
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_NE(std::string(machine.architecture), "");
  EXPECT_GE(machine.llc_bytes, machine.l2_bytes);
  const std::string isa = machine.isa;
  if (!isa.empty()) {
    const auto words = oplat::base::split(isa, ' ');
    EXPECT_TRUE(std::is_sorted(words.begin(), words.end())) << isa;
    EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end()) << isa;
  }
  EXPECT_EQ(oplat_probe_read_machine(nullptr), EINVAL);
}

TEST(ProbeTest, PinsTheCallingThreadOnly) {
  cpu_set_t whole;
  ASSERT_EQ(::sched_getaffinity(0, sizeof whole, &whole), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &whole)) ++first;
  std::thread([first] {
    EXPECT_EQ(oplat_probe_pin(first), 0);
    cpu_set_t mine;
    ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
    EXPECT_EQ(CPU_COUNT(&mine), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(first), &mine));
  }).join();
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&whole, &after));
  EXPECT_EQ(oplat_probe_pin(-1), EINVAL);
  EXPECT_EQ(oplat_probe_pin(1'000'000), EINVAL);
}

TEST(ProbeTest, FlushesDenormals) {
  volatile float tiny = std::numeric_limits<float>::min();
  if (oplat_probe_flush_denormals(1) == ENOTSUP) GTEST_SKIP() << "not known on this architecture";
  volatile float flushed = tiny / 2.0F;
  EXPECT_EQ(oplat_probe_flush_denormals(0), 0);
  volatile float kept = tiny / 2.0F;
  const bool flushed_is_zero = flushed == 0.0F;
  EXPECT_TRUE(flushed_is_zero);
  EXPECT_GT(kept, 0.0F);
}

TEST(ProbeTest, TheSharedLibraryCanBeLoadedByName) {
  void* library = ::dlopen(OPLAT_PROBE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto abi = reinterpret_cast<std::int32_t (*)()>(::dlsym(library, "oplat_probe_abi"));
  ASSERT_NE(abi, nullptr);
  EXPECT_EQ(abi(), OPLAT_PROBE_ABI);
  EXPECT_NE(::dlsym(library, "oplat_probe_reference_memory"), nullptr);
  EXPECT_EQ(::dlsym(library, "oplat_probe_kernel_stream"), nullptr)
      << "internal names must stay inside";
  ::dlclose(library);
}

}  // namespace
