// SPDX-License-Identifier: Apache-2.0
/// oplat._core: the extension module behind the package `oplat` (docs/adr/0045-python-package.md).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "oplat/version.hpp"
#include "python/columns.hpp"
#include "python/compat.hpp"
#include "python/documents.hpp"
#include "python/exit_gate.hpp"
#include "python/fork_gate.hpp"
#include "python/measure.hpp"
#include "python/mmt.hpp"
#include "python/surveys.hpp"
#include "python/table.hpp"
#include "python/values.hpp"

NB_MODULE(_core, module) {
  namespace python = oplat::python;
  module.doc() = "Use the package `oplat`, which has all of this.";
#ifndef OPLAT_SANITIZED
  // At the interpreter's end nanobind would list what daemon threads and the like still hold.
  nanobind::set_leak_warnings(false);
#endif
  module.attr("__version__") = std::string(oplat::version());
  module.attr("__commit__") = std::string(oplat::commit());
  python::register_fork_hooks();
  python::register_exit_hook();
  python::bind_values(module);
  python::bind_columns(module);
  python::bind_documents(module);
  python::bind_surveys(module);
  python::bind_table(module);
  python::bind_measure(module);
  python::bind_mmt(module);
  python::bind_compat(module);
  module.def("program", python::program, "Path of the program `oplat`, which runs runtimes.");
}
