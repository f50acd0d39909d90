// SPDX-License-Identifier: Apache-2.0
/// Queries of runtime_lut to keys and back.
#include "formats/caffe2/lut_query.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using ::testing::HasSubstr;

std::string int_argument(const std::string& name, std::int64_t value) {
  return caffe2_argument_text({name, Value(value)});
}
std::string text_argument(const std::string& name, const std::string& value) {
  return caffe2_argument_text({name, Value(value)});
}

LutQuery small_conv() {
  return {.op_type = "Int8ConvRelu",
          .op_args = {int_argument("kernel", 3), text_argument("order", "NHWC"),
                      int_argument("pad", 1), int_argument("stride", 2)},
          .input_shapes = {{1, 64, 48, 3}, {16, 3, 3, 3}, {16}},
          .input_dtypes = {6, 6, 2}};
}

TEST(LutQuery, AConvolutionsKey) {
  const auto key = key_of(small_conv());
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(print(*key),
            "caffe2:Int8ConvRelu{dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,1,1],"
            "strides=[2,2]}"
            "(u8[1,64,48,3],u8c[16,3,3,3],i32c[16])->(u8[1,32,24,16])");
  EXPECT_EQ(lut_query_of(*key), small_conv());
}

TEST(LutQuery, InertArgumentsAreInNoKey) {
  LutQuery noisy = small_conv();
  noisy.op_args.push_back("name: \"Y_scale\"\nf: 0.25\n");
  noisy.op_args.push_back("name: \"Y_zero_point\"\ni: 3\n");
  noisy.op_args.push_back(int_argument("ws_nbytes_limit", 268435456));
  ASSERT_TRUE(key_of(noisy) && key_of(small_conv()));
  EXPECT_EQ(*key_of(noisy), *key_of(small_conv()));
}

