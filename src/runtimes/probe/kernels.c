/* SPDX-License-Identifier: Apache-2.0 */
/** @file The work that the references time. Compiled with fixed options: its time must depend on
 * the machine alone. */
#include "runtimes/probe/probe_internal.h"

enum { kFloats = 2048, kPasses = 140 };

static float lane[kFloats];
static volatile float compute_sink;
static volatile uint64_t stream_sink;

/* x -> a x + b has its fixed point at 1, so that values neither grow nor become denormal, whatever
 * the number of passes. Eight steps per element make it arithmetic rather than load and store. */
#define OPLAT_COMPUTE_BODY                                \
  for (int pass = 0; pass < kPasses; ++pass) {            \
    for (int i = 0; i < kFloats; ++i) {                   \
      float x = lane[i];                                  \
      for (int step = 0; step < 8; ++step) x = x * a + b; \
      lane[i] = x;                                        \
    }                                                     \
  }                                                       \
  compute_sink = lane[kFloats / 2]

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"), noinline)) static void compute_avx2(float a, float b) {
  OPLAT_COMPUTE_BODY;
}
#endif
__attribute__((noinline)) static void compute_plain(float a, float b) { OPLAT_COMPUTE_BODY; }

void oplat_probe_kernel_compute(void) {
  volatile float factor = 0.75F; /* volatile: the compiler must not fold the steps into one */
  volatile float offset = 0.25F;
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    compute_avx2(factor, offset);
    return;
  }
#endif
  compute_plain(factor, offset);
}

void oplat_probe_kernel_issue(int rounds) {
  unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  for (int i = 0; i < rounds; ++i) {
    a += 1, b += 1, c += 1, d += 1, e += 1, f += 1;
    /* The compiler must not fold the rounds into one. */
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  }
}

void oplat_probe_kernel_chain(int steps) {
  unsigned long x = 1;
  for (int i = 0; i < steps; ++i) {
    x = 3 * x + 1;
    __asm__ volatile("" : "+r"(x));
  }
}

void oplat_probe_kernel_stream(const uint64_t* data, size_t words) {
  /* Four lines at a time, one word of each: the sums do not wait for one another. */
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
  uint64_t d = 0;
  for (size_t i = 0; i + 32 <= words; i += 32) {
    a += data[i];
    b += data[i + 8];
    c += data[i + 16];
    d += data[i + 24];
  }
  stream_sink = a + b + c + d;
}

void oplat_probe_kernel_follow(const uint64_t* data, uint64_t at, size_t steps) {
  for (size_t i = 0; i < steps; ++i) at = data[at];
  stream_sink = at;
}
