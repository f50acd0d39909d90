// SPDX-License-Identifier: Apache-2.0
/// When a result may be written over an operand: "&i" among the results.
#include <gtest/gtest.h>

#include "unit/plan/net.hpp"

namespace oplat::plan {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the graphs of this folder

constexpr const char* kPlain = "Relu/14{}(f32[4])->(f32[4])";
constexpr const char* kInPlace = "Relu/14{}(f32[4])->(&0)";

/// x -> Foo -> h, the beginning of every net here; "h" is the first inner tensor.
Net begun() {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"h"});
  return net;
}

void relu(Net& net, const std::string& from, const std::string& to) {
  net.node("Relu", {from}, {to}).since = 14;
}

void end(Net& net, const std::vector<std::string>& from) {
  net.node("Bar", from, {"y"});
  net.output("y");
}

/// The key of the net's Relu, which saw f32[4] and gave it.
std::string relu_key(const Net& net) {
  const auto texts = keys(net, {{"Relu", {seen({4})}, {seen({4})}, {}}});
  return texts.size() == 1 ? texts[0] : "none";
}

TEST(InPlace, LastReaderOfAnInnerTensor) {
  Net net = begun();
  relu(net, "h", "r");
  end(net, {"r"});
  EXPECT_EQ(relu_key(net), kInPlace);
}

TEST(InPlace, NotWhileSomebodyReadsTheOperandLater) {
  Net net = begun();
  relu(net, "h", "r");
  end(net, {"r", "h"});
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, EarlierReadersDoNotMatter) {
  Net net = begun();
  net.node("Bar", {"h"}, {"b"}, "early");
  relu(net, "h", "r");
  end(net, {"r", "b"});
  EXPECT_EQ(relu_key(net), kInPlace);
}

TEST(InPlace, NotOverAnInputOfTheGraph) {
  Net net;
  net.input("x");
  relu(net, "x", "r");
  end(net, {"r"});
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, NotOverAConstant) {
  Net net = begun();
  net.constant("c", {4});
  relu(net, "c", "r");
  end(net, {"r", "h"});
  EXPECT_EQ(relu_key(net), "Relu/14{}(f32c[4])->(f32[4])");
}

TEST(InPlace, NotOverAnOutputOfTheGraph) {
  Net net = begun();
  relu(net, "h", "r");
  end(net, {"r"});
  net.output("h");
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, NotWhereTheResultLeavesTheGraph) {
  Net net = begun();
  relu(net, "h", "y");
  net.output("y");
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, NotOverATensorOfAnEnclosingGraph) {
  Net net = begun();
  net.tensor("o").outer = true;
  relu(net, "o", "r");
  end(net, {"r", "h"});
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, NotWhileABodyReadsTheOperandLater) {
  Net net = begun();
  relu(net, "h", "r");
  ir::Node& control = net.node("If", {"r"}, {"y"});
  control.bodies.emplace_back("then_branch", std::make_shared<const ir::Graph>());
  control.captured.push_back(net.id("h"));
  net.output("y");
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(InPlace, OnlyWhereTypesAndShapesAgree) {
  Net net = begun();
  net.node("Cast", {"h"}, {"r"}).since = 13;
  end(net, {"r"});
  const auto cast = [&](const SeenTensor& from, const SeenTensor& to) {
    return keys(net, {{"Cast", {from}, {to}, {}}}).at(0);
  };
  EXPECT_EQ(cast(seen({4}), seen({4})), "Cast/13{}(f32[4])->(&0)");
  EXPECT_EQ(cast(seen({4}), seen({4}, ir::Dtype::F16)), "Cast/13{}(f32[4])->(f16[4])");
  EXPECT_EQ(cast(seen({4}), seen({2, 2})), "Cast/13{}(f32[4])->(f32[2,2])");
}

TEST(InPlace, OnlyWhereTheCatalogueAllowsIt) {
  Net net = begun();
  net.constant("w", {4, 4});
  net.node("MatMul", {"h", "w"}, {"r"}).since = 13;
  end(net, {"r"});
  EXPECT_EQ(keys(net, {{"MatMul", {seen({4, 4}), {}}, {seen({4, 4})}, {}}}).at(0),
            "MatMul/13{}(f32[4,4],f32c[4,4])->(f32[4,4])");
}

TEST(Views, ShareTheBufferOfTheirOperand) {
  Net net = begun();
  net.node("Reshape", {"h", "s"}, {"v"});
  relu(net, "v", "r");
  end(net, {"r"});
  EXPECT_EQ(relu_key(net), kInPlace);
  Net later = begun();  // the bytes under the view are still wanted
  later.node("Reshape", {"h", "s"}, {"v"});
  relu(later, "v", "r");
  end(later, {"r", "h"});
  EXPECT_EQ(relu_key(later), kPlain);
}

TEST(Views, OfAViewReachTheFirstBuffer) {
  Net net = begun();
  net.node("Reshape", {"h", "s"}, {"v"});
  net.node("Flatten", {"v"}, {"u"});
  relu(net, "v", "r");
  end(net, {"r", "u"});  // u is read after Relu, and is h's bytes
  EXPECT_EQ(relu_key(net), kPlain);
}

TEST(Views, OfInputsAreInputs) {
  Net net;
  net.input("x");
  net.node("Reshape", {"x", "s"}, {"v"});
  relu(net, "v", "r");
  end(net, {"r"});
  EXPECT_EQ(relu_key(net), kPlain);
}

// The runtime copies such a view into the output's own memory.
TEST(Views, ThatLeaveTheGraphLeaveTheirOperandBehind) {
  Net net = begun();
  relu(net, "h", "r");
  net.node("Reshape", {"r", "s"}, {"y"});
  net.output("y");
  EXPECT_EQ(relu_key(net), kInPlace);
}

/// The Conv of NCHWc models, which may write its result over the tensor that it adds, operand 3.
std::string conv_key(const std::string& x, const std::string& sum) {
  Net net;
  net.input("i");
  net.constant("w", {16, 16, 1, 1});
  net.node("Foo", {"i"}, {"h"});
  net.node("Foo", {"i"}, {"s"}, "Foo2");
  ir::Node& conv = net.node("Conv", {x, "w", "", sum}, {"r"});
  conv.domain = "com.microsoft.nchwc";
  end(net, {"r"});
  const SeenTensor image = seen({1, 16, 4, 4});
  const std::string key = keys(net, {{"Conv", {image, {}, image}, {image}, {}}}).at(0);
  return key.substr(key.rfind("}(") + 1);
}

TEST(InPlace, OverTheOperandThatIsAdded) {
  EXPECT_EQ(conv_key("h", "s"), "(f32[1,16,4,4],f32c[16,16,1,1],-,f32[1,16,4,4])->(&3)");
}

// It still reads operand 0 while it writes.
TEST(InPlace, NotOverATensorThatTheNodeReadsTwice) {
  EXPECT_EQ(conv_key("h", "h"), "(f32[1,16,4,4],f32c[16,16,1,1],-,&0)->(f32[1,16,4,4])");
}

}  // namespace
}  // namespace oplat::plan
