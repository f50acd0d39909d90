// SPDX-License-Identifier: Apache-2.0
/// Caffe2 nets: NetDef, binary (model.pb + model_init.pb) or text (model.pbtxt + model_def.svg).
#pragma once

#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/caffe2/lut_query.hpp"
#include "formats/format_reader.hpp"

namespace oplat::formats::caffe2 {

/// The reader behind the FormatReader seam.
const FormatReader& reader();

/// What runtime_lut asks of its table for this net, in the net's order. Errors as of
/// reader().read().
Result<std::vector<LutQuery>> queries(const base::Source& source, const ShapeOptions& options);

}  // namespace oplat::formats::caffe2
