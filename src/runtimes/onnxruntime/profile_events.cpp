// SPDX-License-Identifier: Apache-2.0
/// Reading the profile.
#include "runtimes/onnxruntime/profile_events.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

using nlohmann::json;

std::optional<ir::Dtype> dtype_of(const std::string& name) {
  using ir::Dtype;
  static const std::unordered_map<std::string, Dtype> kNames = {
      {"float", Dtype::F32},
      {"double", Dtype::F64},
      {"float16", Dtype::F16},
      {"bfloat16", Dtype::BF16},
      {"int64", Dtype::I64},
      {"int32", Dtype::I32},
      {"int16", Dtype::I16},
      {"int8", Dtype::I8},
      {"uint64", Dtype::U64},
      {"uint32", Dtype::U32},
      {"uint16", Dtype::U16},
      {"uint8", Dtype::U8},
      {"bool", Dtype::Bool},
      {"string", Dtype::String},
      {"Int4x2", Dtype::I4},
      {"UInt4x2", Dtype::U4},
      {"Float8E4M3FN", Dtype::F8E4M3FN},
      {"Float8E4M3FNUZ", Dtype::F8E4M3FNUZ},
      {"Float8E5M2", Dtype::F8E5M2},
      {"Float8E5M2FNUZ", Dtype::F8E5M2FNUZ}};
  const auto at = kNames.find(name);
  if (at == kNames.end()) return std::nullopt;
  return at->second;
}

/// [{"float": [1, 3, 224, 224]}, ...]
std::vector<plan::SeenTensor> tensors_of(const json& args, const char* field) {
  std::vector<plan::SeenTensor> tensors;
  const auto at = args.find(field);
  if (at == args.end() || !at->is_array()) return tensors;
  for (const json& entry : *at) {
    plan::SeenTensor tensor;
    if (entry.is_object() && !entry.empty() && entry.begin().value().is_array()) {
      tensor.dtype = dtype_of(entry.begin().key());
      for (const json& dim : entry.begin().value()) {
        tensor.shape.dims.push_back(dim.is_number_integer() && dim.get<std::int64_t>() >= 0
                                        ? ir::Dim(dim.get<std::int64_t>())
                                        : ir::Dim());
      }
    } else {
      tensor.shape.ranked = false;
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

struct Event {
  std::int64_t begin = 0;
  plan::NodeRun run;
};

/// Calls `visit(node, event)` for each execution of a node.
template <class Visit>
Status each_execution(const std::string& text, const Visit& visit) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_array())
    return fail(Code::Runtime, "onnxruntime: its profile is not a list of events");
  constexpr std::string_view kSuffix = "_kernel_time";
  for (const json& event : document) {
    if (!event.is_object() || event.value("cat", "") != "Node") continue;
    std::string name = event.value("name", "");
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - kSuffix.size());
    visit(std::move(name), event);
  }
  return {};
}

}  // namespace

Result<std::vector<plan::NodeRun>> parse_profile(const std::string& text) {
  std::vector<Event> events;
  OPLAT_CHECK(each_execution(text, [&](std::string name, const json& event) {
    const json args = event.value("args", json::object());
    events.push_back({event.value("ts", std::int64_t{0}),
                      {std::move(name),
                       tensors_of(args, "input_type_shape"),
                       tensors_of(args, "output_type_shape"),
                       {},
                       events.size() + 1}});
  }));
  // Events are written when a node ends, so a control node comes behind its body; order by
  // beginning.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin < b.begin; });
  std::vector<plan::NodeRun> runs;
  for (Event& event : events) runs.push_back(std::move(event.run));
  return runs;
}

Result<std::vector<NodeDuration>> parse_durations(const std::string& text) {
  std::vector<NodeDuration> durations;
  OPLAT_CHECK(each_execution(text, [&](std::string name, const json& event) {
    const auto us = event.value("dur", std::int64_t{0});
    durations.push_back({std::move(name), static_cast<double>(std::max<std::int64_t>(0, us))});
  }));
  return durations;
}

}  // namespace oplat::runtimes::onnxruntime
