// SPDX-License-Identifier: Apache-2.0
/// The catalogue as a list: entries found, none twice, facts that others build on.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "formats/caffe2/operators.hpp"
#include "ir/view.hpp"
#include "unit/compat/all_domains.hpp"
#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Catalogue, EveryEntryIsFoundUnderItsName) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const OperatorInfo& info : compat::catalogue().operators()) {
    EXPECT_FALSE(info.op.empty());
    EXPECT_TRUE(seen.emplace(info.domain, info.op).second)
        << info.domain << ":" << info.op << " stands twice";
    EXPECT_EQ(compat::catalogue().find(info.domain, info.op), &info);
  }
  EXPECT_GT(seen.size(), 150U);
}

/// A slip of the pen in a name would make an entry that no model reaches.
TEST(Catalogue, EveryEntryIsAnOperatorOfItsDomain) {
  for (const OperatorInfo& info : compat::catalogue().operators()) {
    // ONNX Runtime's own, although it is in ONNX's domain.
    if (info.op == "SimplifiedLayerNormalization") continue;
    // Paddle's operators have no versions; their names are those of the tables that hold them
    // (paddle_key_test.cpp), or those that tests/python/paddle_test.py makes kernels of.
    if (info.domain.starts_with("paddle")) continue;
    // Tuples of convolution libraries are in no model.
    if (info.domain == "tinynas") continue;
    if (info.domain == formats::caffe2::kCaffe2Domain) {
      EXPECT_TRUE(formats::caffe2::is_caffe2_operator(info.op)) << info.op;
      continue;
    }
    bool defined = false;
    for (std::int64_t version = 1; version <= 30; ++version) {
      defined = defined || since_version(info.domain, info.op, version) == version;
    }
    EXPECT_TRUE(defined) << info.domain << ":" << info.op;
  }
}

TEST(Catalogue, UnknownOperatorsHaveNoEntry) {
  EXPECT_EQ(compat::catalogue().find("", "NoSuchOperator"), nullptr);
  EXPECT_EQ(compat::catalogue().find("torch", "Conv"), nullptr);
  EXPECT_EQ(compat::catalogue().find("ai.onnx", "Conv"), compat::catalogue().find("", "Conv"));
}

TEST(Catalogue, FamiliesThatModelsAreMadeOfHaveFormulas) {
  for (const char* op : {"Conv",
                         "ConvTranspose",
                         "QLinearConv",
                         "ConvInteger",
                         "Gemm",
                         "MatMul",
                         "MatMulInteger",
                         "MaxPool",
                         "AveragePool",
                         "GlobalAveragePool",
                         "Relu",
                         "Clip",
                         "Sigmoid",
                         "HardSwish",
                         "Add",
                         "Mul",
                         "Pow",
                         "QuantizeLinear",
                         "DynamicQuantizeLinear",
                         "BatchNormalization",
                         "LayerNormalization",
                         "Softmax",
                         "ReduceMean",
                         "LSTM",
                         "GRU",
                         "RNN",
                         "Concat",
                         "Split",
                         "Transpose",
                         "Slice",
                         "Gather",
                         "Pad",
                         "Resize",
                         "Expand",
                         "Tile",
                         "Reshape",
                         "Flatten"}) {
    const OperatorInfo* info = compat::catalogue().find("", op);
    ASSERT_NE(info, nullptr) << op;
    EXPECT_NE(info->flops, nullptr) << op;
  }
  for (const char* op : {"FusedConv",          "NhwcFusedConv",
                         "QLinearConv",        "FusedMatMul",
                         "FusedGemm",          "QGemm",
                         "MatMulNBits",        "Gelu",
                         "QuickGelu",          "BiasGelu",
                         "FastGelu",           "QLinearAdd",
                         "QLinearMul",         "QLinearSigmoid",
                         "QLinearLeakyRelu",   "QLinearGlobalAveragePool",
                         "QLinearAveragePool", "SkipLayerNormalization",
                         "Attention",          "MultiHeadAttention"}) {
    const OperatorInfo* info = compat::catalogue().find("com.microsoft", op);
    ASSERT_NE(info, nullptr) << op;
    EXPECT_NE(info->flops, nullptr) << op;
  }
  for (const char* op : {"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
                         "ReorderInput", "ReorderOutput", "Upsample"}) {
    EXPECT_NE(compat::catalogue().find("com.microsoft.nchwc", op), nullptr) << op;
  }
}

