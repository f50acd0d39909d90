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

/** Where the process may run by the will of whoever started it: of a thread that oplat_probe_pin
 * has kept on one CPU, from before. 0 or an errno value. */
int oplat_probe_usable_cpus(cpu_set_t* out);

/** Whether the system says of all of them that they are equally fast, or nothing. */
int oplat_probe_usable_cpus_alike(void);

#ifdef __cplusplus
}
#endif

#endif
