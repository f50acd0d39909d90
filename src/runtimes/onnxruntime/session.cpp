// SPDX-License-Identifier: Apache-2.0
/// Sessions of the runtime.
#include "runtimes/onnxruntime/session.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/text.hpp"
#include "runtimes/memory.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

/// ONNX's numbers of element types, which the C interface shares.
Result<int> element_type(ir::Dtype dtype) {
  using ir::Dtype;
  switch (dtype) {
    case Dtype::F32:
      return 1;
    case Dtype::U8:
      return 2;
    case Dtype::I8:
      return 3;
    case Dtype::U16:
      return 4;
    case Dtype::I16:
      return 5;
    case Dtype::I32:
      return 6;
    case Dtype::I64:
      return 7;
    case Dtype::Bool:
      return 9;
    case Dtype::F16:
      return 10;
    case Dtype::F64:
      return 11;
    case Dtype::U32:
      return 12;
    case Dtype::U64:
      return 13;
    case Dtype::String:
      return 8;
    case Dtype::BF16:
      return 16;
    case Dtype::F8E4M3FN:
      return 17;
    case Dtype::F8E4M3FNUZ:
      return 18;
    case Dtype::F8E5M2:
      return 19;
    case Dtype::F8E5M2FNUZ:
      return 20;
    case Dtype::U4:
      return 21;
    case Dtype::I4:
      return 22;
    case Dtype::F4E2M1:
      return 23;
    default:
      return fail(Code::Runtime, "onnxruntime: inputs of type {} cannot be made", ir::name(dtype));
  }
}

/// Larger inputs are kept by the runtime alone; none is varied (vary_inputs()).
constexpr std::size_t kMaxKeptTwice = std::size_t{64} << 20U;

/// The strings of `input`, each of which a NUL ends; the empty string where there are too few.
Status fill_strings(const Api& api, const InputData& input, OrtValue* value) {
  std::size_t count = 1;
  for (const std::int64_t dim : input.dims) count *= static_cast<std::size_t>(dim);
  std::vector<const char*> texts(count, "");
  std::size_t at = 0;
  for (std::size_t i = 0; i < count && at < input.bytes.size(); ++i) {
    texts[i] = input.bytes.c_str() + at;
    at = input.bytes.find('\0', at);
    at = at == std::string::npos ? input.bytes.size() : at + 1;
  }
  return api.check(api.fill_strings(value, texts.data(), texts.size()));
}

template <class T>
std::vector<std::int64_t> integers_as(std::string_view bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    // An int8 is a number here, not a character.
    numbers[i] = static_cast<std::int64_t>(number);  // NOLINT(bugprone-signed-char-misuse)
  }
  return numbers;
}

Status configure(const Api& api, OrtSessionOptions* raw, const SessionOptions& options,
                 bool shared_pool) {
  OPLAT_CHECK(api.check(api.set_graph_optimization_level(raw, options.level)));
  if (shared_pool) OPLAT_CHECK(api.check(api.disable_per_session_threads(raw)));
  OPLAT_CHECK(api.check(api.set_intra_op_threads(raw, static_cast<int>(options.threads))));
  OPLAT_CHECK(api.check(api.set_inter_op_threads(raw, 1)));
  OPLAT_CHECK(api.check(
      api.add_config_entry(raw, "session.intra_op.allow_spinning", options.spinning ? "1" : "0")));
  if (!options.prepacking)
    OPLAT_CHECK(api.check(api.add_config_entry(raw, "session.disable_prepacking", "1")));
  if (options.pairs_as_they_are)
    OPLAT_CHECK(api.check(api.add_config_entry(raw, "session.disable_quant_qdq", "1")));
  if (!options.optimized_model.empty())
    OPLAT_CHECK(api.check(api.set_optimized_model_file_path(raw, options.optimized_model.c_str())));
  if (!options.data_folder.empty()) {
    OPLAT_CHECK(api.check(api.add_config_entry(
        raw, "session.model_external_initializers_file_folder_path", options.data_folder.c_str())));
  }
  if (!options.profile_prefix.empty())
    OPLAT_CHECK(api.check(api.enable_profiling(raw, options.profile_prefix.c_str())));
  return {};
}

}  // namespace

