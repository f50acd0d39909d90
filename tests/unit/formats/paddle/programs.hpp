// SPDX-License-Identifier: Apache-2.0
/// Small Paddle programs, written field by field, and the exported ones.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "formats/paddle.hpp"
#include "paddle/program.pb.h"

namespace oplat::formats::paddle::testing {

namespace wire = ::oplat::paddle;

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Slots = std::vector<std::pair<std::string, Names>>;

/// VarType and AttrType, as Paddle numbers them.
enum Kind { kI64 = 3, kF32 = 5, kDense = 7, kFeedList = 9, kFetchList = 10 };

/// Writes a program; the first input is "x".
class Maker {
 public:
  Maker() {
    block_ = program_.add_blocks();
    block_->set_idx(0);
    block_->set_parent_idx(-1);
    holder("feed", kFeedList);
    holder("fetch", kFetchList);
  }

  Maker& variable(const std::string& name, const Numbers& dims, bool persistable = false,
                  int type = kF32) {
    wire::Variable& variable = *block_->add_vars();
    variable.set_name(name);
    variable.set_persistable(persistable);
    variable.mutable_type()->set_type(kDense);
    wire::Tensor& tensor = *variable.mutable_type()->mutable_dense()->mutable_tensor();
    tensor.set_data_type(type);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    return *this;
  }
  Maker& parameter(const std::string& name, const Numbers& dims) {
    return variable(name, dims, true);
  }

  wire::Operator& op(const std::string& type, const Slots& inputs, const Slots& outputs) {
    wire::Operator& op = *block_->add_ops();
    op.set_type(type);
    const auto fill = [](wire::Slot* slot, const auto& from) {
      slot->set_parameter(from.first);
      for (const std::string& name : from.second) slot->add_arguments(name);
    };
    for (const auto& each : inputs) fill(op.add_inputs(), each);
    for (const auto& each : outputs) fill(op.add_outputs(), each);
    return op;
  }
  Maker& feed(const std::string& name, const Numbers& dims) {
    variable(name, dims);
    ints(op("feed", {{"X", {"feed"}}}, {{"Out", {name}}}), "col", feeds_++);
    return *this;
  }
  Maker& fetch(const std::string& name) {
    op("fetch", {{"X", {name}}}, {{"Out", {"fetch"}}});
    return *this;
  }

  static void ints(wire::Operator& op, const std::string& name, std::int64_t value) {
    wire::Attribute& attribute = *op.add_attrs();
    attribute.set_name(name);
    attribute.set_type(0);
    attribute.set_i(static_cast<std::int32_t>(value));
  }
  static void ints(wire::Operator& op, const std::string& name, const Numbers& values) {
    wire::Attribute& attribute = *op.add_attrs();
    attribute.set_name(name);
    attribute.set_type(3);
    for (const std::int64_t value : values) attribute.add_ints(static_cast<std::int32_t>(value));
  }
  static void word(wire::Operator& op, const std::string& name, const std::string& value) {
    wire::Attribute& attribute = *op.add_attrs();
    attribute.set_name(name);
    attribute.set_type(2);
    attribute.set_s(value);
  }

  [[nodiscard]] wire::Program& program() { return program_; }
  [[nodiscard]] std::string bytes() const { return program_.SerializeAsString(); }
  [[nodiscard]] Result<ir::Graph> read(const ShapeOptions& options = {}) const {
    return reader().read(base::Source::from_bytes("net.pdmodel", bytes()), options);
  }

 private:
  void holder(const std::string& name, int type) {
    wire::Variable& variable = *block_->add_vars();
    variable.set_name(name);
    variable.set_persistable(true);
    variable.mutable_type()->set_type(type);
  }

  wire::Program program_;
  wire::Block* block_;
  std::int64_t feeds_ = 0;
};

/// x [-1,3,8,8] through a convolution into y [-1,4,4,4], then relu into z.
inline Maker small() {
  Maker maker;
  maker.feed("x", {-1, 3, 8, 8})
      .parameter("w", {4, 3, 3, 3})
      .variable("y", {-1, 4, 4, 4})
      .variable("z", {-1, 4, 4, 4});
  wire::Operator& conv =
      maker.op("conv2d", {{"Input", {"x"}}, {"Filter", {"w"}}, {"Bias", {}}}, {{"Output", {"y"}}});
  Maker::ints(conv, "strides", Numbers{2, 2});
  Maker::ints(conv, "paddings", Numbers{1, 1});
  Maker::ints(conv, "op_role", 0);
  maker.op("relu", {{"X", {"y"}}}, {{"Out", {"z"}}});
  maker.fetch("z");
  return maker;
}

inline ShapeOptions batch(std::int64_t size) { return {.shapes = {}, .batch = size}; }

/// "name dtype[dims]" of a tensor.
inline std::string shown(const ir::Graph& graph, ir::TensorId id) {
  const ir::TensorInfo& info = graph.tensors[static_cast<std::size_t>(id)];
  ir::Key key;
  key.op = "T";
  key.operands.emplace_back(
      ir::TensorEntry{info.dtype.value_or(ir::Dtype::Any), info.constant, info.shape, {}});
  const std::string printed = ir::print(key);  // T{}(f32[2,3])->()
  return info.name + " " + printed.substr(4, printed.size() - 9);
}

inline void expect_refused(const Result<ir::Graph>& graph, Code code, const std::string& why) {
  ASSERT_FALSE(graph) << why;
  EXPECT_EQ(graph.error().code, code) << graph.error().message;
  EXPECT_THAT(graph.error().message, ::testing::HasSubstr(why));
}

/// The exports of scripts/paddle_nets; std::nullopt if they are not made.
inline std::filesystem::path exports() {
  return std::filesystem::path(OPLAT_TEST_SOURCE_DIR).parent_path() / "models" / "paddle";
}

}  // namespace oplat::formats::paddle::testing
