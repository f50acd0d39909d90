// SPDX-License-Identifier: Apache-2.0
/// Forks, and the interpreter's end, while other threads use the library.
///
/// A child of fork() has one thread, and every lock that another thread held stays locked in it for
/// ever, those inside SQLite included. So os.fork() waits until no thread is inside a short call.
/// It does not wait for campaigns and fits, which take minutes: a child of such a moment is refused
/// tables, since it might hang.
///
/// Once the interpreter ends, a thread that asks for the GIL is ended within that call, which a
/// destructor does not survive: the whole process is aborted. So an exit stops the calls of threads
/// that it does not wait for (daemon threads), and waits until they have the GIL again.
#pragma once

#include <nanobind/nanobind.h>

namespace oplat::python {

enum class CallLength { Short, Long };

/// While it lives, the thread is inside the library. Made without the GIL, since a fork may be on
/// its way, which holds it.
class InsideLibrary {
 public:
  explicit InsideLibrary(CallLength length);
  ~InsideLibrary();
  InsideLibrary(const InsideLibrary&) = delete;
  InsideLibrary& operator=(const InsideLibrary&) = delete;

 private:
  CallLength length_;
};

/// From before a call gives up the GIL until it has it again; made and destroyed with it. Throws
/// SystemExit, which ends a thread in silence, if is_ending().
class CallWithoutGil {
 public:
  CallWithoutGil();
  ~CallWithoutGil();
  CallWithoutGil(const CallWithoutGil&) = delete;
  CallWithoutGil& operator=(const CallWithoutGil&) = delete;
};

/// Runs `call` without the GIL, inside the library.
template <class Call>
auto without_gil(CallLength length, const Call& call) {
  const CallWithoutGil counted;
  const nanobind::gil_scoped_release release;
  const InsideLibrary inside(length);
  return call();
}

/// Whether the interpreter ends, and this is not the thread that ends it. With or without the GIL.
bool is_ending();
/// Throws SystemExit if is_ending().
void check_not_ending();

/// Throws Refused in a child that was forked while another thread was inside a long call.
void check_forked_child();

/// Registers the hooks with os.register_at_fork() and atexit.
void register_process_hooks();

}  // namespace oplat::python
