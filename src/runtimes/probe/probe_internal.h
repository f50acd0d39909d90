/* SPDX-License-Identifier: Apache-2.0 */
/** @file What the files of the probe share. The timed kernels are compiled the same way in every
 * kind of build. */
#ifndef OPLAT_RUNTIMES_PROBE_INTERNAL_H
#define OPLAT_RUNTIMES_PROBE_INTERNAL_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Always the same multiply-adds on 8 KiB. */
void oplat_probe_kernel_compute(void);

/** Additions that do not wait for one another: a busy neighbour on the core nearly doubles their
 * time. */
void oplat_probe_kernel_issue(int rounds);

/** Each step waits for the one before: a neighbour hardly changes its time. */
void oplat_probe_kernel_chain(int steps);

/** Reads every cache line of `words` 64-bit words (a multiple of 32). */
void oplat_probe_kernel_stream(const uint64_t* data, size_t words);

/** Follows `steps` links from word `at`: each word met holds the index of the next one, so that
 * each load waits for the one before. */
void oplat_probe_kernel_follow(const uint64_t* data, uint64_t at, size_t steps);

/** Memory of distinct, touched pages; {NULL, 0} at first. */
struct oplat_probe_buffer {
  uint64_t* data;
  int64_t bytes;
};
/** Makes it hold `bytes` or more; what it held is gone if it moves. 0 or ENOMEM. */
int oplat_probe_reserve(struct oplat_probe_buffer* buffer, int64_t bytes);
void oplat_probe_give_back(struct oplat_probe_buffer* buffer);
/** What oplat_probe_memory_look and oplat_probe_memory_wait hold. */
void oplat_probe_release_pool(void);

/** Where the process may run by the will of whoever started it: of a thread that oplat_probe_pin
 * has kept on one CPU, from before. 0 or an errno value. */
int oplat_probe_usable_cpus(cpu_set_t* out);

/** Whether the system says of all of them that they are equally fast, or nothing. */
int oplat_probe_usable_cpus_alike(void);

#ifdef __cplusplus
}
#endif

#endif
