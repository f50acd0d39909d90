// SPDX-License-Identifier: Apache-2.0
/// One operator of a Paddle program while its results are inferred: typed access to attributes and
/// operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/paddle/shapes.hpp"

namespace oplat::formats::paddle::shapes {

using Numbers = std::vector<std::int64_t>;

/// Bound on dimensions and attributes that count something, so that no sum or product of two leaves
/// 63 bits.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;
inline constexpr std::size_t kMaxRank = 16;
/// Integers whose values are followed: enough for shapes and index lists.
inline constexpr std::size_t kMaxValues = 64;

/// "[1,3,224,224]"
std::string text(const Numbers& numbers);
std::int64_t product(std::span<const std::int64_t> numbers);

class Call {
 public:
  explicit Call(const PaddleCall& source) : source_(source) {}

  [[nodiscard]] std::string_view op() const { return source_.op; }
  [[nodiscard]] bool has(std::string_view slot) const {
    return source_.operands.find(slot) != source_.operands.end();
  }
  /// Code::Input if the slot is empty.
  [[nodiscard]] Result<const PaddleTensor*> operand(std::string_view slot) const;
  [[nodiscard]] std::span<const PaddleTensor> operands(std::string_view slot) const;
  [[nodiscard]] std::size_t results(std::string_view slot) const;

  /// Code::Input if it is of another kind or out of range.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise,
                                             std::int64_t least = -kMaxSize,
                                             std::int64_t most = kMaxSize) const;
  /// std::nullopt if it is missing; a single number is a list of one.
  [[nodiscard]] Result<std::optional<Numbers>> integers(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name, bool otherwise) const;
  [[nodiscard]] std::vector<double> reals(std::string_view name) const;
  [[nodiscard]] std::string word(std::string_view name, std::string_view otherwise) const;

  /// Values of the tensors of a slot, one list; std::nullopt if the slot is empty. Code::Missing
  /// where they are not known.
  [[nodiscard]] Result<std::optional<Numbers>> values(std::string_view slot) const;
  /// The first that is there: a list of tensors, a tensor, an attribute. Names may be empty.
  [[nodiscard]] Result<std::optional<Numbers>> numbers(std::string_view list,
                                                       std::string_view tensor,
                                                       std::string_view attribute) const;

  /// Dimension that `axis` names, counted from the end where negative.
  [[nodiscard]] Result<std::size_t> axis(std::int64_t axis, std::size_t rank,
                                         bool past_end = false) const;

  /// The next result of the slot.
  void give(std::string_view slot, Numbers dims, std::optional<Numbers> values = std::nullopt);
  /// What was given. Code::Input if a shape is absurd.
  Result<PaddleSlots> finish();

 private:
  [[nodiscard]] const ir::Value* attribute(std::string_view name) const;

  const PaddleCall& source_;
  PaddleSlots given_;
};

using Infer = Status (*)(Call&);

struct Operator {
  std::string_view name;
  Infer infer;
};

/// The families, each in a file of its own.
std::span<const Operator> image_operators();
std::span<const Operator> detection_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> slicing_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> number_operators();
std::span<const Operator> product_operators();

/// What an operator does to two integers; std::nullopt if it is not defined, or leaves 63 bits.
std::optional<std::int64_t> calculate(std::string_view op, std::int64_t x, std::int64_t y);
/// X -> Out of the same shape.
Status unary(Call& call);
/// Shape of two operands broadcast against each other, the shorter one beginning at `axis` of the
/// longer (-1: at its end).
Result<Numbers> broadcast(const Call& call, const Numbers& x, const Numbers& y, std::int64_t axis);

}  // namespace oplat::formats::paddle::shapes
