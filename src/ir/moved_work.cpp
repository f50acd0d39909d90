// SPDX-License-Identifier: Apache-2.0
/// Operators that pick.
#include "ir/moved_work.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/catalogue.hpp"

namespace oplat::ir {
namespace {

constexpr std::array<std::string_view, 8> kPicking = {"Gather",
                                                      "GatherElements",
                                                      "GatherND",
                                                      "Slice",
                                                      "Shape",
                                                      "Size",
                                                      "GatherBlockQuantized",
                                                      "EmbedLayerNormalization"};

}  // namespace

bool picks(std::string_view op) {
  return std::find(kPicking.begin(), kPicking.end(), op) != kPicking.end();
}

Work moved_work(const Key& key, const Catalogue& catalogue) {
  const OperatorInfo* info = catalogue.find(key.domain, key.op);
  Work moved = work(key, info);
  if (picks(key.op)) {
    moved.bytes_in = std::min(moved.bytes_in, moved.bytes_out);
    moved.bytes_weights = std::min(moved.bytes_weights, moved.bytes_out);
  }
  // Of a half, or of less, it writes zeros; how much of the rest it reads is in its operand's
  // value.
  if (key.op == "Trilu") moved.bytes_in = 0;
  if (info != nullptr && info->hands_on) moved.bytes_out = 0;
  return moved;
}

}  // namespace oplat::ir
