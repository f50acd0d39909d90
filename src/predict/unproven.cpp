// SPDX-License-Identifier: Apache-2.0
#include "predict/unproven.hpp"

namespace oplat::predict {

double unproven_sd_log(std::string_view runtime) {
  // Networks of depthwise convolutions took 1.5 to 3 times as long as the sum of their kernels
  // (MNN 3.6.1, AMD EPYC, 2026-11-26, on a busy machine), others as long: 90 % within a factor of
  // three. docs/adr/0047-mnn-worker.md.
  return runtime == "mnn" ? 0.7 : 0;
}

}  // namespace oplat::predict
