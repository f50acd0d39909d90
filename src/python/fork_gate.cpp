// SPDX-License-Identifier: Apache-2.0
#include "python/fork_gate.hpp"

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <mutex>
#include <new>

#include "python/errors.hpp"
#include "python/exit_gate.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int inside_short = 0;
  int inside_long = 0;
  bool forking = false;
};

/// Never destroyed: threads may be inside while the process ends.
Gate& gate() {
  static Gate* const only = new Gate;
  return *only;
}

/// Of this thread, which may itself fork within a call: in a handler of a signal, or in a progress
/// callable.
thread_local int own_short = 0;
thread_local int own_long = 0;
bool child_of_long_call = false;

void before_fork() {
  const nb::gil_scoped_release release;
  Gate& only = gate();
  std::unique_lock lock(only.mutex);
  only.changed.wait(lock, [&] { return !only.forking; });
  only.forking = true;
  only.changed.wait(lock, [&] { return only.inside_short == own_short; });
}

void after_in_parent() {
  Gate& only = gate();
  {
    const std::lock_guard lock(only.mutex);
    only.forking = false;
  }
  only.changed.notify_all();
}

void after_in_child() {
  Gate& only = gate();
  child_of_long_call = child_of_long_call || only.inside_long > own_long;
  // The locks are as the parent's threads left them.
  new (&only) Gate;
  only.inside_short = own_short;
  only.inside_long = own_long;
  forget_calls_of_other_threads();
}

}  // namespace

InsideLibrary::InsideLibrary(CallLength length) : length_(length) {
  Gate& only = gate();
  std::unique_lock lock(only.mutex);
  const bool is_within = own_short + own_long > 0;
  only.changed.wait(lock, [&] { return !only.forking || is_within; });
  ++(length_ == CallLength::Short ? only.inside_short : only.inside_long);
  ++(length_ == CallLength::Short ? own_short : own_long);
}

InsideLibrary::~InsideLibrary() {
  Gate& only = gate();
  {
    const std::lock_guard lock(only.mutex);
    --(length_ == CallLength::Short ? only.inside_short : only.inside_long);
  }
  --(length_ == CallLength::Short ? own_short : own_long);
  only.changed.notify_all();
}

void check_forked_child() {
  if (child_of_long_call)
    raise({Code::Refused,
           "this process was forked while another thread measured or fitted, so it could hang; "
           "fork before that, or start processes with multiprocessing's method 'spawn'"});
}

void register_fork_hooks() {
  nb::module_::import_("os").attr("register_at_fork")(
      "before"_a = nb::cpp_function(before_fork),
      "after_in_parent"_a = nb::cpp_function(after_in_parent),
      "after_in_child"_a = nb::cpp_function(after_in_child));
}

}  // namespace oplat::python
