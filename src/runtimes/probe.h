/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * liboplat_probe: the clock, the reference kernels and the counters of a measurement, as a plain C
 * library, so that workers written in any language time on the same terms. One thread at a time may
 * call it.
 *
 * Functions that can fail return 0 on success and an errno value otherwise; out parameters are then
 * untouched.
 */
#ifndef OPLAT_RUNTIMES_PROBE_H
#define OPLAT_RUNTIMES_PROBE_H

#include <stdint.h>

#if defined(__GNUC__)
#define OPLAT_PROBE_API __attribute__((visibility("default")))
#else
#define OPLAT_PROBE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Raised whenever a function or a structure below changes its meaning or layout. */
#define OPLAT_PROBE_ABI 3

/** OPLAT_PROBE_ABI of the library that was loaded: compare it before any other call. */
OPLAT_PROBE_API int32_t oplat_probe_abi(void);

/** The monotonic clock in ns. Only differences mean anything. */
OPLAT_PROBE_API int64_t oplat_probe_now_ns(void);

/** Times the compute reference (multiply-adds on data that stays in the first-level cache; always
 * the same work, tens of microseconds) `repeats` times and gives the median. EINVAL unless 1 <=
 * repeats <= 1001. */
OPLAT_PROBE_API int oplat_probe_reference_compute(int32_t repeats, double* median_ns);

/** Times the memory reference (four streaming reads of a quarter of the last-level cache, at most
 * 64 MiB) `repeats` times and gives the median. The buffer is allocated and touched before the
 * first timing. EINVAL as above, ENOMEM. */
OPLAT_PROBE_API int oplat_probe_reference_memory(int32_t repeats, double* median_ns);

/** 1 where the calling core does nothing but this process's work, 0 where it is shared at this
 * moment. A hardware thread shares its core with another one, in a virtual machine with one of
 * another tenant, which no counter shows; while that one is busy, kernels that keep a core's units
 * full take up to twice as long. Times additions that do not wait for one another, some ten
 * microseconds in registers alone, against the least time that they have taken in this process; the
 * first call takes a millisecond to find it. Where every call so far was shared, all count as
 * alone, unless oplat_probe_alone_best told of a better time. */
OPLAT_PROBE_API int32_t oplat_probe_alone(void);

/** Tells oplat_probe_alone the least time in ns that other processes saw on this machine (0: none;
 * it replaces what was told before), and gives the least of that and its own: who hands it on from
 * process to process notices a neighbour that stays longer than one. What was told does not count
 * where the CPUs are of several speeds, or where it is less than half of the own least time. The
 * first call takes a millisecond. */
OPLAT_PROBE_API double oplat_probe_alone_best(double elsewhere_ns);

/** The cores of a kernel on several threads at their best, as far as was seen; 0: not yet. */
struct oplat_probe_cores {
  double issue_ns; /**< of additions in registers, some ten microseconds of them, on a core of one's
                     own */
  double handoff_ns; /**< of a cache line from one core to the farthest and back */
};

/** 1 where the cores of a kernel on `threads` threads, the caller's one of them, do nothing but
 * this process's work at this moment, are different ones, and as near each other as they have been.
 * A virtual machine's CPUs may share one core for seconds, or hold two that have no cache in
 * common, and no counter tells: a kernel on both then takes up to twice as long. Every core is
 * looked at while all the others are, some 0.3 ms, and compared with `best`, which is brought up to
 * date: who keeps it from process to process notices what lasts longer than one. Always 1 where the
 * process may use more cores than `threads`, since nobody knows which a pool's threads are on, or
 * fewer, or cores of several speeds. One thread at a time; the caller's place is afterwards what it
 * was. */
OPLAT_PROBE_API int32_t oplat_probe_apart(int32_t threads, struct oplat_probe_cores* best);

/** What was seen of a core while something ran on it. */
struct oplat_probe_watch {
  int64_t looks;  /**< how often it was looked at */
  int64_t shared; /**< looks that found it shared */
  int64_t own_ns; /**< that the looks and the interruptions took; they are in the time of whatever
                     ran */
};

/** From here to oplat_probe_watch_end a timer interrupts the calling thread every other millisecond
 * and looks, for half as long as oplat_probe_alone, whether the core is shared: for calls that take
 * longer than a neighbour's mood lasts. The first call takes some 40 ms to find what an
 * interruption costs. Uses a real-time signal of its own; ENOTSUP where that has an owner or the
 * system has no such timers, else an errno value. */
