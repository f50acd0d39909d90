// SPDX-License-Identifier: Apache-2.0
#include "app/groups_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class GroupsFile : public ::testing::Test {
 protected:
  Result<std::map<std::string, std::string>> read(const std::string& text) {
    const std::string path = (folder_.path() / "groups.tsv").string();
    std::ofstream(path, std::ios::binary) << text;
    return read_groups_file(path, "key");
  }
  base::TemporaryFolder folder_ = test::must(base::TemporaryFolder::create("oplat-groups"));
};

TEST_F(GroupsFile, HoldsNamesAndGroups) {
  EXPECT_THAT(test::must(read("# a comment\n\na\t1\r\nb\twith\ttabs\t2\na\t3\n")),
              ElementsAre(Pair("a", "3"), Pair("b\twith\ttabs", "2")));
}

TEST_F(GroupsFile, NamesTheLineThatIsNone) {
  for (const char* bad : {"a\t1\nno tab\n", "a\t1\n\t2\n", "a\t1\nb\t\n"}) {
    SCOPED_TRACE(bad);
    const auto wrong = read(bad);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::Input);
    EXPECT_THAT(wrong.error().message,
                HasSubstr("groups.tsv:2: expected 'key<tab>GROUP', found '"));
  }
}

}  // namespace
}  // namespace oplat::app
