/* SPDX-License-Identifier: Apache-2.0 */
/** @file What a cache line costs by how much was read since its last use (docs/adr/0051). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtimes/probe.h"
#include "runtimes/probe/probe_internal.h"

/* A pair of lines is what processors fetch at once where they fetch more than one: one line of each
 * pair is chased, so that none was fetched with another. */
enum { kLineBytes = 64, kPairWords = 16, kMaxRounds = 31 };
/* The window has few pages, 1024 of 4 KiB, whose translations a core holds: loads from it cost what
 * the caches make of them, whatever the pool. */
static const int64_t kMaxWindowBytes = (int64_t)4 << 20;
static const int64_t kMinPoolBytes = (int64_t)64 << 10;
static const int64_t kLookNs = 3000000;
/* Reads of a pool after which it is where it stays. */
enum { kFills = 3 };
/* Of the window's lines, as a divisor: others go on while lines from memory are timed. */
enum { kTimedShare = 8 };
static const int64_t kMaxLookWaitNs = 1000000000;

static struct oplat_probe_buffer look_pool;
static const uint64_t* linked_data; /* the window that holds links, as it stood then */
static int64_t linked_bytes;

void oplat_probe_release_pool(void) {
  oplat_probe_give_back(&look_pool);
  linked_data = NULL;
  linked_bytes = 0;
}

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* One cycle through a line of each pair of the window, word 0 among them, in random order, the same
 * in every process. */
static int link_window(int64_t bytes) {
  if (linked_data == look_pool.data && linked_bytes == bytes) return 0;
  const size_t pairs = (size_t)bytes / (2 * kLineBytes);
  uint64_t* order = malloc(pairs * sizeof *order);
  if (order == NULL) return ENOMEM;
  uint64_t state = 0x9E3779B97F4A7C15U;
  for (size_t i = 0; i < pairs; ++i)
    order[i] = i == 0 ? 0 : kPairWords * i + (next_random(&state) % 2) * (kPairWords / 2);
  for (size_t i = pairs - 1; i > 0; --i) {
    const size_t j = (size_t)(next_random(&state) % (i + 1));
    const uint64_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (size_t i = 0; i < pairs; ++i) look_pool.data[order[i]] = order[(i + 1) % pairs];
  free(order);
  linked_data = look_pool.data;
  linked_bytes = bytes;
  return 0;
}

static int cheaper_first(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double lower_quartile(double* values, int count) {
  qsort(values, (size_t)count, sizeof values[0], cheaper_first);
  return values[(count - 1) / 4];
}

/* The pool that is looked at, by 64-bit words: the window, the rest, and the links of the window.
 */
struct parts {
  size_t window, rest, steps;
};

static int prepare(int64_t pool_bytes, struct parts* out) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pool_bytes < kMinPoolBytes) return EINVAL;
  if (pages > 0 && page > 0 && pool_bytes > (int64_t)pages * (int64_t)page / 2) return EINVAL;
  const int64_t rounded = pool_bytes / (2 * kLineBytes * 2) * (2 * kLineBytes * 2);
  const int64_t window_bytes = rounded < kMaxWindowBytes ? rounded : kMaxWindowBytes;
  int error = oplat_probe_reserve(&look_pool, rounded);
  if (error == 0) error = link_window(window_bytes);
  if (error != 0) return error;
  out->window = (size_t)window_bytes / sizeof(uint64_t);
  out->rest = (size_t)rounded / sizeof(uint64_t) - out->window;
  out->steps = (size_t)window_bytes / (2 * kLineBytes);
  return 0;
}

/* Of a load that waits. */
static double follow_window(size_t steps) {
  const int64_t begin_ns = oplat_probe_now_ns();
  oplat_probe_kernel_follow(look_pool.data, 0, steps);
  return (double)(oplat_probe_now_ns() - begin_ns) / (double)steps;
}

int oplat_probe_memory_wait(int64_t pool_bytes, int64_t wait_ns, double* chase_ns) {
  struct parts parts;
  if (chase_ns == NULL || wait_ns < 0 || wait_ns > kMaxLookWaitNs) return EINVAL;
  const int error = prepare(pool_bytes, &parts);
  if (error != 0) return error;
  for (int i = 0; i < kFills; ++i)
    oplat_probe_kernel_stream(look_pool.data, parts.window + parts.rest);
  const int64_t until_ns = oplat_probe_now_ns() + wait_ns;
  follow_window(parts.steps);
  oplat_probe_kernel_stream(look_pool.data + parts.window, parts.rest);
  while (oplat_probe_now_ns() < until_ns) continue;
  *chase_ns = follow_window(parts.steps / kTimedShare);
  return 0;
}

int oplat_probe_memory_look(int64_t pool_bytes, struct oplat_probe_look* out) {
  struct parts parts;
  if (out == NULL) return EINVAL;
  const int error = prepare(pool_bytes, &parts);
  if (error != 0) return error;
  const size_t window = parts.window;
  const size_t rest = parts.rest;
  const int64_t window_bytes = (int64_t)(window * sizeof(uint64_t));
  const double lines = (double)window_bytes / kLineBytes;
  double stream_ns[kMaxRounds];
  double chase_ns[kMaxRounds];
  int rounds = 0;
  oplat_probe_kernel_stream(look_pool.data, window);
  oplat_probe_kernel_stream(look_pool.data + window, rest);
  const int64_t begin_ns = oplat_probe_now_ns();
  do {
    const int64_t stream_begin = oplat_probe_now_ns();
    oplat_probe_kernel_stream(look_pool.data, window);
    const int64_t stream_end = oplat_probe_now_ns();
    oplat_probe_kernel_stream(look_pool.data + window, rest);
    chase_ns[rounds] = follow_window(parts.steps);
    oplat_probe_kernel_stream(look_pool.data + window, rest);
    stream_ns[rounds] = (double)(stream_end - stream_begin) / lines;
    ++rounds;
  } while (rounds < kMaxRounds && oplat_probe_now_ns() - begin_ns < kLookNs);
  out->window_bytes = window_bytes;
  out->stream_ns = lower_quartile(stream_ns, rounds);
  out->chase_ns = lower_quartile(chase_ns, rounds);
  return 0;
}
