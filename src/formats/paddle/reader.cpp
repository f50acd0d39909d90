// SPDX-License-Identifier: Apache-2.0
/// Paddle behind the FormatReader seam.
#include "formats/paddle.hpp"

#include <algorithm>

#include "formats/paddle/builder.hpp"

namespace oplat::formats::paddle {
namespace {

class PaddleReader final : public FormatReader {
 public:
  std::string_view name() const override { return "paddle"; }

  int probe(std::string_view bytes) const override {
    return std::max(probe_desc(bytes), probe_pir(bytes));
  }

  Result<ir::Graph> read(const base::Source& source, const ShapeOptions& options) const override {
    OPLAT_TRY(program, parse_program(source.name(), source.bytes()));
    OPLAT_CHECK(check_parameters(source, program));
    OPLAT_TRY(inputs, inputs_of(source.name(), program, options));
    return build(source.name(), program, inputs);
  }

  Result<std::vector<std::string>> siblings(const base::Source& source) const override {
    OPLAT_TRY(program, parse_program(source.name(), source.bytes()));
    return parameter_files(source, program);
  }

  Result<ShapeOptions> resolve(const base::Source& source,
                               const ShapeOptions& options) const override {
    OPLAT_TRY(program, parse_program(source.name(), source.bytes()));
    OPLAT_CHECK(check_parameters(source, program));
    OPLAT_TRY(inputs, inputs_of(source.name(), program, options));
    ShapeOptions resolved;
    for (Input& input : inputs) {
      if (input.dims != input.declared) resolved.shapes[input.name] = std::move(input.dims);
    }
    return resolved;
  }
};

}  // namespace

const FormatReader& reader() {
  static const PaddleReader kReader;
  return kReader;
}

}  // namespace oplat::formats::paddle
