// SPDX-License-Identifier: Apache-2.0
/// Forks, while other threads use the library.
///
/// A child of fork() has one thread, and every lock that another thread held stays locked in it for
/// ever, those inside SQLite included. So os.fork() waits until no thread is inside a short call.
/// It does not wait for campaigns and fits, which take minutes: a child of such a moment is refused
/// tables, since it might hang.
#pragma once

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

/// Throws Refused in a child that was forked while another thread was inside a long call.
void check_forked_child();

/// Registers the hooks with os.register_at_fork().
void register_fork_hooks();

}  // namespace oplat::python
