// SPDX-License-Identifier: Apache-2.0
/// One operator of a Caffe2 net on its way to a canonical key: typed access to its arguments and
/// operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::formats::caffe2::shapes {

using Numbers = std::vector<std::int64_t>;

/// Bound on dimensions and arguments that count something, so that no sum or product of two leaves
/// 63 bits.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;

/// "[1,3,224,224]"
std::string text(const Numbers& numbers);

class Call {
 public:
  /// Code::Input if an operand is missing or of unknown shape.
  static Result<Call> of(ir::Key& key);

  [[nodiscard]] const std::string& op() const { return key_.op; }
  [[nodiscard]] bool int8() const { return key_.op.starts_with("Int8"); }
  [[nodiscard]] std::size_t operands() const { return dims_.size(); }
  [[nodiscard]] const Numbers& dims(std::size_t operand) const { return dims_[operand]; }
  [[nodiscard]] ir::Dtype dtype(std::size_t operand) const { return key_.operand(operand)->dtype; }
  /// Code::Input unless there are `least` to `most` operands.
  [[nodiscard]] Status count_operands(std::size_t least, std::size_t most) const;

  /// Take an argument out of the key; std::nullopt if it is missing. Code::Input if it is of
  /// another kind or out of range.
  Result<std::optional<std::int64_t>> take_integer(std::string_view name, std::int64_t least,
                                                   std::int64_t most);
  Result<std::optional<Numbers>> take_integers(std::string_view name, std::int64_t least,
                                               std::int64_t most);
  Result<std::optional<double>> take_real(std::string_view name);
  Result<std::optional<std::string>> take_word(std::string_view name);
  void drop(std::string_view name);
  void set(std::string_view name, ir::Value value);

  /// Dimension that `axis` names, counted from the end where negative; `count` dimensions, that
  /// many included if `past_end`.
  [[nodiscard]] Result<std::size_t> axis(std::int64_t axis, std::size_t count,
                                         bool past_end = false) const;
  /// The layout, NHWC for Int8 operators, which know no other; kept in the key.
  Result<bool> take_channels_last();
  /// The one result. Code::Input if it is empty or too large.
  Status finish(ir::Dtype dtype, const Numbers& dims);

 private:
  explicit Call(ir::Key& key) : key_(key) {}
  std::optional<ir::Value> take(std::string_view name);

  ir::Key& key_;
  std::vector<Numbers> dims_;
};

/// What a sliding window does to an image, in numbers alone.
struct Window {
  Numbers kernels;
  Numbers strides;
  Numbers dilations;
  Numbers pads;  ///< before each dimension, then after each
};

/// Reads every spelling of a window over an image of these sizes and keeps the numbers in the key.
Result<Window> take_window(Call& call, const Numbers& image);
/// Sizes of the result. Code::Input if the window is larger than the padded image.
Result<Numbers> slide(const Call& call, const Window& window, const Numbers& image);

/// Element type and dimensions from operands and arguments, which become canonical.
using Infer = Status (*)(Call&);
/// nullptr if the operator is not known.
Infer inference_of(std::string_view op);
/// Operands that are filters, biases, ...: from the second to this many.
std::size_t parameters_of(std::string_view op);

}  // namespace oplat::formats::caffe2::shapes
