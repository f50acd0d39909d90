// SPDX-License-Identifier: Apache-2.0
/// The cost of a node, guessed.
///
/// A key of SplitToSequence or ZipMap cannot say what its sequence or map holds, so no kernel is
/// built from it and no row will ever answer. Leaving such a node out would be wrong by little and
/// silently; refusing the model, which is otherwise measured, helps nobody. So the node's dispatch
/// and the bytes that are known stand for it, with an interval that says how little is known.
#include "predict/node_overhead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/key.hpp"
#include "ir/onnx_domain.hpp"

namespace oplat::predict {
namespace {

// Start values, which no measurement backs yet: kNodeOverheadSd is as wide as it is for them.
/// Of a view: the smallest kernel where the table does not time it.
constexpr double kTypicalDispatchNs = 1000;
/// A tensor of a sequence is allocated and copied by one thread.
constexpr double kCopiedBytesPerNs = 4;
/// A map node is allocated for each value.
constexpr double kMapEntryNs = 60;
constexpr std::array<std::string_view, 3> kMapOperators = {"CastMap", "DictVectorizer", "ZipMap"};

}  // namespace

std::optional<estimate::Estimate> node_overhead(std::string_view text,
                                                const estimate::Estimate& dispatch) {
  if (text.find_first_of("?*") == std::string_view::npos) return std::nullopt;
  const auto key = ir::parse(text);
  if (!key || !ir::is_onnx_family(key->domain) || !ir::has_unknown(*key)) return std::nullopt;
  const bool maps =
      std::find(kMapOperators.begin(), kMapOperators.end(), key->op) != kMapOperators.end();
  bool opaque = false;
  double work_ns = 0;
  for (const auto* entries : {&key->operands, &key->results}) {
    for (const ir::Entry& entry : *entries) {
      const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      if (tensor == nullptr) continue;
      opaque |= !tensor->shape.ranked || tensor->dtype == ir::Dtype::Any;
      const auto elements = static_cast<double>(tensor->shape.elements().value_or(0));
      const double bytes = elements * ir::bits(tensor->dtype).value_or(0) / 8;
      if (tensor->shape.ranked)
        work_ns += maps ? elements * kMapEntryNs : bytes / kCopiedBytesPerNs;
    }
  }
  if (!opaque) return std::nullopt;
  const double node_ns = dispatch.median_ns > 0 ? dispatch.median_ns : kTypicalDispatchNs;
  estimate::Estimate estimate;
  estimate.median_ns = node_ns + work_ns;
  estimate.sd_log = kNodeOverheadSd;
  estimate.group = "node-overhead";
  estimate.source = estimate::Source::Roofline;
  estimate.tier = "node-overhead";
  estimate.why = fmt::format(
      "works on a sequence, map or optional value, which no kernel is built for: guessed as the "
      "dispatch of a node ({}) and {} for the tensors that the key states",
      dispatch.median_ns > 0 ? "measured" : "typical",
      maps ? fmt::format("{:.0f} ns an element", kMapEntryNs) : "the copy");
  return estimate;
}

}  // namespace oplat::predict
