// SPDX-License-Identifier: Apache-2.0
/// What core code asks of a library's convolutions.
#include "compat/tinynas/domain.hpp"

#include "compat/tinynas/conv_tuple.hpp"
#include "compat/tinynas/library.hpp"
#include "ir/operators/convolution_description.hpp"

namespace oplat::compat::tinynas {
namespace {

std::optional<ir::Description> describe_library_conv(const ir::Key& key) {
  return ir::ops::describe_convolution(key, 1, false);
}

class ConvDomain final : public ir::KeyDomain {
 public:
  std::string_view name() const override { return "tinynas"; }
  std::vector<ir::OperatorInfo> operators() const override {
    // A residual that is added is operand 2 (ConvTuple::fused).
    return {{.domain = name(),
             .op = "Conv",
             .overwritable = {2},
             .flops = ir::ops::flops_per_filter<1>,
             .describe = describe_library_conv}};
  }
  /// The tuple as a library writes it, "{Regular,1,16,...}": splits agree with those made of files.
  std::optional<std::string> split_text(const ir::Key& key, bool without_residual) const override {
    auto conv = conv_tuple_of(key);
    if (!conv) return std::nullopt;
    if (without_residual) conv->fused = false;
    const std::string line = library_line(*conv, std::nullopt);
    return line.substr(0, line.find(' '));
  }
};

}  // namespace

const ir::KeyDomain& conv_domain() {
  static const ConvDomain domain;
  return domain;
}

}  // namespace oplat::compat::tinynas
