// SPDX-License-Identifier: Apache-2.0
/// Loading the library and reading its table of functions.
#include "runtimes/onnxruntime/api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "base/files.hpp"
#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

/// What OrtGetApiBase returns.
struct ApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*version_string)();
};

// The table of this interface version holds every slot below; each later runtime still serves it.
constexpr std::uint32_t kApiVersion = 16;
constexpr int kLogErrors = 3;
constexpr int kArenaAllocator = 1;
constexpr int kDefaultMemory = 0;

// Slots of the function table, counted in pointers.
enum Slot : std::size_t {
  kErrorCode = 1,
  kErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kCreateSessionOptions = 10,
  kSetOptimizedModelFilePath = 11,
  kEnableProfiling = 14,
  kSetGraphOptimizationLevel = 23,
  kSetIntraOpThreads = 24,
  kSetInterOpThreads = 25,
  kInputCount = 30,
  kOutputCount = 31,
  kInputName = 36,
  kOutputName = 37,
  kAllocateTensor = 48,
  kCreateRunOptions = 39,
  kSetTerminate = 46,
  kReleaseRunOptions = 97,
  kCreateTensor = 49,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kDefaultAllocator = 78,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseSessionOptions = 100,
  kEndProfiling = 110,
  kCreateEnvWithPool = 119,
  kDisablePerSessionThreads = 120,
  kCreateThreadingOptions = 121,
  kReleaseThreadingOptions = 122,
  kAddConfigEntry = 130,
  kRunWithBinding = 133,
  kCreateIoBinding = 134,
  kReleaseIoBinding = 135,
  kBindInput = 136,
  kBindOutputToDevice = 138,
  kSetGlobalIntraOpThreads = 147,
  kSetGlobalInterOpThreads = 148,
  kSetGlobalSpinControl = 149,
  kBuildInfo = 254,
  kTensorData = 51,
  kFillStrings = 52,
  kElementType = 60,
  kElementCount = 64,
  kTensorInfo = 65,
  kReleaseTensorInfo = 99,
  kBoundOutputValues = 140,
};

template <class Function>
void take(const void* const* table, Slot slot, Function& function) {
  function = reinterpret_cast<Function>(const_cast<void*>(table[slot]));
}

}  // namespace

