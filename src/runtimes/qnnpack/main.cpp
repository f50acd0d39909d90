// SPDX-License-Identifier: Apache-2.0
/// oplat-qnnpack: what `oplat worker qnnpack` becomes. libtorch brings some two hundred libraries,
/// which no other worker is to load.
#include <malloc.h>

#include <climits>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "runtimes/qnnpack/worker.hpp"
#include "runtimes/serve.hpp"

namespace {

using namespace oplat;

int run(const std::vector<std::string>& arguments) {
  const int descriptor = runtimes::claim_protocol_descriptor();
  if (descriptor < 0) return 1;
  // QNNPACK allocates in many calls; what is given back to the system has to be faulted in again
  // each time.
  constexpr int kMaxThreshold = 32 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kMaxThreshold);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  auto worker = runtimes::create_qnnpack(arguments);
  if (!worker) return runtimes::serve_failure(worker.error(), descriptor);
  return runtimes::serve(**worker, descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oplat-qnnpack: %s\n", error.what());
  }
  return 1;
}
