// SPDX-License-Identifier: Apache-2.0
/// The columns that a text report has, carried by the stream that it is written to: tables deep
/// inside a document fit themselves without every function in between knowing of it.
#pragma once

#include <cstddef>
#include <ostream>

namespace oplat::report {

/// 0, which every stream has at first: as many as it takes.
void set_text_width(std::ostream& out, std::size_t columns);
std::size_t text_width(std::ostream& out);

}  // namespace oplat::report
