// SPDX-License-Identifier: Apache-2.0
/// What core code asks of Caffe2's keys: the work of their operators.
#include "compat/mobile_vision/domain.hpp"

#include "compat/mobile_vision/operators.hpp"

namespace oplat::compat::mobile_vision {
namespace {

class Caffe2Domain final : public ir::KeyDomain {
 public:
  std::string_view name() const override { return "caffe2"; }
  std::vector<ir::OperatorInfo> operators() const override { return caffe2_operators(); }
};

}  // namespace

const ir::KeyDomain& caffe2_domain() {
  static const Caffe2Domain domain;
  return domain;
}

}  // namespace oplat::compat::mobile_vision
