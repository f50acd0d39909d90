/* SPDX-License-Identifier: Apache-2.0 */
/** @file Clock, references, scrub, counters, pinning. */
#define _GNU_SOURCE
#include "runtimes/probe.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "runtimes/probe/probe_internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* Four passes over 8 MiB take about 0.3 ms: long compared with a clock call, short compared with a
 * block. */
enum { kMaxRepeats = 1001, kMemoryPasses = 4 };
static const int64_t kPageBytes = 4096;
static const int64_t kMaxReferenceBytes = (int64_t)64 << 20;
static const int64_t kReferenceBytesIfUnknown = (int64_t)2 << 20;

static struct oplat_probe_buffer reference_buffer;
static struct oplat_probe_buffer scrub_buffer;

int32_t oplat_probe_abi(void) { return OPLAT_PROBE_ABI; }

int64_t oplat_probe_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
}

void oplat_probe_give_back(struct oplat_probe_buffer* buffer) {
  if (buffer->data != NULL) munmap(buffer->data, (size_t)buffer->bytes);
  buffer->data = NULL;
  buffer->bytes = 0;
}

static int64_t memory_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (int64_t)pages * (int64_t)page : 0;
}

/* Every page gets words of its own: untouched pages would all be the one zero page, equal ones
 * might be merged. */
int oplat_probe_reserve(struct oplat_probe_buffer* buffer, int64_t bytes) {
  if (buffer->bytes >= bytes) return 0;
  const int64_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  void* memory =
      mmap(NULL, (size_t)rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ENOMEM;
  oplat_probe_give_back(buffer);
  buffer->data = memory;
  buffer->bytes = rounded;
  const size_t words = (size_t)rounded / sizeof(uint64_t);
  for (size_t i = 0; i < words; i += 8) buffer->data[i] = (uint64_t)i * 0x9E3779B97F4A7C15U + 1;
  return 0;
}

static int ascending(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a;
  const int64_t y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

static double median(int64_t* times, int32_t count) {
  qsort(times, (size_t)count, sizeof times[0], ascending);
  const int64_t upper = times[count / 2];
  return count % 2 == 1 ? (double)upper : ((double)times[count / 2 - 1] + (double)upper) / 2.0;
}

int oplat_probe_reference_compute(int32_t repeats, double* median_ns) {
  if (repeats < 1 || repeats > kMaxRepeats || median_ns == NULL) return EINVAL;
  int64_t times[kMaxRepeats];
  for (int32_t i = 0; i < repeats; ++i) {
    const int64_t begin = oplat_probe_now_ns();
    oplat_probe_kernel_compute();
    times[i] = oplat_probe_now_ns() - begin;
  }
  *median_ns = median(times, repeats);
  return 0;
}

int oplat_probe_reference_memory(int32_t repeats, double* median_ns) {
  if (repeats < 1 || repeats > kMaxRepeats || median_ns == NULL) return EINVAL;
  if (reference_buffer.data == NULL) {
    struct oplat_probe_machine machine;
    int64_t bytes = oplat_probe_read_machine(&machine) == 0 ? machine.llc_bytes / 4 : 0;
    if (bytes < kPageBytes) bytes = kReferenceBytesIfUnknown;
    if (bytes > kMaxReferenceBytes) bytes = kMaxReferenceBytes;
    const int error = oplat_probe_reserve(&reference_buffer, bytes);
    if (error != 0) return error;
  }
  int64_t times[kMaxRepeats];
  const size_t words = (size_t)reference_buffer.bytes / sizeof(uint64_t);
  for (int32_t i = 0; i < repeats; ++i) {
    const int64_t begin = oplat_probe_now_ns();
    for (int pass = 0; pass < kMemoryPasses; ++pass)
      oplat_probe_kernel_stream(reference_buffer.data, words);
    times[i] = oplat_probe_now_ns() - begin;
  }
  *median_ns = median(times, repeats);
  return 0;
}

/* What one further thread of a scrub reads, and where. */
struct scrub_share {
  size_t words;
  int cpu;
};

static void* scrub_elsewhere(void* argument) {
  const struct scrub_share* share = argument;
  /* Without its own CPU the share still does its reading. */
  (void)oplat_probe_pin((int32_t)share->cpu);
  oplat_probe_kernel_stream(scrub_buffer.data, share->words);
  return NULL;
}

/* Reads the buffer on the caller's core and on up to `threads - 1` others. */
static int scrub_on(size_t words, int32_t threads) {
  enum { kMaxScrubThreads = 64 };
  pthread_t made[kMaxScrubThreads];
  struct scrub_share shares[kMaxScrubThreads];
  int count = 0;
  int error = 0;
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (threads > 1 && sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0;
         cpu < CPU_SETSIZE && count < threads - 1 && count < kMaxScrubThreads && error == 0;
         ++cpu) {
      if (!CPU_ISSET((size_t)cpu, &allowed) || cpu == here) continue;
      shares[count].words = words;
      shares[count].cpu = cpu;
      error = pthread_create(&made[count], NULL, scrub_elsewhere, &shares[count]);
      if (error == 0) ++count;
    }
  }
  oplat_probe_kernel_stream(scrub_buffer.data, words);
  for (int i = 0; i < count; ++i) (void)pthread_join(made[i], NULL);
  return error;
}

int oplat_probe_scrub(int64_t bytes, int32_t threads) {
  if (bytes < 0 || threads < 1) return EINVAL;
  if (bytes == 0) return 0;
  const int64_t memory = memory_bytes();
  if (memory > 0 && bytes > memory / 2) return EINVAL;
  const int error = oplat_probe_reserve(&scrub_buffer, bytes);
  if (error != 0) return error;
  const int64_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return scrub_on((size_t)rounded / sizeof(uint64_t), threads);
}

void oplat_probe_release(void) {
  oplat_probe_give_back(&reference_buffer);
  oplat_probe_give_back(&scrub_buffer);
  oplat_probe_release_pool();
}

/* First line of /proc/stat: "cpu" user nice system idle iowait irq softirq steal. */
static int read_cpu_line(int64_t* steal_ticks, int64_t* busy_ns) {
  FILE* file = fopen("/proc/stat", "re");
  if (file == NULL) return 0;
  enum { kUser, kNice, kSystem, kIdle, kWait, kInterrupt, kSoftInterrupt, kSteal, kFields };
  long long field[kFields] = {0};
  const int found = fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &field[kUser],
                           &field[kNice], &field[kSystem], &field[kIdle], &field[kWait],
                           &field[kInterrupt], &field[kSoftInterrupt], &field[kSteal]);
  fclose(file);
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (found != kFields || ticks_per_second <= 0) return 0;
  *steal_ticks = field[kSteal];
  const int64_t busy =
      field[kUser] + field[kNice] + field[kSystem] + field[kInterrupt] + field[kSoftInterrupt];
  *busy_ns = busy * (1000000000 / ticks_per_second);
  return 1;
}

