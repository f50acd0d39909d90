// SPDX-License-Identifier: Apache-2.0
#include "python/exit_gate.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace oplat::python {

namespace nb = nanobind;

namespace {

/// What a campaign needs to stop its worker and to store what it has.
constexpr std::chrono::seconds kMaxWaitAtExit{60};
constexpr std::chrono::milliseconds kBetweenLooksAtExit{5};
/// Guarded by the GIL.
int calls_without_gil = 0;
thread_local int own_calls_without_gil = 0;
std::atomic<bool> ending = false;
std::thread::id ending_thread;  ///< set before `ending`

void before_exit() {
  ending_thread = std::this_thread::get_id();
  ending = true;
  const auto until = std::chrono::steady_clock::now() + kMaxWaitAtExit;
  while (calls_without_gil > own_calls_without_gil && std::chrono::steady_clock::now() < until) {
    const nb::gil_scoped_release release;
    std::this_thread::sleep_for(kBetweenLooksAtExit);
  }
}

}  // namespace

CallWithoutGil::CallWithoutGil() {
  check_not_ending();
  ++calls_without_gil;
  ++own_calls_without_gil;
}

CallWithoutGil::~CallWithoutGil() {
  --calls_without_gil;
  --own_calls_without_gil;
}

bool is_ending() { return ending && std::this_thread::get_id() != ending_thread; }

void check_not_ending() {
  if (!is_ending()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

void forget_calls_of_other_threads() { calls_without_gil = own_calls_without_gil; }

void register_exit_hook() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(before_exit));
}

}  // namespace oplat::python
