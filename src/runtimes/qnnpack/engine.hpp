// SPDX-License-Identifier: Apache-2.0
/// libtorch as this process has it: which library, which quantised engine, how many threads.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace oplat::runtimes::qnnpack {

struct Engine {
  std::string version;  ///< of libtorch
  std::string build;    ///< hash of the library's file, and its name
};
/// Chooses QNNPACK and the allocator. To be called once, by the thread that runs the kernels.
/// Code::Runtime where this libtorch was built without QNNPACK.
Result<Engine> start_engine();
/// Threads of both pools of libtorch, the caller being one of them. With more than one the caller
/// stays on its CPU from then on.
Status set_threads(std::int64_t threads);

}  // namespace oplat::runtimes::qnnpack
