// SPDX-License-Identifier: Apache-2.0
/// Calls into the library by threads that give up the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "python/exit_gate.hpp"
#include "python/fork_gate.hpp"

namespace oplat::python {

/// Runs `call` without the GIL, inside the library.
template <class Call>
auto without_gil(CallLength length, const Call& call) {
  const CallWithoutGil counted;
  const nanobind::gil_scoped_release release;
  const InsideLibrary inside(length);
  return call();
}

}  // namespace oplat::python
