// SPDX-License-Identifier: Apache-2.0
/// Shapes seen against shapes said.
#include "runtimes/onnxruntime/result_shape.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

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
  if (said == nullptr || !said->shape.ranked || fits(said->shape, found)) return std::nullopt;
  std::vector<std::string> dims;
  for (const ir::Dim& dim : said->shape.dims) dims.push_back(dim ? std::to_string(*dim) : "?");
  return fmt::format(
      "the result of {} has shape [{}], the key says [{}]: no values could be made for its "
      "operands "
      "that do the key's work",
      base::printable(key.op), fmt::join(found, ","), base::join(dims, ","));
}

}  // namespace oplat::runtimes::onnxruntime
