// SPDX-License-Identifier: Apache-2.0
/// The interpreter's end, while other threads use the library.
///
/// Once the interpreter ends, a thread that asks for the GIL is ended within that call, which a
/// destructor does not survive: the whole process is aborted. So an exit stops the calls of threads
/// that it does not wait for (daemon threads), and waits until they have the GIL again.
#pragma once

namespace oplat::python {

/// From before a call gives up the GIL until it has it again; made and destroyed with it. Throws
/// SystemExit, which ends a thread in silence, if is_ending().
class CallWithoutGil {
 public:
  CallWithoutGil();
  ~CallWithoutGil();
  CallWithoutGil(const CallWithoutGil&) = delete;
  CallWithoutGil& operator=(const CallWithoutGil&) = delete;
};

/// Whether the interpreter ends, and this is not the thread that ends it. With or without the GIL.
bool is_ending();
/// Throws SystemExit if is_ending().
void check_not_ending();

/// In a forked child, which has only the calls of this thread.
void forget_calls_of_other_threads();

/// Registers the hook with atexit.
void register_exit_hook();

}  // namespace oplat::python
