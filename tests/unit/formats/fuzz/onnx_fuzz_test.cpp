// SPDX-License-Identifier: Apache-2.0
/// Thousands of damaged models through the fuzz entry: no crash, no sanitizer's report, no hang
/// (CTest's time limit).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/formats/fuzz/onnx_fuzz.hpp"
#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder

constexpr int kMutants = 2000;  // per seed model; about a second with sanitizers

/// Bodies, every kind of constant and attribute, external data.
wire::Model rich_model() {
  wire::Model model = nested_model(3);
  wire::Graph& graph = *model.mutable_graph();
  add_tensor(graph, "shape", kI64, {2}).add_int64_data(-1);
  add_tensor(graph, "half", kF16, {4}).set_raw_data("12345678");
  wire::Tensor& external = add_tensor(graph, "far", kF32, {4});
  external.set_data_location(0);
  wire::StringEntry& entry = *external.add_external_data();
  entry.set_key("location");
  entry.set_value("far.data");
  wire::Node& node = add_node(graph, "Constant", {}, {"k"});
  wire::Tensor& tensor = *add_attribute(node, "value", 4).mutable_t();
  tensor.set_data_type(kI32);
  tensor.add_dims(3);
  tensor.set_raw_data(std::string(12, '\1'));
  wire::Node& slice = add_node(graph, "Slice", {"y", "shape", "k", "", "far"}, {"z", ""});
  add_attribute(slice, "fs", 6).add_floats(0.5F);
  add_attribute(slice, "ss", 8).add_strings("word");
  add_output(model, "z", {"batch", "?"});
  return model;
}

class Mutator {
 public:
  Mutator(std::string bytes, std::uint64_t seed) : bytes_(std::move(bytes)), random_(seed) {}

  std::string next() {
    std::string out = bytes_;
    for (std::uint64_t n = 1 + random_() % 4; n > 0 && !out.empty(); --n) mutate(out);
    return out;
  }

 private:
  // Not std::uniform_int_distribution, whose results differ between standard libraries.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void mutate(std::string& out) {
    const std::size_t at = below(out.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(32, out.size() - at));
    switch (below(5)) {
      case 0:
        out[at] = static_cast<char>(out[at] ^ (1 << below(8)));
        break;
      case 1:
        out[at] = static_cast<char>(random_());
        break;
      case 2:
        out.resize(at);
        break;
      case 3:
        out.insert(at, out.substr(at, length));
        break;
      default:
        out.erase(at, length);
        break;
    }
  }

  std::string bytes_;
  std::mt19937_64 random_;
};

void run(const std::string& bytes) {
  EXPECT_EQ(
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
}

TEST(OnnxFuzz, SeedModelsAreValid) {
  EXPECT_TRUE(graph_of(small_model()));
  const auto rich = graph_of(rich_model());
  EXPECT_TRUE(rich) << rich.error().message;
}

TEST(OnnxFuzz, DamagedModelsAreErrorsOrModels) {
  for (const wire::Model& model : {small_model(), rich_model()}) {
    Mutator mutator(model.SerializeAsString(), 20'240'601);
    for (int i = 0; i < kMutants && !HasFailure(); ++i) run(mutator.next());
  }
}

TEST(OnnxFuzz, EveryPrefixAndEveryBitOfASmallModel) {
  const std::string bytes = small_model().SerializeAsString();
  for (std::size_t length = 0; length <= bytes.size(); ++length) run(bytes.substr(0, length));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    run(flipped);
  }
}

// Lengths and counts that announce more than there is.
TEST(OnnxFuzz, AnnouncedSizesAreNotBelieved) {
  wire::Model model = small_model();
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 62);
  run(model.SerializeAsString());
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  run(model.SerializeAsString());
  run(std::string("\x08\x08\x3a\xff\xff\xff\xff\x0f", 8));
}

}  // namespace
}  // namespace oplat::formats::onnx
