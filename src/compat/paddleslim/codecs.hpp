// SPDX-License-Identifier: Apache-2.0
/// The table formats of PaddleSlim and Paddle-Lite. Each lives as long as the process.
#pragma once

#include <string_view>

#include "table/codec.hpp"

namespace oplat::compat::paddleslim {

/// `paddleslim`: pickled latency tables.
const table::TableCodec& pickle_codec();
/// `paddle-evaluator`: the text tables of TableLatencyEvaluator.
const table::TableCodec& evaluator_codec();
/// `paddle-lookup`: latency_lookup_table.txt of Paddle-Lite's operator benchmarks.
const table::TableCodec& lookup_codec();
/// `paddle-lite-profile`: logs of Paddle-Lite's profiler.
const table::TableCodec& profile_codec();
/// The setting of the last three: fp32 if `precision` is empty. Code::Usage for a word that they do
/// not have.
Result<table::Setting> paddle_setting(std::string_view precision);

}  // namespace oplat::compat::paddleslim
