// SPDX-License-Identifier: Apache-2.0
/// What oplat.compat asks: predictions as other systems make them, of their own files.
#pragma once

#include <nanobind/nanobind.h>

namespace oplat::python {

void bind_compat(nanobind::module_& module);

}  // namespace oplat::python
