// SPDX-License-Identifier: Apache-2.0
/// Shapes seen against shapes said.
#include "runtimes/onnxruntime/result_shape.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

/// Their results are as long as what they find.
constexpr std::array<std::string_view, 4> kFinders = {"Compress", "NonMaxSuppression", "NonZero",
                                                      "Unique"};

/// Integers that are no constants may be sizes, steps or choices.
bool data_decides(const ir::Key& key) {
  if (std::find(kFinders.begin(), kFinders.end(), key.op) != kFinders.end()) return true;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const ir::TensorEntry* operand = key.operand(i);
    if (operand != nullptr && !operand->constant && !ir::is_float(operand->dtype)) return true;
  }
  return false;
}

/// That of the first result that there is: kernel models show no other.
const ir::TensorEntry* first_result(const ir::Key& key) {
  for (std::size_t i = 0; i < key.results.size(); ++i) {
    if (!std::holds_alternative<ir::AbsentEntry>(key.results[i])) return key.result(i);
  }
  return nullptr;
}

bool fits(const ir::Shape& said, std::span<const std::int64_t> found) {
  return std::equal(said.dims.begin(), said.dims.end(), found.begin(), found.end(),
                    [](const ir::Dim& dim, std::int64_t size) { return !dim || *dim == size; });
}

}  // namespace

std::optional<std::string> wrong_result(const ir::Key& key, std::span<const std::int64_t> found) {
  const ir::TensorEntry* said = first_result(key);
  if (said == nullptr || !said->shape.ranked || data_decides(key) || fits(said->shape, found))
    return std::nullopt;
  return fmt::format("the result of {} has shape [{}], the key says another",
                     base::printable(key.op), fmt::join(found, ","));
}

}  // namespace oplat::runtimes::onnxruntime