TEST(Catalogue, AnAttributeThatChangesTheWorkIsNotInert) {
  const OperatorInfo* quick_gelu = compat::catalogue().find("com.microsoft", "QuickGelu");
  ASSERT_NE(quick_gelu, nullptr);
  EXPECT_TRUE(quick_gelu->inert.empty()) << "with alpha 1 the runtime leaves out a pass";
  EXPECT_FALSE(compat::catalogue().find("", "LeakyRelu")->inert.empty());
}

TEST(Catalogue, ViewsAreTheReshapingOperators) {
  std::map<std::string_view, std::set<std::string_view>> views;
  for (const OperatorInfo& info : compat::catalogue().operators()) {
    if (info.view) views[info.domain].insert(info.op);
  }
  EXPECT_EQ(views.size(), 2U);
  EXPECT_THAT(views[""], ElementsAre("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"));
  EXPECT_THAT(views["paddle_lite"],
              ElementsAre("dropout", "flatten", "flatten2", "flatten_contiguous_range", "reshape",
                          "reshape2", "squeeze", "squeeze2", "unsqueeze", "unsqueeze2"));
}

TEST(Catalogue, ViewsThatAreCopiedAreNoViews) {
  const auto view = [](std::string_view text) {
    return is_view(*parse(text), compat::catalogue());
  };
  EXPECT_TRUE(view("Flatten/13{axis=1}(f32[2,3,4])->(f32[2,12])"));
  EXPECT_FALSE(view("Flatten/13@copied=1{axis=1}(f32[2,3,4])->(f32[2,12])"));
  EXPECT_FALSE(view("Relu/14{}(f32[2])->(&0)"));
}

TEST(Catalogue, ACastToItsOwnTypeInPlaceDoesNothing) {
  const auto view = [](std::string_view text) {
    return is_view(*parse(text), compat::catalogue());
  };
  EXPECT_TRUE(view("Cast/21{saturate=1,to=1}(f32[3,4])->(&0)"));
  EXPECT_FALSE(view("Cast/21{saturate=1,to=1}(f32[3,4])->(f32[3,4])")) << "a copy";
  EXPECT_FALSE(view("Cast/21{saturate=1,to=10}(f32[3,4])->(f16[3,4])"));
  // By the text alone, as predictions ask.
  const Catalogue& own = Catalogue::own();
  EXPECT_TRUE(names_view("Cast/21{saturate=1,to=1}(f32[3,4])->(&0)", own));
  EXPECT_FALSE(names_view("Cast/21{saturate=1,to=10}(f32[3,4])->(f16[3,4])", own));
  EXPECT_TRUE(may_name_view("Cast/21{}(?)->(?)", own));
  EXPECT_FALSE(may_name_view("Relu/14{}(f32[3])->(f32[3])", own));
  EXPECT_FALSE(may_name_view("com.microsoft:Cast/1{}(f32[3])->(&0)", own));
  EXPECT_FALSE(names_view("Cast", own)) << "no key";
}

TEST(Catalogue, OperandsThatKernelsWriteOver) {
  const auto overwritable = [](std::string_view domain, std::string_view op) {
    return compat::catalogue().find(domain, op)->overwritable;
  };
  EXPECT_THAT(overwritable("com.microsoft.nchwc", "Conv"), ElementsAre(3));
  EXPECT_THAT(overwritable("com.microsoft", "FusedConv"), ElementsAre(3));
  for (const char* op :
       {"Relu", "Sigmoid", "Tanh", "Clip", "Cast", "Softmax", "LeakyRelu", "HardSigmoid", "Reshape",
        "Trilu", "Scatter", "ScatterElements", "TensorScatter"}) {
    EXPECT_THAT(overwritable("", op), ElementsAre(0)) << op;
  }
  EXPECT_THAT(overwritable("com.microsoft", "Trilu"), ElementsAre(0));
  for (const char* op :
       {"Conv", "Gemm", "Add", "Mul", "Exp", "Erf", "BatchNormalization", "LayerNormalization",
        "Transpose", "ScatterND", "BitShift", "Pow", "ReverseSequence"}) {
    EXPECT_THAT(overwritable("", op), IsEmpty()) << op;
  }
}

