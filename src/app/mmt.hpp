// SPDX-License-Identifier: Apache-2.0
/// Use cases of MMT's users: its operator spaces, and its pickles as data.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace oplat::app {

/// Whether a file is an operator space of MMT (ops.yaml) rather than a search space of oplat. False
/// for what cannot be read.
bool is_mmt_space(const std::string& file);

struct MmtSpaceResult {
  std::vector<std::string> operators;  ///< "torch.nn.Conv2d(in_channels=3) [1,3,224,224]"
  /// The same as JSON: [{"package","class","parameters" (null: none),"input_shape","line"}, ...]
  std::string json;
  std::vector<std::string> left_out;  ///< what MMT skips, with line and reason
};

/// All operators of a space. Code::Input names file, line and what is wrong.
Result<MmtSpaceResult> expand_mmt_space(const std::string& file);

/// The attributes of the operators of a meta.pkl or meta_latency.pkl, as a JSON list of objects. No
/// code of the pickle runs. Code::Input with file and offset.
Result<std::string> read_mmt_operators(const std::string& file);

/// A pickle of operators from such JSON, in place of what `file` holds. Code::Input if it is not
/// such a list, Code::Write.
Status write_mmt_operators(const std::string& file, const std::string& json);

}  // namespace oplat::app
