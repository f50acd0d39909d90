// SPDX-License-Identifier: Apache-2.0
/// Caffe2 nets, binary and text: what is read has keys, and what has a key can be asked for.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/caffe2.hpp"
#include "ir/key.hpp"

namespace {

using namespace oplat;

void check_error(const Error& error) {
  if ((error.code != Code::Input && error.code != Code::Usage) || error.message.empty())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source =
      base::Source::from_bytes("fuzz.pb", std::string(reinterpret_cast<const char*>(data), size));
  const formats::ShapeOptions options{.shapes = {{"data", {1, 3, 32, 32}}}, .batch = {}};
  const int surety = formats::caffe2::reader().probe(source.bytes());
  if (surety < 0 || surety > 100) std::abort();
  const auto graph = formats::caffe2::reader().read(source, options);
  if (!graph) check_error(graph.error());
  const auto queries = formats::caffe2::queries(source, options);
  if (!queries) {
    check_error(queries.error());
    return 0;
  }
  if (!graph || queries->size() != graph->nodes.size()) std::abort();
  for (const formats::caffe2::LutQuery& query : *queries) {
    const auto key = formats::caffe2::key_of(query);
    if (!key) {
      check_error(key.error());
      continue;
    }
    const auto read = ir::parse(ir::print(*key));
    if (!read || *read != *key) std::abort();
    const auto back = formats::caffe2::lut_query_of(*key);
    if (!back || back->op_type != query.op_type) std::abort();
  }
  return 0;
}
