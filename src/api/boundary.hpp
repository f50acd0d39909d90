// SPDX-License-Identifier: Apache-2.0
/// Errors on their way out of the library: their messages become printable.
#pragma once

#include <utility>

#include "base/message.hpp"

/// As OPLAT_TRY and OPLAT_CHECK.
#define OPLAT_API_TRY(name, expression)                                                     \
  auto name##_result = (expression);                                                        \
  if (!name##_result)                                                                       \
    return ::oplat::fail(::oplat::base::printable_error(std::move(name##_result).error())); \
  auto& name = *name##_result
#define OPLAT_API_CHECK(expression)                                                     \
  do {                                                                                  \
    if (auto status_ = (expression); !status_)                                          \
      return ::oplat::fail(::oplat::base::printable_error(std::move(status_).error())); \
  } while (false)