static int64_t ns_of(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

int oplat_probe_read_counters(struct oplat_probe_counters* out) {
  struct rusage usage;
  if (out == NULL) return EINVAL;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return errno;
  memset(out, 0, sizeof *out);
  out->involuntary_switches = usage.ru_nivcsw;
  out->faults = (int64_t)usage.ru_minflt + (int64_t)usage.ru_majflt;
  out->own_cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
  out->steal_known = read_cpu_line(&out->steal_ticks, &out->busy_ns);
  return 0;
}

/* Asked once, before the first thread is pinned: a pinned thread knows of its own CPU alone. */
int oplat_probe_usable_cpus(cpu_set_t* out) {
  static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
  static cpu_set_t usable;
  static int known = 0;
  (void)pthread_mutex_lock(&guard);
  const int error = known || sched_getaffinity(0, sizeof usable, &usable) == 0 ? 0 : errno;
  known = error == 0;
  *out = usable;
  (void)pthread_mutex_unlock(&guard);
  return error;
}

int oplat_probe_pin(int32_t cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
  cpu_set_t set;
  (void)oplat_probe_usable_cpus(&set);
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

int oplat_probe_flush_denormals(int32_t on) {
#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE__))
  const unsigned int both = 0x8040U; /* MXCSR: flush to zero, denormals are zero */
  const unsigned int now = _mm_getcsr();
  _mm_setcsr(on != 0 ? (now | both) : (now & ~both));
  return 0;
#elif defined(__aarch64__)
  const uint64_t flush = (uint64_t)1 << 24; /* FPCR.FZ */
  uint64_t now;
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  now = on != 0 ? (now | flush) : (now & ~flush);
  __asm__ volatile("msr fpcr, %0" : : "r"(now));
  return 0;
#else
  (void)on;
  return ENOTSUP;
#endif
}
