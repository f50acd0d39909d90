// SPDX-License-Identifier: Apache-2.0
/// Operator spaces and pickles of MMT as the Python package asks for them.
#include "app/mmt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MmtTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    test::must(base::write_file(path, text));
    return path;
  }
  base::TemporaryFolder folder_ = test::must(base::TemporaryFolder::create("oplat-mmt"));
};

TEST_F(MmtTest, ASpaceIsExpanded) {
  const std::string file = write("ops.yaml",
                                 "torch.nn:\n"
                                 "  Linear:\n"
                                 "    in_features: [8, 16]\n"
                                 "    out_features: [4]\n"
                                 "    input_shape: [[1, 8], [1, 16]]\n");
  EXPECT_TRUE(is_mmt_space(file));
  EXPECT_FALSE(is_mmt_space(write("fbnet.yaml", "format: oplat.space/1\n")));
  EXPECT_FALSE(is_mmt_space(file + ".missing"));
  const MmtSpaceResult space = test::must(expand_mmt_space(file));
  EXPECT_THAT(space.operators,
              ElementsAre("torch.nn.Linear(in_features=8,out_features=4) [1,8]",
                          "torch.nn.Linear(in_features=16,out_features=4) [1,16]"));
  EXPECT_THAT(space.json, HasSubstr(R"("class":"Linear")"));
  EXPECT_THAT(space.left_out, ElementsAre());
}

TEST_F(MmtTest, AMalformedSpaceIsNamedWithItsFile) {
  const std::string file = write("ops.yaml", "torch.nn: [Linear]\n");
  const auto space = expand_mmt_space(file);
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().code, Code::Input);
  EXPECT_THAT(space.error().message, HasSubstr("ops.yaml"));
}

TEST_F(MmtTest, OperatorsComeBackAsTheyWereWritten) {
  const std::string file = write("meta.pkl", "");
  const std::string json =
      R"([{"input_shape":[1,8],"init_param":{"in_features":8},"avg":0.25,"repr":"Linear"}])";
  test::must(write_mmt_operators(file, json));
  EXPECT_EQ(test::must(read_mmt_operators(file)), json);
  for (const char* wrong : {"{}", "[", "[1]"})
    EXPECT_FALSE(write_mmt_operators(file, wrong)) << wrong;
  EXPECT_EQ(test::must(read_mmt_operators(file)), json) << "what was refused changes nothing";
}

TEST_F(MmtTest, AMalformedPickleIsNamedWithFileAndOffset) {
  const auto operators = read_mmt_operators(write("meta.pkl", "\x80\x02N."));
  ASSERT_FALSE(operators);
  EXPECT_EQ(operators.error().code, Code::Input);
  EXPECT_THAT(operators.error().message, HasSubstr("meta.pkl"));
  EXPECT_THAT(operators.error().message, HasSubstr("byte "));
}

}  // namespace
}  // namespace oplat::app
