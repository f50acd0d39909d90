// SPDX-License-Identifier: Apache-2.0
/// The codecs, one a foreign format; src/table/codecs/registry.cpp lists them.
#pragma once

#include <memory>

#include "oplat/table/codec.hpp"

namespace oplat::table {

/// The latency libraries of TinyNAS's op_profiler.
std::unique_ptr<TableCodec> make_tinynas_codec();
/// The look-up tables of mobile-vision's runtime_lut.
std::unique_ptr<TableCodec> make_lut_codec();
/// The pickled latency tables of PaddleSlim.
std::unique_ptr<TableCodec> make_paddleslim_codec();
/// "RK3288" of RK3288_threads_4_power_mode_0.pkl.
std::optional<std::string> device_of_paddleslim_file(std::string_view file_name);

}  // namespace oplat::table