std::optional<std::vector<std::int64_t>> integers_in(std::string_view bytes, ir::Dtype dtype) {
  using ir::Dtype;
  switch (dtype) {
    case Dtype::I64:
    case Dtype::U64:
      return integers_as<std::int64_t>(bytes);
    case Dtype::I32:
      return integers_as<std::int32_t>(bytes);
    case Dtype::U32:
      return integers_as<std::uint32_t>(bytes);
    case Dtype::I16:
      return integers_as<std::int16_t>(bytes);
    case Dtype::U16:
      return integers_as<std::uint16_t>(bytes);
    case Dtype::I8:
      return integers_as<std::int8_t>(bytes);
    case Dtype::U8:
    case Dtype::Bool:
      return integers_as<std::uint8_t>(bytes);
    default:
      return std::nullopt;
  }
}

tl::expected<std::unique_ptr<Session>, SessionError> Session::create(
    const Api& api, const std::string& model, const SessionOptions& options) {
  OrtSessionOptions* raw = nullptr;
  if (auto status = api.check(api.create_session_options(&raw)); !status)
    return tl::unexpected(SessionError{status.error()});
  const std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)> owned(
      raw, api.release_session_options);
  // One thread is the caller's: there is no pool to share. A session that shares none may be the
  // first of all, and the environment is made but once.
  std::optional<Api::Pool> pool;
  if (options.threads > 1) pool = Api::Pool{options.threads, options.spinning};
  const auto env = api.env(pool);
  if (!env) return tl::unexpected(SessionError{env.error()});
  if (auto status = configure(api, raw, options, options.shared_pool && pool && api.shares(*pool));
      !status)
    return tl::unexpected(SessionError{status.error()});
  std::unique_ptr<Session> session(new Session(api));
  int code = 0;
  if (auto status = api.check(
          api.create_session_from_array(*env, model.data(), model.size(), raw, &session->session_),
          &code);
      !status) {
    return tl::unexpected(SessionError{status.error(), code == kOrtNotImplemented});
  }
  return session;
}

Session::~Session() {
  if (binding_ != nullptr) api_.release_io_binding(binding_);
  for (Inputs& inputs : sets_) release(inputs);
  if (session_ != nullptr) api_.release_session(session_);
}

Result<std::vector<std::string>> Session::names(OrtStatus* (*count)(const OrtSession*,
                                                                    std::size_t*),
                                                OrtStatus* (*name)(const OrtSession*, std::size_t,
                                                                   OrtAllocator*, char**)) const {
  std::size_t n = 0;
  OPLAT_CHECK(api_.check(count(session_, &n)));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) {
    char* text = nullptr;
    OPLAT_CHECK(api_.check(name(session_, i, api_.allocator(), &text)));
    names.emplace_back(text);
    OPLAT_CHECK(api_.check(api_.allocator_free(api_.allocator(), text)));
  }
  return names;
}

Status Session::bind(std::vector<InputData> inputs, Place place) {
  place_ = place;
  OPLAT_TRY(wanted, names(api_.input_count, api_.input_name));
  input_names_ = std::move(wanted);
  OPLAT_CHECK(api_.check(api_.create_io_binding(session_, &binding_)));
  OPLAT_CHECK(add_inputs(std::move(inputs)));
  OPLAT_CHECK(bind_values(sets_.front()));
  OPLAT_TRY(outputs, names(api_.output_count, api_.output_name));
  for (const std::string& name : outputs)
    OPLAT_CHECK(api_.check(api_.bind_output_to_device(binding_, name.c_str(), api_.cpu_memory())));
  return {};
}

