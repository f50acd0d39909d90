// SPDX-License-Identifier: Apache-2.0
/// The table format of TinyNAS.
#pragma once

#include "table/codec.hpp"

namespace oplat::compat::tinynas {

/// `tinynas`: the latency libraries of op_profiler. Lives as long as the process.
const table::TableCodec& library_codec();

}  // namespace oplat::compat::tinynas
