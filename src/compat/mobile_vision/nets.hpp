// SPDX-License-Identifier: Apache-2.0
/// Caffe2 nets as runtime_lut takes them: folders, and dimensions of inputs as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/caffe2/lut_query.hpp"
#include "formats/format_reader.hpp"

namespace oplat::compat::mobile_vision {

struct LutNet {
  std::string path;  ///< as given
  std::vector<formats::caffe2::LutQuery> queries;
  std::vector<std::string> warnings;  ///< files that Git LFS did not fetch and others stood in for
};

/// {"data": [1, 3, 224, 224]}. Code::Usage says what is wrong with the flag's text.
Result<formats::ShapeOptions> parse_input_dims(const std::string& text);
/// Folders with commas between, or files. Code::Usage if one is empty.
Result<std::vector<std::string>> parse_model_paths(const std::vector<std::string>& texts);
/// What each net asks of a table. `path`: a folder with model.pb (and model_init.pb) or model.pbtxt
/// (and model_def.svg), or one of those files. Of a folder, files that hold pointers of Git LFS are
/// passed over, with a warning, if others say the same.
Result<LutNet> open_net(const std::string& path, const formats::ShapeOptions& shapes);

/// Code::Input if the file holds a pointer of Git LFS in place of its content.
Status refuse_lfs_pointer(std::string_view bytes, std::string_view shown);

}  // namespace oplat::compat::mobile_vision