OPLAT_PROBE_API int oplat_probe_watch_begin(void);
/** EINVAL without a begin by the same thread. */
OPLAT_PROBE_API int oplat_probe_watch_end(struct oplat_probe_watch* out);

/** Reads `bytes` of a buffer of its own, so that caches hold nothing else. The buffer is allocated
 * at the first call, grows with demand and is made of distinct, touched pages. Where a kernel runs
 * on several threads, the second-level caches of several cores hold its weights: each of `threads`
 * reads the whole buffer, one of them the caller, the others on the remaining CPUs that the calling
 * thread may use (no more than there are; of a pinned thread none: ADR 0019). EINVAL if `bytes` is
 * negative or above half of the memory or `threads` is below 1, ENOMEM, EAGAIN where no thread
 * could be made. */
OPLAT_PROBE_API int oplat_probe_scrub(int64_t bytes, int32_t threads);

/** What one cache line of 64 bytes costs when as many bytes as a pool has were read since its last
 * use. */
struct oplat_probe_look {
  int64_t window_bytes; /**< of the pool, that were timed: the pool's, at most 4 MiB */
  double stream_ns;     /**< of a line, read in order, as weights are */
  double chase_ns;      /**< of a line, at random; each load waits for the one before */
};
/** Reads a pool of `pool_bytes` in order and times a window of it, again and again for some
 * milliseconds, once at least (docs/adr/0051); gives the lower quartiles. Each use of a byte of the
 * window comes after all other bytes of the pool. The pool is allocated at the first call and grows
 * with demand. EINVAL if `pool_bytes` is below 64 KiB or above half of the memory, ENOMEM. */
OPLAT_PROBE_API int oplat_probe_memory_look(int64_t pool_bytes, struct oplat_probe_look* out);

/** What others take from a cache meanwhile (docs/adr/0095): reads such a pool, follows the lines of
 * the window, and times a load of the first eighth of them, as chase_ns above, once, `wait_ns`
 * after the first of them was last used, or as soon as the pool is read. Nothing is touched while
 * it waits. EINVAL also if `wait_ns` is below 0 or above a second. */
OPLAT_PROBE_API int oplat_probe_memory_wait(int64_t pool_bytes, int64_t wait_ns, double* chase_ns);

/** Gives back the buffers of the memory reference, of the scrub and of the pool. */
OPLAT_PROBE_API void oplat_probe_release(void);

/** What happened to this process and machine since they started. */
struct oplat_probe_counters {
  int64_t involuntary_switches; /**< of this process */
  int64_t faults;               /**< page faults of this process, minor and major */
  int64_t steal_ticks; /**< taken by the hypervisor, all CPUs; meaningful only if steal_known */
  int32_t steal_known; /**< 1 where the system tells steal_ticks and busy_ns */
  int32_t reserved;
  int64_t
      busy_ns; /**< all CPUs spent on any program or the kernel; meaningful only if steal_known */
  int64_t own_cpu_ns; /**< this process spent, on all its threads */
};
OPLAT_PROBE_API int oplat_probe_read_counters(struct oplat_probe_counters* out);

/** Facts of the machine; 0 or "" where the system does not tell. Texts end in NUL. */
struct oplat_probe_machine {
  int64_t l1d_bytes; /**< per core */
  int64_t l2_bytes;  /**< per core */
  int64_t llc_bytes; /**< the highest level of cache that holds data */
  int64_t cores;     /**< processors on line */
  int64_t memory_bytes;
  char cpu[128];         /**< model text */
  char architecture[32]; /**< "x86_64", "aarch64", ... */
  char isa[1024];        /**< vector and matrix extensions, sorted bytewise, one space between */
};
OPLAT_PROBE_API int oplat_probe_read_machine(struct oplat_probe_machine* out);

/** Keeps the calling thread, and threads that it makes later, on one CPU. EINVAL if there is no
 * such CPU. */
OPLAT_PROBE_API int oplat_probe_pin(int32_t cpu);

/** Makes denormal operands and results zero on the calling thread (1) or computes them in full (0).
 * ENOTSUP where the architecture is not known here. */
OPLAT_PROBE_API int oplat_probe_flush_denormals(int32_t on);

#ifdef __cplusplus
}
#endif

#endif
