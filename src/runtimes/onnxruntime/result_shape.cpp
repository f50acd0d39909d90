// SPDX-License-Identifier: Apache-2.0
/// Shapes seen against shapes said.
#include "runtimes/onnxruntime/result_shape.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

bool fits(const ir::Shape& said, std::span<const std::int64_t> found) {
  return std::equal(said.dims.begin(), said.dims.end(), found.begin(), found.end(),
                    [](const ir::Dim& dim, std::int64_t size) { return !dim || *dim == size; });
}

}  // namespace

std::vector<std::size_t> present_results(const ir::Key& key) {
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < key.results.size(); ++i)
    if (!std::holds_alternative<ir::AbsentEntry>(key.results[i])) present.push_back(i);
  return present;
}

std::optional<std::string> wrong_result(const ir::Key& key, std::size_t result,
                                        std::span<const std::int64_t> found) {
  const ir::TensorEntry* said = key.result(result);
  if (said == nullptr || !said->shape.ranked || fits(said->shape, found)) return std::nullopt;
  std::vector<std::string> dims;
  for (const ir::Dim& dim : said->shape.dims) dims.push_back(dim ? std::to_string(*dim) : "?");
  const std::string which = present_results(key).size() > 1 ? fmt::format("result {}", result)
                                                            : std::string("the result");
  return fmt::format(
      "{} of {} has shape [{}], the key says [{}]: no values could be made for its operands that "
      "do the key's work",
      which, base::printable(key.op), fmt::join(found, ","), base::join(dims, ","));
}

}  // namespace oplat::runtimes::onnxruntime
