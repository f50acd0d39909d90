// SPDX-License-Identifier: Apache-2.0
/// What the package oplat.mmt asks of the library.
#pragma once

#include <nanobind/nanobind.h>

namespace oplat::python {

/// `_core.mmt_space`, `mmt_read`, `mmt_write`: JSON texts, which oplat.mmt makes objects of.
void bind_mmt(nanobind::module_& module);

}  // namespace oplat::python
