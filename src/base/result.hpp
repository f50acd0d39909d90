// SPDX-License-Identifier: Apache-2.0
/// What a function returns that can meet bad input or a bad environment. The only file that names
/// tl::expected.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace oplat {

/// What the caller can do about it; the command line maps each to one exit code
/// (cli/exit_code.hpp).
enum class Code {
  Usage,        ///< the question itself is off: a flag, a shape, several settings fit
  Input,        ///< a file is missing, unreadable, or not what it claims to be
  Missing,      ///< kernels without an estimate
  Runtime,      ///< a runtime is unknown, missing, of a wrong version, or every kernel failed in it
  Refused,      ///< newer schema, locked, read-only, setting mismatch
  GateNotMet,   ///< a check or gate was not met
  Write,        ///< could not write: disk full, I/O
  Interrupted,  ///< the user asked to stop
  Internal,     ///< a defect of oplat
};

/// A failure with a message for people: lower case, no full stop, naming file, place, what was
/// found and the way out.
struct Error {
  Code code = Code::Internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes the error half of any Result: `return fail(Code::Input, "{}: empty file", path);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}
/// Hands on the error of another Result.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
/// Hands on an error with the place where it happened put before its message.
[[nodiscard]] inline tl::unexpected<Error> fail_in(std::string_view place, Error error) {
  error.message = fmt::format("{}: {}", place, error.message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace oplat

/// Binds `name` to the value of a Result expression or returns its error from the enclosing
/// function.
#define OPLAT_TRY(name, expression)                                           \
  auto name##_result = (expression);                                          \
  if (!name##_result) return ::oplat::fail(std::move(name##_result).error()); \
  auto& name = *name##_result
/// Returns the error of a Status expression from the enclosing function, if it has one.
#define OPLAT_CHECK(expression)                                                                  \
  do {                                                                                           \
    if (auto status_ = (expression); !status_) return ::oplat::fail(std::move(status_).error()); \
  } while (false)
