// SPDX-License-Identifier: Apache-2.0
/// TinyNAS's line formats: device logs become libraries that can be read again, row for row; lists
/// and spaces are read or refused.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/tinynas/op_profiler.hpp"

namespace {

using namespace oplat::compat::tinynas;
using oplat::Code;

constexpr double kMaxCombinations = 10'000;

void collect(const oplat::base::Source& source) {
  const CollectedLog log = collect_log(source);
  const auto rows = read_conv_list(oplat::base::Source::from_bytes("library", log.library));
  if (!rows || rows->size() != log.samples) std::abort();
  std::size_t failed = 0;
  for (const ListedConv& row : *rows) {
    if (!row.ms) std::abort();
    failed += *row.ms == -1 ? 1U : 0U;
  }
  if (failed != log.failed) std::abort();
}

void read_list(const oplat::base::Source& source) {
  const auto list = read_conv_list(source);
  if (!list && list.error().code != Code::Input) std::abort();
}

void read_space(const oplat::base::Source& source) {
  const auto space = read_sampling_space(source);
  if (!space) {
    if (space.error().code != Code::Input) std::abort();
    return;
  }
  double combinations =
      static_cast<double>(space->sizes + 1) * static_cast<double>(space->ratio.size() + 1);
  for (const auto* axis : {&space->batch, &space->fused, &space->kernel, &space->out_c,
                           &space->stride, &space->type}) {
    combinations *= static_cast<double>(axis->size());
  }
  if (combinations > kMaxCombinations) return;
  const auto samples = sample(*space, {1});
  if (!samples || static_cast<double>(samples->size()) > combinations * 2) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = oplat::base::Source::from_bytes(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  collect(source);
  read_list(source);
  read_space(source);
  return 0;
}
