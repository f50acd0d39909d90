// SPDX-License-Identifier: Apache-2.0
/// Events of a long call that was made from Python: progress goes to a callable, Ctrl-C and an
/// exception of the callable stop the call, warnings and notes are kept.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/events.hpp"
#include "python/errors.hpp"
#include "python/fork_gate.hpp"
#include "python/without_gil.hpp"

namespace oplat::python {

namespace nb = nanobind;

/// What a progress callable gets.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::optional<double> eta_s;
  std::string what;
  std::string item;
};

/// Made, asked and destroyed with the GIL; what use cases call, they call without it.
class PythonEvents final : public app::Events {
 public:
  PythonEvents() : progress_(nb::none()) {}
  /// `progress` is a callable or None. Throws TypeError for anything else.
  explicit PythonEvents(nb::handle progress);
  void progress(const app::Progress& progress) override;
  void warn(std::string_view text) override;
  void note(std::string_view text) override;
  /// Whether a signal's handler or the callable raised. Asks Python at most 50 times a second, so
  /// that a call in another thread keeps the GIL.
  [[nodiscard]] bool cancelled() override;

  /// Runs `call` without the GIL; returns its value, or throws what the callable or a signal's
  /// handler raised, else the error of the result. At the interpreter's end, SystemExit.
  template <class Call>
  auto run(const Call& call, CallLength length = CallLength::Short) {
    check_forked_child();
    auto result = without_gil(length, call);
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    check_not_ending();
    return value_of(std::move(result));
  }

  std::vector<std::string> warnings;
  std::vector<std::string> notes;

 private:
  nb::object progress_;
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point asked_ = {};
};

}  // namespace oplat::python
