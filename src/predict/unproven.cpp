// SPDX-License-Identifier: Apache-2.0
#include "predict/unproven.hpp"

namespace oplat::predict {

double unproven_sd_log(std::string_view runtime) {
  // 14 networks with one thread miss the sum of their kernels by up to 18 % (docs/results/mnn.md),
  // but those with more threads took 1.5 to 3 times as long under load, and none of these was
  // measured on a quiet machine: 90 % within a factor of three. docs/adr/0047-mnn-worker.md.
  return runtime == "mnn" ? 0.7 : 0;
}

}  // namespace oplat::predict