Status Session::add_inputs(std::vector<InputData> inputs) {
  sets_.emplace_back();
  sets_.back().data = std::move(inputs);
  Status status = make_values(sets_.back());
  if (!status) drop_last_inputs();
  return status;
}

void Session::drop_last_inputs() {
  release(sets_.back());
  sets_.pop_back();
  if (bound_ < sets_.size() || sets_.empty()) return;
  bound_ = 0;
  has_run_ = false;
  // Of values that were bound before.
  std::ignore = bind_values(sets_.front());
}

void Session::release(Inputs& inputs) {
  for (OrtValue* value : inputs.values) api_.release_value(value);
  inputs.values.clear();
}

Status Session::make_values(Inputs& inputs) {
  for (const std::string& name : input_names_) {
    const auto input = std::find_if(inputs.data.begin(), inputs.data.end(),
                                    [&](const InputData& one) { return one.name == name; });
    if (input == inputs.data.end())
      return fail(Code::Internal, "onnxruntime: no data for input '{}'", base::printable(name));
    OPLAT_TRY(type, element_type(input->dtype));
    OrtValue* value = nullptr;
    const bool texts = input->dtype == ir::Dtype::String;
    if (texts || place_ == Place::Runtimes) {
      OPLAT_CHECK(api_.check(api_.allocate_tensor(api_.allocator(), input->dims.data(),
                                                  input->dims.size(), type, &value)));
      inputs.values.push_back(value);
      if (texts) {
        OPLAT_CHECK(fill_strings(api_, *input, value));
      } else if (!input->bytes.empty()) {
        void* data = nullptr;
        OPLAT_CHECK(api_.check(api_.tensor_data(value, &data)));
        std::memcpy(data, input->bytes.data(), input->bytes.size());
        if (input->bytes.size() > kMaxKeptTwice) std::string().swap(input->bytes);
      }
    } else {
      OPLAT_CHECK(
          api_.check(api_.create_tensor(api_.cpu_memory(), input->bytes.data(), input->bytes.size(),
                                        input->dims.data(), input->dims.size(), type, &value)));
      inputs.values.push_back(value);
    }
  }
  return {};
}

Result<std::uintptr_t> Session::address_of_input(std::size_t input) const {
  void* data = nullptr;
  OPLAT_CHECK(api_.check(api_.tensor_data(sets_.front().values.at(input), &data)));
  return reinterpret_cast<std::uintptr_t>(data);
}

Status Session::bind_values(const Inputs& inputs) {
  for (std::size_t i = 0; i < input_names_.size(); ++i)
    OPLAT_CHECK(api_.check(api_.bind_input(binding_, input_names_[i].c_str(), inputs.values[i])));
  return {};
}

Status Session::run() {
  const std::size_t next = has_run_ && bound_ + 1 < sets_.size() ? bound_ + 1 : 0;
  if (next != bound_) {
    OPLAT_CHECK(bind_values(sets_[next]));
    bound_ = next;
  }
  has_run_ = true;
  return api_.check(api_.run_with_binding(session_, nullptr, binding_));
}

Result<bool> Session::run_within(std::int64_t growth_bytes) {
  constexpr std::chrono::milliseconds kLook{10};
  OrtRunOptions* raw = nullptr;
  OPLAT_CHECK(api_.check(api_.create_run_options(&raw)));
  const std::unique_ptr<OrtRunOptions, void (*)(OrtRunOptions*)> options(raw,
                                                                         api_.release_run_options);
  const std::int64_t limit = resident_memory().value_or(0) + growth_bytes;
  std::mutex mutex;
  std::condition_variable ended;
  bool is_over = false;
  bool was_ended = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kLook, [&] { return is_over; })) {
      if (was_ended || resident_memory().value_or(0) <= limit) continue;
      was_ended = api_.check(api_.set_terminate(raw)).has_value();
    }
  });
  Status status = api_.check(api_.run_with_binding(session_, raw, binding_));
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  ended.notify_one();
  watch.join();
  if (was_ended) return true;
  OPLAT_CHECK(std::move(status));
  return false;
}

