// SPDX-License-Identifier: Apache-2.0
/// Fits are bytes of any kind and of many MiB; what tools or others put there is checked when it
/// is read.
#include "table/limits.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

class FitTest : public TableTest {
 protected:
  /// A table of one row, with a fit of these bytes.
  void fill_with(const std::string& blob) {
    Table table = must_open(file(), Mode::Create);
    device_ = must(table.put_device(sample_device()));
    setting_ = must(table.put_setting(sample_setting()));
    must(table.put_row(device_, setting_, std::nullopt, sample_row(kRelu, 1500)));
    must(table.put_fit(device_, setting_, {"some/1", ~std::uint64_t{0}, blob}));
  }
  Result<std::optional<FoundFit>> find() {
    return must_open(file(), Mode::Read).find_fit("some/1", device_, setting_);
  }

  DeviceId device_ = 0;
  SettingId setting_ = 0;
};

/// Every byte, zeros among them, and sequences that are not UTF-8.
std::string binary(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 37 + i / 251) & 0xff);
  return bytes;
}

TEST_F(FitTest, BytesOfSomeMiBComeBackAsTheyWere) {
  const std::string blob = binary((std::size_t{5} << 20) + 3);
  fill_with(blob);
  const auto found = must(find());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->fit.blob == blob) << "no printing of megabytes";
  EXPECT_EQ(found->fit.seed, ~std::uint64_t{0});
  EXPECT_TRUE(found->current);
}

TEST_F(FitTest, EmptyBytesAreBytes) {
  fill_with("");
  EXPECT_EQ(must(find()).value().fit.blob, "");
}

TEST_F(FitTest, ANewFitReplacesTheOneOfItsFormatAlone) {
  fill_with("old");
  {
    Table table = must_open(file(), Mode::Write);
    must(table.put_fit(device_, setting_, {"other/1", 0, "other"}));
    must(table.put_fit(device_, setting_, {"some/1", 0, "new"}));
    EXPECT_EQ(must(table.counts()).fits, 2);
    EXPECT_EQ(must(table.find_fit("other/1", device_, setting_)).value().fit.blob, "other");
  }
  EXPECT_EQ(must(find()).value().fit.blob, "new");
}

TEST_F(FitTest, TextThatAnOldTableOrAToolHoldsIsRead) {
  fill_with("{}");
  raw(file(), "UPDATE fit SET blob = '{\"schema\": \"x\"}'");
  EXPECT_EQ(must(find()).value().fit.blob, "{\"schema\": \"x\"}");
}

TEST_F(FitTest, MoreThanTheLimitIsRefusedBothWays) {
  fill_with("small");
  expect_error(must_open(file(), Mode::Write)
                   .put_fit(device_, setting_, {"some/1", 0, std::string(kMaxFit + 1, 'x')}),
               Code::Input, "the limit is");
  EXPECT_EQ(must(find()).value().fit.blob, "small") << "the one that was there stays";
  raw(file(), "UPDATE fit SET blob = zeroblob(" + std::to_string(kMaxFit + 1) + ")");
  expect_error(find(), Code::Input, "the limit is");
}

}  // namespace
}  // namespace oplat::table