Result<const Api*> Api::load(const std::filesystem::path& library) {
  // Before the library is loaded: afterwards the first event has already been sent.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return fail(Code::Runtime, "onnxruntime: cannot load {}: {}", library.string(), ::dlerror());
  auto* get_base = reinterpret_cast<const ApiBase* (*)()>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    return fail(Code::Runtime, "onnxruntime: {} is another library: it has no OrtGetApiBase",
                library.string());
  const ApiBase* base = get_base();
  const void* const* table = base->get_api(kApiVersion);
  if (table == nullptr) {
    return fail(Code::Runtime, "onnxruntime: {} is version {}; version 1.{} or newer is needed",
                library.string(), base->version_string(), kApiVersion);
  }
  static Api api;
  take(table, kErrorCode, api.error_code);
  take(table, kErrorMessage, api.error_message);
  take(table, kCreateEnv, api.create_env);
  take(table, kCreateEnvWithPool, api.create_env_with_pool);
  take(table, kDisablePerSessionThreads, api.disable_per_session_threads);
  take(table, kCreateThreadingOptions, api.create_threading_options);
  take(table, kReleaseThreadingOptions, api.release_threading_options);
  take(table, kSetGlobalIntraOpThreads, api.set_global_intra_op_threads);
  take(table, kSetGlobalInterOpThreads, api.set_global_inter_op_threads);
  take(table, kSetGlobalSpinControl, api.set_global_spin_control);
  take(table, kCreateSessionFromArray, api.create_session_from_array);
  take(table, kCreateSessionOptions, api.create_session_options);
  take(table, kSetOptimizedModelFilePath, api.set_optimized_model_file_path);
  take(table, kEnableProfiling, api.enable_profiling);
  take(table, kSetGraphOptimizationLevel, api.set_graph_optimization_level);
  take(table, kSetIntraOpThreads, api.set_intra_op_threads);
  take(table, kSetInterOpThreads, api.set_inter_op_threads);
  take(table, kInputCount, api.input_count);
  take(table, kOutputCount, api.output_count);
  take(table, kInputName, api.input_name);
  take(table, kOutputName, api.output_name);
  take(table, kAllocateTensor, api.allocate_tensor);
  take(table, kCreateRunOptions, api.create_run_options);
  take(table, kSetTerminate, api.set_terminate);
  take(table, kReleaseRunOptions, api.release_run_options);
  take(table, kCreateTensor, api.create_tensor);
  take(table, kFillStrings, api.fill_strings);
  take(table, kCreateCpuMemoryInfo, api.create_cpu_memory_info);
  take(table, kAllocatorFree, api.allocator_free);
  take(table, kDefaultAllocator, api.default_allocator);
  take(table, kReleaseStatus, api.release_status);
  take(table, kReleaseSession, api.release_session);
  take(table, kReleaseValue, api.release_value);
  take(table, kReleaseSessionOptions, api.release_session_options);
  take(table, kEndProfiling, api.end_profiling);
  take(table, kAddConfigEntry, api.add_config_entry);
  take(table, kRunWithBinding, api.run_with_binding);
  take(table, kCreateIoBinding, api.create_io_binding);
  take(table, kReleaseIoBinding, api.release_io_binding);
  take(table, kBindInput, api.bind_input);
  take(table, kBindOutputToDevice, api.bind_output_to_device);
  take(table, kBoundOutputValues, api.bound_output_values);
  take(table, kTensorData, api.tensor_data);
  take(table, kTensorInfo, api.tensor_info);
  take(table, kElementCount, api.element_count);
  take(table, kElementType, api.element_type);
  take(table, kReleaseTensorInfo, api.release_tensor_info);
  api.version_ = base->version_string();
  const char* (*build_info)() = nullptr;
  take(table, kBuildInfo, build_info);
  OPLAT_TRY(hash, base::hash_file(library));
  // The hash tells builds apart that call themselves the same; the text tells a person which it is.
  api.build_ = fmt::format("{} ({})", hash.hex().substr(0, 12), base::printable(build_info(), 200));
  OPLAT_CHECK(
      api.check(api.create_cpu_memory_info(kArenaAllocator, kDefaultMemory, &api.cpu_memory_)));
  OPLAT_CHECK(api.check(api.default_allocator(&api.allocator_)));
  return &api;
}

Result<OrtEnv*> Api::env(const std::optional<Pool>& pool) const {
  if (env_ != nullptr) return env_;
  if (!pool) {
    OPLAT_CHECK(check(create_env(kLogErrors, "oplat", &env_)));
    return env_;
  }
  OrtThreadingOptions* raw = nullptr;
  OPLAT_CHECK(check(create_threading_options(&raw)));
  const std::unique_ptr<OrtThreadingOptions, void (*)(OrtThreadingOptions*)> options(
      raw, release_threading_options);
  OPLAT_CHECK(check(set_global_intra_op_threads(raw, static_cast<int>(pool->threads))));
  OPLAT_CHECK(check(set_global_inter_op_threads(raw, 1)));
  OPLAT_CHECK(check(set_global_spin_control(raw, pool->spinning ? 1 : 0)));
  OPLAT_CHECK(check(create_env_with_pool(kLogErrors, "oplat", raw, &env_)));
  pool_ = pool;
  return env_;
}

Status Api::check(OrtStatus* status, int* code) const {
  if (status == nullptr) return {};
  if (code != nullptr) *code = error_code(status);
  Error error{Code::Runtime,
              fmt::format("onnxruntime: {}", base::printable(error_message(status), 600))};
  release_status(status);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace oplat::runtimes::onnxruntime
