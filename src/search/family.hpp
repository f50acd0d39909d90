// SPDX-License-Identifier: Apache-2.0
/// Family: the operators by which blocks of a search space are executed, and the seam behind which
/// a foreign system names them.
///
/// A space says what its blocks compute; in which kernels a runtime does that depends on the system
/// whose networks are searched: whether an activation is part of the convolution, how an image
/// lies in memory, what quantisation adds at both ends. A system derives a class from Family
/// (src/compat/<system>/) and lists it in compat/registry.cpp; `family: NAME` in the space's file
/// chooses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::search {

/// What flows from layer to layer.
struct Tensor {
  std::int64_t batch = 1;
  std::int64_t channels = 3;
  std::int64_t size = 0;  ///< height and width
  bool flat = false;      ///< [batch, channels], after a fully connected layer
};

struct Convolution {
  std::int64_t channels = 0;  ///< of its result
  std::int64_t kernel = 1;    ///< padded by half of it
  std::int64_t stride = 1;
  std::int64_t group = 1;
  bool relu = true;
};

/// Another kernel whose measured rows stand for one that was not measured.
struct StandIn {
  std::string key;
  std::string words;  ///< for people, after the reason: "of ThatOperator"
};

/// Kernels in order of execution; an error says what of the sizes does not go together.
using Kernels = std::vector<Result<ir::Key>>;

/// Immutable and thread-safe; lives as long as the process or the spaces that name it. Each step
/// appends its kernels; `in` is what the step reads.
class Family {
 public:
  virtual ~Family() = default;

  /// As spaces name it; a literal.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// What is done to an image first: layout, quantisation.
  virtual void input(const Tensor& in, Kernels& kernels) const = 0;
  virtual void conv(const Tensor& in, const Convolution& how, Kernels& kernels) const = 0;
  virtual void channel_shuffle(const Tensor& in, std::int64_t group, Kernels& kernels) const = 0;
  /// Of the tensor with another one of its shape.
  virtual void sum(const Tensor& in, Kernels& kernels) const = 0;
  virtual void average_pool(const Tensor& in, std::int64_t kernel, std::int64_t stride,
                            Kernels& kernels) const = 0;
  virtual void fully_connected(const Tensor& in, std::int64_t channels, Kernels& kernels) const = 0;
  /// What is done to the last layer: softmax, the way back to floats.
  virtual void output(const Tensor& in, Kernels& kernels) const = 0;

  /// Whose rows answer for this kernel if it has none of its own; std::nullopt: nobody's.
  [[nodiscard]] virtual std::optional<StandIn> stand_in(std::string_view key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
};

/// Appends the kernels of one step after the other and follows the tensor through them. The family
/// must outlive it.
class Operators {
 public:
  Operators(const Family& family, Tensor tensor) : family_(&family), tensor_(tensor) {}

  void input() { family_->input(tensor_, kernels_); }
  void conv(const Convolution& how);
  void channel_shuffle(std::int64_t group) { family_->channel_shuffle(tensor_, group, kernels_); }
  void sum() { family_->sum(tensor_, kernels_); }
  void average_pool(std::int64_t kernel, std::int64_t stride);
  void fully_connected(std::int64_t channels);
  void output() { family_->output(tensor_, kernels_); }

  [[nodiscard]] const Tensor& tensor() const { return tensor_; }
  [[nodiscard]] Kernels take() { return std::move(kernels_); }

 private:
  const Family* family_;
  Tensor tensor_;
  Kernels kernels_;
};

}  // namespace oplat::search
