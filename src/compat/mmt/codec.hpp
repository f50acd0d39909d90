// SPDX-License-Identifier: Apache-2.0
/// Latency tables of MMT (mnn-meter): meta_latency.pkl.
#pragma once

#include "table/codec.hpp"

namespace oplat::compat::mmt {

/// Rows are whole PyTorch modules, `torch:module{repr="..."}(f32[input shape])->()`: the file names
/// neither class nor result. Each row keeps the attributes of its ops_meta as JSON.
const table::TableCodec& codec();

}  // namespace oplat::compat::mmt
