// SPDX-License-Identifier: Apache-2.0
#include "oplat/key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/estimate/small_table.hpp"

namespace oplat {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ApiKey, ShowsWhatTheTextSays) {
  const Key key = test::must(Key::parse(test::kMatMul));
  EXPECT_EQ(key.text(), test::kMatMul);
  EXPECT_EQ(key.op(), "MatMul");
  ASSERT_THAT(key.operands(), SizeIs(2));
  const Tensor weights{"f32", true, true, {512, 512}};
  EXPECT_EQ(key.operands()[1], weights);
  ASSERT_THAT(key.results(), SizeIs(1));
  EXPECT_FALSE(key.results()[0]->constant);
  EXPECT_DOUBLE_EQ(key.flops().value(), 2.0 * 512 * 512);
}

TEST(ApiKey, UnknownSizesAndOperandsLeftOutHaveNoValue) {
  const Key key = test::must(Key::parse("test:op{}(f32[?,3],-,&0)->(f32[*])"));
  EXPECT_EQ(key.op(), "test:op");
  ASSERT_THAT(key.operands(), SizeIs(3));
  EXPECT_EQ(key.operands()[0]->dims.front(), std::nullopt);
  EXPECT_EQ(key.operands()[1], std::nullopt);
  EXPECT_EQ(key.operands()[2], key.operands()[0]) << "the same operand again";
  EXPECT_FALSE(key.results()[0]->ranked);
  EXPECT_EQ(key.flops(), std::nullopt);
}

TEST(ApiKey, IsEqualByItsText) {
  const Key one = test::must(Key::parse(test::kCopy250));
  const Key same = test::must(Key::parse(test::kCopy250));
  const Key other = test::must(Key::parse(test::kCopy1000));
  EXPECT_EQ(one, same);
  EXPECT_FALSE(one == other);
}

TEST(ApiKey, RefusesWhatIsNotAKeyWithThePlace) {
  const auto none = Key::parse("Conv(\x1b[31m");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Usage);
  EXPECT_THAT(none.error().message, HasSubstr("byte"));
  EXPECT_EQ(none.error().message.find('\x1b'), std::string::npos) << "messages are printable";
}

}  // namespace
}  // namespace oplat
