// SPDX-License-Identifier: Apache-2.0
/// Blocks of search spaces in Caffe2's operators, and kernels as runtime_lut asks for them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "formats/caffe2/lut_query.hpp"
#include "search/family.hpp"

namespace oplat::compat::mobile_vision {

/// "caffe2-int8": Caffe2's Int8 operators, NHWC, activation and bias within the convolution.
const search::Family& int8_family();
/// "caffe2-fp32": Caffe2's operators, NCHW, Relu by itself.
const search::Family& fp32_family();

/// A kernel of a space as runtime_lut asks for it, in the usual spelling. Code::Internal if the key
/// is of no such space.
Result<formats::caffe2::LutQuery> query_of(const std::string& key);

}  // namespace oplat::compat::mobile_vision
