// SPDX-License-Identifier: Apache-2.0
/// TinyNAS's network structures: what is read is counted by both rules, and every counted
/// convolution can be said.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/tinynas/op_profiler.hpp"

namespace {

using namespace oplat::compat::tinynas;
using oplat::Code;

/// A line each, which the reader of lists takes back.
bool reads_back(const std::vector<NamedConv>& convs) {
  std::string lines;
  for (const NamedConv& one : convs) lines += tuple_text(one.conv) + "\n";
  const auto list = read_conv_list(oplat::base::Source::from_bytes("list", lines));
  if (!list || list->size() != convs.size()) return false;
  for (std::size_t i = 0; i < convs.size(); ++i) {
    if ((*list)[i].conv != convs[i].conv) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto structure =
      read_structure(oplat::base::Source::from_bytes("fuzz", std::string(bytes)));
  if (!structure) {
    if (structure.error().code != Code::Input || structure.error().message.empty()) std::abort();
    return 0;
  }
  for (const std::int64_t resolution : {1, 7, 224}) {
    const auto original = convolutions(*structure, resolution, Rules::Original);
    if (!original && original.error().code != Code::Input) std::abort();
    const auto corrected = convolutions(*structure, resolution, Rules::Corrected);
    if (!corrected && corrected.error().code != Code::Input) std::abort();
    if (corrected && !reads_back(*corrected)) std::abort();
  }
  return 0;
}
