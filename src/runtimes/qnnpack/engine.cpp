// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/engine.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "runtimes/place.hpp"
#include "runtimes/qnnpack/allocator.hpp"

#ifdef OPLAT_SANITIZED
/// QNNPACK's softmax leaves its operator behind in every call (libtorch 1.13): 1.6 KB that are not
/// ours to free.
extern "C" const char* __lsan_default_suppressions() { return "leak:libtorch_cpu"; }
#endif

namespace oplat::runtimes::qnnpack {
namespace {

/// Enough for libtorch to divide the work among all threads.
constexpr std::int64_t kShared = std::int64_t{1} << 20;

Result<std::string> library_build() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) == 0 ||
      info.dli_fname == nullptr) {
    return fail(Code::Runtime, "qnnpack: the file of libtorch_cpu is not known to the loader");
  }
  OPLAT_TRY(hash, base::hash_file(info.dli_fname));
  std::error_code error;
  const auto file = std::filesystem::canonical(info.dli_fname, error);
  return fmt::format("{} ({})", hash.hex().substr(0, 12),
                     error ? "libtorch_cpu" : file.filename().string());
}

}  // namespace

Result<Engine> start_engine() {
  const auto& engines = at::globalContext().supportedQEngines();
  if (std::find(engines.begin(), engines.end(), at::kQNNPACK) == engines.end()) {
    return fail(Code::Runtime, "qnnpack: this libtorch {} was built without QNNPACK",
                TORCH_VERSION);
  }
  at::globalContext().setQEngine(at::kQNNPACK);
  install_allocator();
  // For as long as the process lives; libtorch would otherwise keep records for gradients in every
  // call.
  static const auto* guard = new c10::InferenceMode();
  (void)guard;
  at::set_num_threads(1);
  OPLAT_TRY(build, library_build());
  return Engine{TORCH_VERSION, std::move(build)};
}

Status set_threads(std::int64_t threads) {
  constexpr std::int64_t kMaxThreads = 1024;
  if (threads < 1 || threads > kMaxThreads)
    return fail(Code::Usage, "qnnpack: {} threads", threads);
  if (threads == at::get_num_threads()) return {};
  leave_place();
  at::set_num_threads(static_cast<int>(threads));
  if (threads == 1) return {};
  // Threads are made at the first use: so first they, then the caller's place.
  (void)at::ones({kShared}).add(1);
  keep_place();
  return {};
}

}  // namespace oplat::runtimes::qnnpack
