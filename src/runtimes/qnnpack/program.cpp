// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/program.hpp"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "runtimes/qnnpack/kernel.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

struct Step {
  Call call;
  std::vector<Slot> inputs;
  Slot result = 0;
  std::vector<Slot> done;  // given back behind this step
};

/// libtorch's messages go over many lines, the first of which says it.
Error runtime_error(const std::exception& error) {
  const auto* own = dynamic_cast<const c10::Error*>(&error);
  const std::string text = own != nullptr ? own->what_without_backtrace() : error.what();
  constexpr std::size_t kMaxText = 300;
  return Error{Code::Runtime,
               "libtorch: " + base::printable(text.substr(0, text.find('\n')), kMaxText)};
}

template <class T>
at::Tensor tensor_of(const std::vector<T>& values, const Dims& dims, at::ScalarType type) {
  at::Tensor tensor = at::empty(dims, type);
  std::memcpy(tensor.data_ptr(), values.data(), values.size() * sizeof(T));
  return tensor;
}

at::Tensor input_tensor(const Activation& activation, std::uint64_t seed) {
  at::Tensor tensor =
      activation.quantised
          ? tensor_of(random_bytes(activation.elements(), seed), activation.dims, at::kByte)
          : tensor_of(random_floats(activation.elements(), seed), activation.dims, at::kFloat);
  const bool last = activation.dims.size() == 4 && activation.nhwc;
  if (last) tensor = tensor.permute({0, 3, 1, 2});
  if (activation.quantised)
    tensor = at::_make_per_tensor_quantized_tensor(tensor, kScale, kZeroPoint);
  return tensor.contiguous(last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

}  // namespace

struct Program::Impl {
  std::vector<at::Tensor> slots;
  std::vector<Activation> activations;  // per slot
  std::vector<Step> steps;
  std::vector<Slot> left;  // results that stand when a run is over

  Slot add_slot(at::Tensor tensor, const Activation& activation) {
    slots.push_back(std::move(tensor));
    activations.push_back(activation);
    return slots.size() - 1;
  }
};

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Slot Program::add_input(const Activation& activation, std::uint64_t seed) {
  return impl_->add_slot(input_tensor(activation, seed), activation);
}

Result<Slot> Program::add_step(const Spec& spec, const StepOptions& options) {
  try {
    Step step;
    step.call = options.constants != nullptr ? make_call(spec, *options.constants)
                                             : impl_->steps.back().call;
    step.inputs = options.inputs;
    step.result = impl_->add_slot({}, spec.result);
    impl_->steps.push_back(std::move(step));
    return impl_->steps.back().result;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(runtime_error(error));
  }
}

void Program::finish(std::int64_t kept_bytes) {
  std::vector<Step>& steps = impl_->steps;
  std::vector<std::optional<std::size_t>> last_use(impl_->slots.size());
  std::vector<std::int64_t> made;  // bytes of all results up to and with each step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Slot slot : steps[i].inputs) last_use[slot] = i;
    made.push_back((i == 0 ? 0 : made.back()) + impl_->activations[steps[i].result].bytes());
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Slot slot = steps[i].result;
    const auto later = std::lower_bound(made.begin() + static_cast<std::ptrdiff_t>(i), made.end(),
                                        made[i] + kept_bytes);
    const auto end = last_use[slot].value_or(static_cast<std::size_t>(later - made.begin()));
    if (end < steps.size()) {
      steps[end].done.push_back(slot);
    } else {
      impl_->left.push_back(slot);
    }
  }
}

Status Program::run() {
  Impl& impl = *impl_;
  try {
    for (const Step& step : impl.steps) {
      impl.slots[step.result] = step.call(Operands(impl.slots, step.inputs));
      for (const Slot slot : step.done) impl.slots[slot].reset();
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(runtime_error(error));
  }
  return {};
}

void Program::release() {
  for (const Slot slot : impl_->left) impl_->slots[slot].reset();
}

std::string Program::bytes(Slot slot) const {
  at::Tensor tensor = impl_->slots.at(slot);
  if (tensor.is_quantized()) tensor = tensor.int_repr();
  const Activation& activation = impl_->activations.at(slot);
  if (activation.dims.size() == 4 && activation.nhwc) tensor = tensor.permute({0, 2, 3, 1});
  tensor = tensor.contiguous();
  return {static_cast<const char*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.nbytes())};
}

}  // namespace oplat::runtimes::qnnpack
