// SPDX-License-Identifier: Apache-2.0
#include "python/events.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "base/message.hpp"
#include "base/text.hpp"

namespace oplat::python {

constexpr std::chrono::milliseconds kBetweenSignalChecks{20};

PythonEvents::PythonEvents(nb::handle progress) : progress_(nb::borrow(progress)) {
  if (!progress.is_none() && PyCallable_Check(progress.ptr()) == 0)
    throw nb::type_error(fmt::format("progress: expected a callable or None, found {}",
                                     Py_TYPE(progress.ptr())->tp_name)
                             .c_str());
}

void PythonEvents::progress(const app::Progress& progress) {
  if (progress_.is_none() || raised_ || is_ending()) return;
  const nb::gil_scoped_acquire acquire;
  try {
    progress_(Progress{progress.done, progress.total, progress.eta_s,
                       base::printable(progress.what), base::printable(progress.item, 400)});
  } catch (const nb::python_error&) {
    raised_ = std::current_exception();
  }
}

void PythonEvents::warn(std::string_view text) {
  warnings.push_back(base::printable_message(text));
}

void PythonEvents::note(std::string_view text) { notes.push_back(base::printable_message(text)); }

bool PythonEvents::cancelled() {
  if (raised_ || is_ending()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kBetweenSignalChecks) return false;
  asked_ = now;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  raised_ = std::make_exception_ptr(nb::python_error());
  return true;
}

}  // namespace oplat::python
