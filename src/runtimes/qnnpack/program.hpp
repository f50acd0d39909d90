// SPDX-License-Identifier: Apache-2.0
/// Kernels in a row, ready to be run again and again: what a kernel's copies and a whole model both
/// become.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtimes/qnnpack/constants.hpp"
#include "runtimes/qnnpack/spec.hpp"

namespace oplat::runtimes::qnnpack {

/// Index of a tensor of a program.
using Slot = std::size_t;

/// One kernel of a program: reads slots, gives its result to a slot of its own.
struct StepOptions {
  std::vector<Slot> inputs;  ///< one per input of the spec
  const Constants* constants =
      nullptr;  ///< packed while the step is added; null: the step before shares what it packed
};

class Program {
 public:
  Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// A tensor that stays, with random contents.
  Slot add_input(const Activation& activation, std::uint64_t seed);
  /// Appends a kernel and gives the slot of its result. Code::Runtime with libtorch's own words
  /// where it takes no such kernel.
  Result<Slot> add_step(const Spec& spec, const StepOptions& options);
  /// To be called once, behind the last step. A run gives each result back behind the step that
  /// reads it last; one that nobody reads behind the step with which results of `kept_bytes` (at
  /// least 1) have been made since.
  void finish(std::int64_t kept_bytes);

  /// Code::Runtime with libtorch's own words.
  Status run();
  /// Gives back the results that a run left.
  void release();
  /// Contents of an input, or of a result that a run left, in the order of the key.
  [[nodiscard]] std::string bytes(Slot slot) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat::runtimes::qnnpack
