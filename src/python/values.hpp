// SPDX-License-Identifier: Apache-2.0
/// Values of the installed API in Python: Key, Tensor, Device, Setting, Context, Timing,
/// KernelTime, Progress.
#pragma once

#include <nanobind/nanobind.h>

namespace oplat::python {

void bind_values(nanobind::module_& module);

}  // namespace oplat::python
