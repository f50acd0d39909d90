// SPDX-License-Identifier: Apache-2.0
/// Models of MNN (.mnn, a flatbuffer): their inputs, so that a model has an identity. Its graph is
/// read by MNN itself, in a worker (docs/adr/0047-mnn-worker.md).
#pragma once

#include "formats/format_reader.hpp"

namespace oplat::formats::mnn {

/// The reader behind the FormatReader seam. read() refuses every model and names the way out:
/// planning needs MNN.
const FormatReader& reader();

}  // namespace oplat::formats::mnn