/// A domain of a system that nobody but this test knows.
class ToyDomain final : public KeyDomain {
 public:
  std::string_view name() const override { return "toy"; }
  std::vector<OperatorInfo> operators() const override {
    return {
        {.domain = "toy", .op = "spin", .flops = [](const Key&) { return std::optional(42.0); }}};
  }
  bool has_aliases() const override { return true; }
  std::vector<KeyAlias> aliases(const Key& key) const override { return {{key, "nothing"}}; }
  /// Its tables leave the attributes out.
  std::optional<Key> table_form(const Key& key) const override {
    Key form = key;
    form.attributes.clear();
    return form;
  }
};

TEST(Catalogue, TakesOperatorsAndAnswersOfTheDomainsItIsMadeWith) {
  const ToyDomain toy;
  const KeyDomain* const domains[] = {&toy};
  const Catalogue catalogue(domains);
  const Key key = parse("toy:spin{speed=7}(f32[8])->(f32[8])").value();

  ASSERT_NE(catalogue.find("toy", "spin"), nullptr);
  EXPECT_NE(catalogue.find("", "Conv"), nullptr);
  EXPECT_EQ(work(key, catalogue).flops, std::optional(42.0));
  // Described as its tables say it: without the attribute, two sizes are all the numbers.
  EXPECT_THAT(describe(key, catalogue, {}).value().numbers, ElementsAre(8, 8));

  EXPECT_EQ(catalogue.domain("toy"), &toy);
  EXPECT_EQ(catalogue.domain_of("toy:spin{}(f32[8])->(f32[8])"), &toy);
  EXPECT_EQ(catalogue.aliasing_domain_of("toy:spin{}(f32[8])->(f32[8])"), &toy);
  EXPECT_EQ(catalogue.domain_of("toys:spin{}(f32[8])->(f32[8])"), nullptr);
  EXPECT_EQ(catalogue.domain_of("toy"), nullptr);
  EXPECT_EQ(catalogue.domain_of("Relu/14{}(f32[8])->(f32[8])"), nullptr);
}

TEST(Catalogue, WithoutDomainsKnowsNoForeignSystem) {
  const Key key = parse("toy:spin{speed=7}(f32[8])->(f32[8])").value();
  EXPECT_EQ(Catalogue::own().find("toy", "spin"), nullptr);
  EXPECT_EQ(Catalogue::own().domain("toy"), nullptr);
  EXPECT_EQ(work(key, Catalogue::own()).flops, std::nullopt);
  EXPECT_EQ(work(key, Catalogue::own()).bytes(), 64);
  EXPECT_THAT(describe(key, Catalogue::own(), {}).value().numbers, ElementsAre(7, 8, 8));
}

TEST(KeyDomain, ADomainThatOverridesNothingHasNothingSpecial) {
  class PlainDomain final : public KeyDomain {
   public:
    std::string_view name() const override { return "plain"; }
  };
  const PlainDomain plain;
  const Key key = parse("plain:go{}(f32[8])->(f32[8])").value();
  EXPECT_THAT(plain.operators(), IsEmpty());
  EXPECT_FALSE(plain.has_aliases());
  EXPECT_THAT(plain.aliases(key), IsEmpty());
  EXPECT_EQ(plain.table_form(key), std::nullopt);
  EXPECT_EQ(plain.native_text(key), std::nullopt);
  EXPECT_EQ(plain.wrong_sizes(key), std::nullopt);
  EXPECT_EQ(plain.split_text(key, true), std::nullopt);
  Node node;
  node.op = "go";
  EXPECT_EQ(plain.kernel_key({}, node).error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::ir
