// SPDX-License-Identifier: Apache-2.0
/// Which blobs come from outside a net, and what they are: inputs, or parameters.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/caffe2/net.hpp"
#include "ir/dtype.hpp"

namespace oplat::formats::caffe2 {

/// How the operators of a net read a blob that comes from outside.
struct Use {
  bool only_parameter = true;        ///< as a filter, bias or the like
  bool only_first = true;            ///< as operand 0
  ir::Dtype dtype = ir::Dtype::F32;  ///< what its first reader expects
};

struct Uses {
  std::map<std::string, Use> from_outside;
  /// the same blobs: those that the net lists, then in order of reading
  std::vector<std::string> order;
};

/// Code::Input if an operator reads what nothing before it writes, or has no type, or writes one
/// blob twice.
Result<Uses> uses_of(const std::string& file, const wire::Net& net, const Companions& companions);

/// "model.pb: operator 3 (Int8Conv)"
std::string place(const std::string& file, const wire::Net& net, int op);

}  // namespace oplat::formats::caffe2
