// SPDX-License-Identifier: Apache-2.0
/// Starting and replacing runners.
#include "measure/kernel_runner_pool.hpp"

namespace oplat::measure {

Result<measure::KernelRunner*> KernelRunnerPool::get() {
  if (runner_ && uses_ >= max_uses_) discard();
  if (!runner_) {
    auto made = (*factory_)();
    // A machine that is short of memory for a moment is the usual reason; one that cannot start a
    // worker fails again.
    if (!made && made.error().code != Code::Interrupted) made = (*factory_)();
    if (!made) return fail(std::move(made).error());
    if (!*made) return fail(Code::Internal, "the runner factory made nothing");
    runner_ = std::make_unique<WaitingRunner>(std::move(*made), wait_);
    uses_ = 0;
    ++next_;
  }
  ++uses_;
  return runner_.get();
}

}  // namespace oplat::measure