Result<std::vector<std::int64_t>> Session::integers_of(OrtValue* value) const {
  OrtTensorInfo* info = nullptr;
  OPLAT_CHECK(api_.check(api_.tensor_info(value, &info)));
  const std::unique_ptr<OrtTensorInfo, void (*)(OrtTensorInfo*)> owned(info,
                                                                       api_.release_tensor_info);
  std::size_t count = 0;
  OPLAT_CHECK(api_.check(api_.element_count(info, &count)));
  void* data = nullptr;
  OPLAT_CHECK(api_.check(api_.tensor_data(value, &data)));
  const auto* first = static_cast<const std::int64_t*>(data);
  return std::vector<std::int64_t>(first, first + count);
}

Result<std::vector<std::int64_t>> Session::first_output() const {
  OrtValue** values = nullptr;
  std::size_t count = 0;
  OPLAT_CHECK(api_.check(api_.bound_output_values(binding_, api_.allocator(), &values, &count)));
  Result<std::vector<std::int64_t>> numbers =
      fail(Code::Runtime, "onnxruntime: a run gave no output");
  if (count > 0) numbers = integers_of(values[0]);
  for (std::size_t i = 0; i < count; ++i) api_.release_value(values[i]);
  if (values != nullptr) OPLAT_CHECK(api_.check(api_.allocator_free(api_.allocator(), values)));
  return numbers;
}

Result<std::vector<std::optional<std::vector<std::int64_t>>>> Session::integer_outputs(
    const std::vector<std::string>& wanted) const {
  OPLAT_TRY(outputs, names(api_.output_count, api_.output_name));
  OrtValue** values = nullptr;
  std::size_t count = 0;
  OPLAT_CHECK(api_.check(api_.bound_output_values(binding_, api_.allocator(), &values, &count)));
  std::vector<std::optional<std::vector<std::int64_t>>> found(wanted.size());
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    for (std::size_t i = 0; i < count && i < outputs.size(); ++i)
      if (outputs[i] == wanted[w]) found[w] = any_integers_of(values[i]);
  }
  for (std::size_t i = 0; i < count; ++i) api_.release_value(values[i]);
  if (values != nullptr) OPLAT_CHECK(api_.check(api_.allocator_free(api_.allocator(), values)));
  return found;
}

std::optional<std::vector<std::int64_t>> Session::any_integers_of(OrtValue* value) const {
  OrtTensorInfo* info = nullptr;
  if (value == nullptr || !api_.check(api_.tensor_info(value, &info))) return std::nullopt;
  const std::unique_ptr<OrtTensorInfo, void (*)(OrtTensorInfo*)> owned(info,
                                                                       api_.release_tensor_info);
  std::size_t count = 0;
  int type = 0;
  void* data = nullptr;
  if (!api_.check(api_.element_count(info, &count)) ||
      !api_.check(api_.element_type(info, &type)) || !api_.check(api_.tensor_data(value, &data)))
    return std::nullopt;
  for (const ir::Dtype dtype :
       {ir::Dtype::U8, ir::Dtype::I8, ir::Dtype::U16, ir::Dtype::I16, ir::Dtype::I32,
        ir::Dtype::I64, ir::Dtype::Bool, ir::Dtype::U32, ir::Dtype::U64}) {
    const auto own = element_type(dtype);
    if (!own || *own != type) continue;
    const auto width = static_cast<std::size_t>(std::max(8, ir::bits(dtype).value_or(8)) / 8);
    return integers_in({static_cast<const char*>(data), count * width}, dtype);
  }
  return std::nullopt;
}

Result<std::string> Session::end_profiling() {
  char* text = nullptr;
  OPLAT_CHECK(api_.check(api_.end_profiling(session_, api_.allocator(), &text)));
  std::string file(text);
  OPLAT_CHECK(api_.check(api_.allocator_free(api_.allocator(), text)));
  return file;
}

}  // namespace oplat::runtimes::onnxruntime
