// SPDX-License-Identifier: Apache-2.0
/// Where the calling thread may run, of workers whose runtime has threads of its own.
#pragma once

namespace oplat::runtimes {

/// Keeps the calling thread on its CPU while kernels of several threads are timed: a caller that
/// the system moves onto the CPU of a pool's thread halves the speed until it is moved away.
/// Threads inherit where they may run from the one that makes them, so the place is left before the
/// runtime makes any: a pool made by a thread that is kept runs on one CPU for good.
void keep_place();

/// Back to where the process may run by the will of whoever started it.
void leave_place();

}  // namespace oplat::runtimes
