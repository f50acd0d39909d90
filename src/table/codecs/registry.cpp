// SPDX-License-Identifier: Apache-2.0
/// The list of foreign table formats.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "table/codecs/codecs.hpp"

namespace oplat::table {
namespace {

struct Entry {
  std::string_view name;
  std::string_view what;  ///< for help texts
  std::unique_ptr<TableCodec> (*make)();
  std::optional<std::string> (*device_of_file)(std::string_view file_name) = nullptr;
  bool may_name_device = false;
};
constexpr std::array kCodecs = {
    Entry{"lut", "JSON Lines of mobile-vision's runtime_lut", make_lut_codec, nullptr, true},
    Entry{"paddle-evaluator", "text table of PaddleSlim's TableLatencyEvaluator",
          make_paddle_evaluator_codec, nullptr, true},
    Entry{"paddle-lite-profile", "log of Paddle-Lite's profiler", make_paddle_profile_codec,
          nullptr, true},
    Entry{"paddle-lookup", "latency_lookup_table.txt of Paddle-Lite", make_paddle_lookup_codec,
          nullptr, true},
    Entry{"paddleslim", "pickled table of PaddleSlim", make_paddleslim_codec,
          device_of_paddleslim_file},
    Entry{"tinynas", "latency library of TinyNAS's op_profiler", make_tinynas_codec}};

}  // namespace

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kCodecs) names.emplace_back(entry.name);
  return names;
}

std::string codec_list() {
  std::vector<std::string> lines;
  for (const Entry& entry : kCodecs)
    lines.push_back(fmt::format("{} ({})", entry.name, entry.what));
  return base::join(lines, ", ");
}

Result<std::unique_ptr<TableCodec>> make_codec(std::string_view name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == name) return entry.make();
  }
  return fail(Code::Usage, "'{}' is no table format that oplat knows; it knows {}",
              base::printable(name), base::join(codec_names(), ", "));
}

std::optional<std::string> device_of_file(std::string_view format, std::string_view file_name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == format && entry.device_of_file != nullptr)
      return entry.device_of_file(file_name);
  }
  return std::nullopt;
}

bool may_name_device(std::string_view format) {
  return std::any_of(kCodecs.begin(), kCodecs.end(), [&](const Entry& entry) {
    return entry.name == format && entry.may_name_device;
  });
}

}  // namespace oplat::table
