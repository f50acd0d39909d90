// SPDX-License-Identifier: Apache-2.0
/// Errors of the library as the exceptions of python/oplat/errors.py.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::python {

/// Throws the exception of the error's code, with its message made printable. Call it with the GIL.
[[noreturn]] void raise(const Error& error);
/// Throws MissingKernels, whose `keys` are these.
[[noreturn]] void raise_missing(const Error& error, const std::vector<std::string>& keys);

/// The value of a result, or raise(). Call it with the GIL.
template <class T>
T value_of(Result<T>&& result) {
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void check(const Status& status) {
  if (!status) raise(status.error());
}

}  // namespace oplat::python
