// SPDX-License-Identifier: Apache-2.0
#include "python/errors.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/message.hpp"

namespace oplat::python {
namespace {

namespace nb = nanobind;

const char* class_of(Code code) {
  switch (code) {
    case Code::Usage:
      return "UsageError";
    case Code::Input:
      return "InputError";
    case Code::Missing:
      return "MissingPlan";
    case Code::Runtime:
      return "RuntimeUnavailable";
    case Code::Refused:
      return "Refused";
    case Code::Write:
      return "WriteError";
    case Code::Interrupted:
      return "Interrupted";
    case Code::GateNotMet:
    case Code::Internal:
      break;
  }
  return "InternalError";
}

[[noreturn]] void throw_instance(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

nb::object exception_class(const char* name) {
  return nb::module_::import_("oplat.errors").attr(name);
}

}  // namespace

void raise(const Error& error) {
  throw_instance(exception_class(class_of(error.code))(base::printable_message(error.message)));
}

void raise_missing(const Error& error, const std::vector<std::string>& keys) {
  throw_instance(
      exception_class("MissingKernels")(base::printable_message(error.message), nb::cast(keys)));
}

}  // namespace oplat::python
