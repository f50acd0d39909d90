// SPDX-License-Identifier: Apache-2.0
/// The codecs, one a foreign format; src/table/codecs/registry.cpp lists them.
#pragma once

#include <memory>

#include "table/codec.hpp"

namespace oplat::table {

/// The latency libraries of TinyNAS's op_profiler.
std::unique_ptr<TableCodec> make_tinynas_codec();
/// The look-up tables of mobile-vision's runtime_lut.
std::unique_ptr<TableCodec> make_lut_codec();
/// The pickled latency tables of PaddleSlim.
std::unique_ptr<TableCodec> make_paddleslim_codec();
/// The text tables of PaddleSlim's TableLatencyEvaluator.
std::unique_ptr<TableCodec> make_paddle_evaluator_codec();
/// latency_lookup_table.txt of Paddle-Lite's operator benchmarks.
std::unique_ptr<TableCodec> make_paddle_lookup_codec();
/// Logs of Paddle-Lite's profiler.
std::unique_ptr<TableCodec> make_paddle_profile_codec();
/// The setting of those three: fp32 where `precision` is empty. Code::Usage for a word that they do
/// not have.
Result<Setting> paddle_setting(std::string_view precision);
/// "RK3288" of RK3288_threads_4_power_mode_0.pkl.
std::optional<std::string> device_of_paddleslim_file(std::string_view file_name);

}  // namespace oplat::table