TEST(LutQuery, ArgumentsThatNobodyKnowsStay) {
  LutQuery query = small_conv();
  query.op_args.insert(query.op_args.begin(), text_argument("fused", "a \"b\""));
  const auto key = key_of(query);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_THAT(print(*key), HasSubstr(R"(fused="a \"b\"")"));
  EXPECT_EQ(lut_query_of(*key), query);
}

/// kernels of a Relu are not those of a window, and stay as they are.
TEST(LutQuery, ArgumentsOfAnotherKindsNameStay) {
  const LutQuery query{
      .op_type = "Relu",
      .op_args = {int_argument("axis", 1), "name: \"kernels\"\nints: 3\nints: 3\n"},
      .input_shapes = {{4, 4}},
      .input_dtypes = {1}};
  const auto key = key_of(query);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(print(*key), "caffe2:Relu{axis=1,kernels=[3,3]}(f32[4,4])->(f32[4,4])");
  EXPECT_EQ(lut_query_of(*key), query);
}

TEST(LutQuery, ArgumentsWithoutAValueSayNothing) {
  LutQuery query = small_conv();
  query.op_args.push_back("name: \"x\"\n");
  query.op_args.push_back("name: \"z\" ints: []");
  const auto key = key_of(query);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(lut_query_of(*key), small_conv());
}

void expect_refused(LutQuery query, const std::string& why) {
  const auto key = key_of(query);
  ASSERT_FALSE(key) << print(*key);
  EXPECT_EQ(key.error().code, Code::Input);
  EXPECT_THAT(key.error().message, HasSubstr(why));
}

TEST(LutQuery, WhatDoesNotFitIsRefused) {
  const auto changed = [](auto change) {
    LutQuery query = small_conv();
    change(query);
    return query;
  };
  expect_refused(changed([](LutQuery& q) { q.op_type = "Int8Nothing"; }),
                 "Int8Nothing: oplat cannot infer");
  expect_refused(changed([](LutQuery& q) { q.op_type.clear(); }), "operator");
  expect_refused(changed([](LutQuery& q) { q.input_dtypes.pop_back(); }),
                 "3 shapes, but 2 data types");
  expect_refused(changed([](LutQuery& q) { q.input_dtypes[0] = 99; }), "data type 99");
  expect_refused(changed([](LutQuery& q) {
                   q.input_shapes[1] = {16, 3, 3, 4};
                 }),
                 "expected [16,3,3,3]");
  expect_refused(changed([](LutQuery& q) { q.input_shapes[2] = {15}; }), "expected [16]");
  expect_refused(changed([](LutQuery& q) {
                   q.input_shapes[0] = {1, 64, 48};
                 }),
                 "[1,64,48]; expected an image");
  expect_refused(changed([](LutQuery& q) { q.input_shapes[0] = {1, 0, 48, 3}; }), "dimension of 0");
  expect_refused(changed([](LutQuery& q) { q.input_shapes[0] = {1, -3, 48, 3}; }), "dimension of");
  expect_refused(changed([](LutQuery& q) {
                   q.input_shapes[0] = {1, std::int64_t{1} << 40, 48, 3};
                 }),
                 "1099511627776");
  expect_refused(changed([](LutQuery& q) {
                   q.input_shapes[0] = {1 << 30, 1 << 30, 1 << 30, 3};
                 }),
                 "too large");
  expect_refused(changed([](LutQuery& q) { q.input_shapes[0] = {1, 1, 0, 3}; }), "dimension");
  expect_refused(changed([](LutQuery& q) { q.input_shapes.clear(), q.input_dtypes.clear(); }),
                 "has no operand");
  expect_refused(changed([](LutQuery& q) { q.op_args[0] = int_argument("kernel", 0); }),
                 "kernel is 0");
  expect_refused(changed([](LutQuery& q) { q.op_args[0] = text_argument("kernel", "3"); }),
                 "not an integer");
  expect_refused(changed([](LutQuery& q) { q.op_args[0] = int_argument("kernel", 5); }),
                 "expected [16,5,5,3]");
  expect_refused(changed([](LutQuery& q) { q.op_args[1] = text_argument("order", "NCHW"); }),
                 "expected NHWC");
  expect_refused(changed([](LutQuery& q) { q.op_args.push_back(int_argument("kernel", 3)); }),
                 "twice");
  expect_refused(changed([](LutQuery& q) { q.op_args.push_back("kernel: 3"); }),
                 "not the protobuf text");
  expect_refused(changed([](LutQuery& q) { q.op_args.push_back(text_argument("x", "\xff")); }),
                 "ASCII");
  expect_refused(changed([](LutQuery& q) { q.op_args.push_back(int_argument("group", 2)); }),
                 "group 2");
}

TEST(LutQuery, AKeyOfAnotherMakeHasNone) {
  for (const char* text : {"Conv/11{}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,6,6])",
                           "caffe2:NoSuch{}(f32[1])->(f32[1])", "caffe2:Relu{}(f32[*])->(f32[*])",
                           "caffe2:Relu{}(f32[?])->(f32[?])", "caffe2:Relu{}(-)->(-)",
                           "caffe2:Relu{}(f32[4])->(f32[5])", "caffe2:Relu{}(f32c[4])->(f32[4])",
                           "caffe2:Sum{}(f32[4],&0)->(f32[4])",
                           "caffe2:Int8ConvRelu{kernel=3,order=NHWC,pad=1,stride=2}(u8[1,8,8,3],"
                           "u8c[4,3,3,3],i32c[4])->(u8[1,4,4,4])"}) {
    const auto key = parse(text);
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(lut_query_of(*key), std::nullopt) << text;
  }
}

TEST(LutQuery, TypesHaveOneNumberEach) {
  for (int number = -2; number < 40; ++number) {
    const auto dtype = dtype_of_caffe2(number);
    if (!dtype) continue;
    const auto back = caffe2_number(*dtype);
    ASSERT_TRUE(back);
    EXPECT_EQ(dtype_of_caffe2(*back), dtype);
    EXPECT_EQ(*back, number == 3 ? 6 : number);
  }
  EXPECT_EQ(caffe2_number(Dtype::BF16), std::nullopt);
}

/// A query of any operator, in a spelling of any kind; most fit, a few do not.
class AnyQuery {
 public:
  explicit AnyQuery(std::uint64_t seed) : random_(seed) {}

  LutQuery make() {
    query_ = {};
    const bool int8 = random_.below(2) == 0;
    last_ = int8 || random_.below(2) == 0;
    type_ = int8 ? 6 : 1;
    const std::string prefix = int8 ? "Int8" : "";
    batch_ = number(2);
    channels_ = 4 * number(3);
    height_ = 6 + number(9);
    width_ = 6 + number(9);
    switch (random_.below(10)) {
      case 0:
      case 1:
        conv(prefix);
        break;
      case 2:
      case 3:
        pool(prefix + pick({"AveragePool", "MaxPool"}));
        break;
      case 4:
        product(prefix + "FC");
        break;
      case 5:
        add(prefix + "Sum", {image(channels_), image(channels_)});
        order();
        break;
      case 6:
        add(prefix + pick({"Relu", "Sigmoid", "Softmax", "LeakyRelu", "Flatten", "Transpose",
                           "ResizeNearest"}),
            {image(channels_)});
        order();
        break;
      case 7:
        add(prefix + "Concat", {image(channels_), image(channels_)});
        if (random_.below(2) == 0)
          argument(int_argument("axis", static_cast<std::int64_t>(random_.below(4))));
        if (random_.below(2) == 0)
          argument(int_argument("add_axis", static_cast<std::int64_t>(random_.below(2))));
        order();
        break;
      case 8:
        add(prefix + "Reshape", {image(channels_)});
        argument(
            caffe2_argument_text({"shape", Value::ints({0, pick_number({-1, 2, 0}), channels_})}));
        break;
      default:
        add(prefix + "ChannelShuffle", {image(channels_)});
        argument(int_argument("group", pick_number({2, 4})));
        order();
    }
    std::sort(query_.op_args.begin(), query_.op_args.end());
    return query_;
  }

 private:
  std::int64_t number(std::uint64_t most) {
    return 1 + static_cast<std::int64_t>(random_.below(most));
  }
  std::string pick(const std::vector<std::string>& from) {
    return from[random_.below(from.size())];
  }
  std::int64_t pick_number(const std::vector<std::int64_t>& from) {
    return from[random_.below(from.size())];
  }
  std::vector<std::int64_t> image(std::int64_t channels) const {
    if (last_) return {batch_, height_, width_, channels};
    return {batch_, channels, height_, width_};
  }
  void add(const std::string& op, std::vector<std::vector<std::int64_t>> shapes) {
    query_.op_type = op;
    query_.input_dtypes.assign(shapes.size(), type_);
    query_.input_shapes = std::move(shapes);
  }
  void argument(std::string text) { query_.op_args.push_back(std::move(text)); }
  void order() { argument(text_argument("order", last_ ? "NHWC" : "NCHW")); }
  /// The two numbers under one of the three names.
  void sizes(const std::string& name, std::int64_t h, std::int64_t w) {
    if (h == w && random_.below(2) == 0) return argument(int_argument(name, h));
    if (random_.below(2) == 0)
      return argument(caffe2_argument_text({name + "s", Value::ints({h, w})}));
    argument(int_argument(name + "_h", h));
    argument(int_argument(name + "_w", w));
  }
  void window(std::int64_t kernel_h, std::int64_t kernel_w) {
    sizes("kernel", kernel_h, kernel_w);
    if (random_.below(3) > 0) sizes("stride", number(3), number(3));
    const auto padding = random_.below(5);
    if (padding == 0) argument(int_argument("pad", number(2)));
    if (padding == 1) argument(caffe2_argument_text({"pads", Value::ints({0, 1, 2, 1})}));
    if (padding == 2)
      argument(int_argument("legacy_pad", static_cast<std::int64_t>(random_.below(4))));
    if (padding == 3) {
      for (const char* side : {"pad_t", "pad_l", "pad_b", "pad_r"})
        argument(int_argument(side, number(3) - 1));
    }
    order();
  }
  void conv(const std::string& prefix) {
    const std::int64_t h = number(3);
    const std::int64_t w = random_.below(2) == 0 ? h : number(3);
    const std::int64_t group = pick_number({1, 2, channels_});
    const std::int64_t inner = channels_ / group;
    const std::int64_t outputs = channels_ * number(2);
    add(prefix + "Conv" + (prefix.empty() ? "" : pick({"", "Relu"})),
        {image(channels_), last_ ? std::vector<std::int64_t>{outputs, h, w, inner}
                                 : std::vector<std::int64_t>{outputs, inner, h, w}});
    if (random_.below(4) > 0)
      query_.input_shapes.push_back({outputs}), query_.input_dtypes.push_back(type_ == 6 ? 2 : 1);
    if (group > 1 || random_.below(2) == 0) argument(int_argument("group", group));
    if (random_.below(4) == 0) sizes("dilation", number(2), number(2));
    window(h, w);
  }
  void pool(const std::string& op) {
    add(op, {image(channels_)});
    if (random_.below(3) > 0) return window(number(3), number(3));
    argument(int_argument("global_pooling", 1));
    order();
  }
  void product(const std::string& op) {
    const std::int64_t outputs = number(20);
    const std::int64_t axis = number(3);
    const auto x = image(channels_);
    std::int64_t inner = 1;
    for (std::size_t d = static_cast<std::size_t>(axis); d < x.size(); ++d) inner *= x[d];
    add(op, {x, {outputs, inner}, {outputs}});
    if (axis != 1 || random_.below(2) == 0) argument(int_argument("axis", axis));
    order();
  }

  base::Random random_;
  LutQuery query_;
  bool last_ = false;
  int type_ = 1;
  std::int64_t batch_ = 1, channels_ = 1, height_ = 1, width_ = 1;
};

/// Whatever the spelling: the key says all, and the query made of it asks for the same key.
TEST(LutQuery, AKeysQueryHasThatKey) {
  std::set<std::string> operators;
  int fitting = 0;
  AnyQuery any(20240301);
  for (int round = 0; round < 2000; ++round) {
    const LutQuery query = any.make();
    const auto key = key_of(query);
    if (!key) {
      EXPECT_EQ(key.error().code, Code::Input);
      continue;
    }
    ++fitting;
    operators.insert(query.op_type);
    const std::string text = print(*key);
    const auto read = parse(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, *key) << text;
    const auto back = lut_query_of(*key);
    ASSERT_TRUE(back) << text;
    const auto again = key_of(*back);
    ASSERT_TRUE(again) << text << "\n" << again.error().message;
    EXPECT_EQ(*again, *key);
    EXPECT_EQ(back->input_shapes, query.input_shapes);
    // The usual spelling of the usual spelling is itself.
    EXPECT_EQ(lut_query_of(*again), back) << text;
  }
  EXPECT_GT(fitting, 1000);
  EXPECT_GT(operators.size(), 20U);
}

/// The published net's own queries are in the most usual spelling.
TEST(LutQuery, PublishedQueriesComeBackToTheByte) {
  const std::filesystem::path file =
      std::filesystem::path(OPLAT_SHARED_DIR) / "data/mobile-vision/ChamNet-A.int8.queries.jsonl";
  if (!std::filesystem::exists(file))
    GTEST_SKIP() << "the published queries are not here: " << file;
  std::ifstream stream(file);
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) {
    const auto json = nlohmann::json::parse(line);
    LutQuery query{.op_type = json.at("op_type"),
                   .op_args = json.at("op_args"),
                   .input_shapes = json.at("input_shapes"),
                   .input_dtypes = json.at("input_dtypes")};
    const auto key = key_of(query);
    ASSERT_TRUE(key) << line << "\n" << key.error().message;
    EXPECT_EQ(lut_query_of(*key), query) << line;
  }
  EXPECT_EQ(lines, 69);
}

}  // namespace
}  // namespace oplat::formats::caffe2
