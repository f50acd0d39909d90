// SPDX-License-Identifier: Apache-2.0
/// Whether a model names other files, from its bytes as they come.
///
/// To know a model again its bytes are hashed, and those of the files that it names. Parsing it for
/// those names copies every weight: of 14 MB that is more than a prediction takes. So the bytes of
/// weights are skipped and only messages that can hold a tensor are gone into. What looks odd is
/// left to the parser, which says what is wrong.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "formats/onnx/model_impl.hpp"

namespace oplat::formats::onnx {
namespace {

class ExternalScan final : public SiblingScan {
 public:
  void add(std::string_view piece) override {
    std::size_t i = 0;
    while (i < piece.size() && !odd_) {
      if (at_ < skip_to_) {
        const std::uint64_t step = std::min<std::uint64_t>(skip_to_ - at_, piece.size() - i);
        at_ += step;
        i += static_cast<std::size_t>(step);
      } else {
        ++at_;
        take(static_cast<unsigned char>(piece[i++]));
      }
      leave_messages();
    }
  }

  [[nodiscard]] bool names_none() const override {
    return !odd_ && !external_ && at_ <= kMaxMessage && open_.size() == 1 && at_ == skip_to_ &&
           expected_ == Expected::Tag && shift_ == 0 && has_graph_ && has_opset_ && has_content_;
  }

 private:
  enum class Part : std::uint8_t { Model, Graph, Node, Attribute, Tensor, SparseTensor, Other };
  enum class Expected : std::uint8_t { Tag, Number, Length };
  struct Message {
    Part part;
    std::uint64_t end;
  };
  static constexpr std::uint64_t kMaxMessage = std::numeric_limits<std::int32_t>::max();
  static constexpr std::size_t kMaxDepth = 90;  // protobuf's own limit is 100
  static constexpr unsigned kMaxShift = 63;

  /// Fields of onnx.proto that hold messages which may hold tensors.
  static Part inside(Part part, std::uint64_t field) {
    switch (part) {
      case Part::Model:
        return field == 7 ? Part::Graph : Part::Other;
      case Part::Graph:
        return field == 1    ? Part::Node
               : field == 5  ? Part::Tensor
               : field == 15 ? Part::SparseTensor
                             : Part::Other;
      case Part::Node:
        return field == 5 ? Part::Attribute : Part::Other;
      case Part::Attribute:
        return field == 5 || field == 10   ? Part::Tensor
               : field == 6 || field == 11 ? Part::Graph
               : field == 22               ? Part::SparseTensor
                                           : Part::Other;
      case Part::SparseTensor:
        return field == 1 || field == 2 ? Part::Tensor : Part::Other;
      case Part::Tensor:
      case Part::Other:
        break;
    }
    return Part::Other;
  }

  /// One byte of a tag, a number or a length.
  void take(unsigned char byte) {
    skip_to_ = at_;
    if (at_ > open_.back().end || shift_ > kMaxShift) {
      odd_ = true;
      return;
    }
    number_ |= static_cast<std::uint64_t>(byte & 0x7fU) << shift_;
    shift_ += 7;
    if ((byte & 0x80U) != 0) return;
    const std::uint64_t number = number_;
    number_ = 0;
    shift_ = 0;
    if (expected_ == Expected::Tag) {
      take_tag(number);
    } else if (expected_ == Expected::Number) {
      constexpr std::uint64_t kDataLocation = 14;
      external_ |= open_.back().part == Part::Tensor && field_ == kDataLocation && number != 0;
      expected_ = Expected::Tag;
    } else {
      take_length(number);
    }
  }

  void take_tag(std::uint64_t tag) {
    field_ = tag >> 3U;
    odd_ |= field_ == 0;
    switch (tag & 7U) {
      case 0:
        expected_ = Expected::Number;
        return;
      case 1:
        skip(8);
        return;
      case 2:
        expected_ = Expected::Length;
        return;
      case 5:
        skip(4);
        return;
      default:
        odd_ = true;
    }
  }

  void skip(std::uint64_t length) {
    odd_ |= length > open_.back().end - at_;
    skip_to_ = at_ + length;
  }

  void take_length(std::uint64_t length) {
    expected_ = Expected::Tag;
    if (length > open_.back().end - at_) {
      odd_ = true;
      return;
    }
    constexpr std::uint64_t kOpset = 8, kNodes = 1, kOutputs = 12, kExternalData = 13;
    const Part part = open_.back().part;
    has_opset_ |= part == Part::Model && field_ == kOpset;
    has_content_ |=
        part == Part::Graph && open_.size() == 2 && (field_ == kNodes || field_ == kOutputs);
    external_ |= part == Part::Tensor && field_ == kExternalData;
    const Part next = inside(part, field_);
    has_graph_ |= part == Part::Model && next == Part::Graph;
    if (next == Part::Other) {
      skip(length);
      return;
    }
    odd_ |= open_.size() >= kMaxDepth;
    open_.push_back({next, at_ + length});
  }

  void leave_messages() {
    while (open_.size() > 1 && at_ == open_.back().end && at_ >= skip_to_) {
      // A message may not end within a field.
      odd_ |= expected_ != Expected::Tag || shift_ != 0;
      open_.pop_back();
    }
  }

  std::vector<Message> open_ = {{Part::Model, kMaxMessage}};
  std::uint64_t at_ = 0;       ///< bytes seen
  std::uint64_t skip_to_ = 0;  ///< where the next tag is
  Expected expected_ = Expected::Tag;
  std::uint64_t field_ = 0;
  std::uint64_t number_ = 0;
  unsigned shift_ = 0;
  bool has_graph_ = false;
  bool has_opset_ = false;
  bool has_content_ = false;  ///< a node or a result
  bool external_ = false;
  bool odd_ = false;
};

}  // namespace

std::unique_ptr<SiblingScan> scan_external_data() { return std::make_unique<ExternalScan>(); }

}  // namespace oplat::formats::onnx
