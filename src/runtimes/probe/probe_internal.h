/* SPDX-License-Identifier: Apache-2.0 */
/** @file The timed kernels, apart from the rest because they are compiled the same way in every kind of build. */
#ifndef OPLAT_RUNTIMES_PROBE_INTERNAL_H
#define OPLAT_RUNTIMES_PROBE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Always the same multiply-adds on 8 KiB. */
void oplat_probe_kernel_compute(void);

/** Additions that do not wait for one another: a busy neighbour on the core nearly doubles their time. */
void oplat_probe_kernel_issue(int rounds);

/** Each step waits for the one before: a neighbour hardly changes its time. */
void oplat_probe_kernel_chain(int steps);

/** Reads every cache line of `words` 64-bit words (a multiple of 32). */
void oplat_probe_kernel_stream(const uint64_t* data, size_t words);

#ifdef __cplusplus
}
#endif

#endif
