// SPDX-License-Identifier: Apache-2.0
/// ONNX Runtime's C interface, as far as it is used here, in declarations of our own: the wheel
/// ships no headers, and the table of functions is append-only, so a slot number is a stable fact
/// (docs/adr/0001).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace oplat::runtimes::onnxruntime {

// Opaque objects of the runtime.
struct OrtEnv;
struct OrtStatus;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtValue;
struct OrtMemoryInfo;
struct OrtIoBinding;
struct OrtAllocator;
struct OrtThreadingOptions;
struct OrtTensorInfo;

/// Codes of GetErrorCode that are told apart here.
inline constexpr int kOrtNotImplemented = 9;

/// The loaded library; lives as long as the process, since the runtime does not unload cleanly.
class Api {
 public:
  /// Loads the library. Code::Runtime where it cannot be loaded or is too old.
  static Result<const Api*> load(const std::filesystem::path& library);

  OrtStatus* (*create_env)(int log_level, const char* id, OrtEnv**) = nullptr;
  OrtStatus* (*create_env_with_pool)(int log_level, const char* id, const OrtThreadingOptions*,
                                     OrtEnv**) = nullptr;
  OrtStatus* (*disable_per_session_threads)(OrtSessionOptions*) = nullptr;
  OrtStatus* (*create_threading_options)(OrtThreadingOptions**) = nullptr;
  void (*release_threading_options)(OrtThreadingOptions*) = nullptr;
  OrtStatus* (*set_global_intra_op_threads)(OrtThreadingOptions*, int threads) = nullptr;
  OrtStatus* (*set_global_inter_op_threads)(OrtThreadingOptions*, int threads) = nullptr;
  OrtStatus* (*set_global_spin_control)(OrtThreadingOptions*, int spin) = nullptr;
  OrtStatus* (*create_session_from_array)(const OrtEnv*, const void* bytes, std::size_t length,
                                          const OrtSessionOptions*, OrtSession**) = nullptr;
  OrtStatus* (*create_session_options)(OrtSessionOptions**) = nullptr;
  OrtStatus* (*set_optimized_model_file_path)(OrtSessionOptions*, const char* path) = nullptr;
  OrtStatus* (*enable_profiling)(OrtSessionOptions*, const char* prefix) = nullptr;
  OrtStatus* (*set_graph_optimization_level)(OrtSessionOptions*, int level) = nullptr;
  OrtStatus* (*set_intra_op_threads)(OrtSessionOptions*, int threads) = nullptr;
  OrtStatus* (*set_inter_op_threads)(OrtSessionOptions*, int threads) = nullptr;
  OrtStatus* (*add_config_entry)(OrtSessionOptions*, const char* key, const char* value) = nullptr;
  OrtStatus* (*input_count)(const OrtSession*, std::size_t*) = nullptr;
  OrtStatus* (*output_count)(const OrtSession*, std::size_t*) = nullptr;
  OrtStatus* (*input_name)(const OrtSession*, std::size_t, OrtAllocator*, char**) = nullptr;
  OrtStatus* (*output_name)(const OrtSession*, std::size_t, OrtAllocator*, char**) = nullptr;
  /// Of strings: memory that the runtime allocates, to be filled by `fill_strings`.
  OrtStatus* (*allocate_tensor)(OrtAllocator*, const std::int64_t* dims, std::size_t rank, int type,
                                OrtValue**) = nullptr;
  OrtStatus* (*fill_strings)(OrtValue*, const char* const* texts, std::size_t count) = nullptr;
  OrtStatus* (*create_tensor)(const OrtMemoryInfo*, void* data, std::size_t bytes,
                              const std::int64_t* dims, std::size_t rank, int type,
                              OrtValue**) = nullptr;
  OrtStatus* (*create_cpu_memory_info)(int allocator_type, int memory_type,
                                       OrtMemoryInfo**) = nullptr;
  OrtStatus* (*allocator_free)(OrtAllocator*, void*) = nullptr;
  OrtStatus* (*default_allocator)(OrtAllocator**) = nullptr;
  OrtStatus* (*end_profiling)(OrtSession*, OrtAllocator*, char** file) = nullptr;
  OrtStatus* (*run_with_binding)(OrtSession*, const OrtRunOptions*, const OrtIoBinding*) = nullptr;
  OrtStatus* (*create_run_options)(OrtRunOptions**) = nullptr;
  OrtStatus* (*set_terminate)(OrtRunOptions*) = nullptr;
  void (*release_run_options)(OrtRunOptions*) = nullptr;
  OrtStatus* (*create_io_binding)(OrtSession*, OrtIoBinding**) = nullptr;
  OrtStatus* (*bind_input)(OrtIoBinding*, const char* name, const OrtValue*) = nullptr;
  OrtStatus* (*bind_output_to_device)(OrtIoBinding*, const char* name,
                                      const OrtMemoryInfo*) = nullptr;
  OrtStatus* (*bound_output_values)(const OrtIoBinding*, OrtAllocator*, OrtValue*** values,
                                    std::size_t* count) = nullptr;
  OrtStatus* (*tensor_data)(OrtValue*, void** data) = nullptr;
  OrtStatus* (*tensor_info)(const OrtValue*, OrtTensorInfo**) = nullptr;
  OrtStatus* (*element_count)(const OrtTensorInfo*, std::size_t*) = nullptr;
  OrtStatus* (*element_type)(const OrtTensorInfo*, int*) = nullptr;
  void (*release_tensor_info)(OrtTensorInfo*) = nullptr;
  int (*error_code)(const OrtStatus*) = nullptr;
  const char* (*error_message)(const OrtStatus*) = nullptr;
  void (*release_status)(OrtStatus*) = nullptr;
  void (*release_session)(OrtSession*) = nullptr;
  void (*release_value)(OrtValue*) = nullptr;
  void (*release_session_options)(OrtSessionOptions*) = nullptr;
  void (*release_io_binding)(OrtIoBinding*) = nullptr;

  [[nodiscard]] const std::string& version() const { return version_; }
  /// The runtime's own build text, or the library's hash where it has none.
  [[nodiscard]] const std::string& build() const { return build_; }
  /// The environment, of which a process has one: made at the first call, with a pool of threads
  /// for all sessions where `pool` asks for one. Kernels are timed in turn with another session
  /// open: with a pool each, the idle threads of one would spin against the working ones of the
  /// other, which no application does.
  struct Pool {
    std::int64_t threads = 1;
    bool spinning = true;
    friend bool operator==(const Pool&, const Pool&) = default;
  };
  Result<OrtEnv*> env(const std::optional<Pool>& pool) const;
  /// Whether sessions can share the environment's pool of this kind.
  [[nodiscard]] bool shares(const Pool& pool) const { return pool_ == pool; }
  [[nodiscard]] OrtMemoryInfo* cpu_memory() const { return cpu_memory_; }
  [[nodiscard]] OrtAllocator* allocator() const { return allocator_; }

  /// Turns a status into ours and releases it; null is success. `code` tells why where it failed.
  Status check(OrtStatus* status, int* code = nullptr) const;

 private:
  std::string version_;
  std::string build_;
  // Made late, since the pool is known only with the first session.
  mutable OrtEnv* env_ = nullptr;
  mutable std::optional<Pool> pool_;
  OrtMemoryInfo* cpu_memory_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
};

}  // namespace oplat::runtimes::onnxruntime
