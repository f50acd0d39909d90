// SPDX-License-Identifier: Apache-2.0
#include "app/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/rules.hpp"
#include "compat/registry.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/search/spaces.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMmtSpace = R"(torch.nn:
  ReLU:
    no_params: true
    input_shape: [[1, 64, 112, 112]]
)";

class SearchTest : public ::testing::Test {
 protected:
  SearchTest() { std::ofstream(path()) << test::kSmallSpace; }
  [[nodiscard]] std::string path() const { return (folder_.path() / "space.yaml").string(); }
  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-search"));
  Events events_;
};

TEST_F(SearchTest, ExpandsAtTheFilesResolutionsOrAtThoseAskedFor) {
  const SearchExpandResult own = must(search_expand({path(), {}}, events_));
  EXPECT_FALSE(own.keys.empty());
  EXPECT_EQ(own.layers, must(read_space({path(), {}})).layers.size());
  const SearchExpandResult asked = must(search_expand({path(), {8, 16, 8}}, events_));
  EXPECT_EQ(asked.resolutions, 2U) << "each once";
  EXPECT_EQ(must(search_expand({path(), {8}}, events_)).resolutions, 1U);
}

TEST_F(SearchTest, TheTextIsALineForEachKernelOrOperator) {
  const SearchExpandResult expanded = must(search_expand({path(), {8}}, events_));
  const SearchTextResult keys = must(search_text({path(), {8}}, false, events_));
  EXPECT_EQ(std::count(keys.text.begin(), keys.text.end(), '\n'),
            static_cast<std::ptrdiff_t>(expanded.keys.size()));
  EXPECT_THAT(keys.text, HasSubstr(expanded.keys.front() + "\n"));
  EXPECT_THAT(keys.notes, ElementsAre(HasSubstr("layers at 1 resolution")));
  const std::string mmt = (folder_.path() / "ops.yaml").string();
  std::ofstream(mmt) << kMmtSpace;
  const SearchTextResult operators = must(search_text({mmt, {}}, false, events_));
  EXPECT_THAT(operators.text, HasSubstr("torch.nn.ReLU"));
  EXPECT_THAT(operators.notes, ElementsAre("1 operators"));
  EXPECT_EQ(search_text({mmt, {}}, true, events_).error().code, Code::Usage);
  EXPECT_EQ(search_text({mmt, {8}}, false, events_).error().code, Code::Usage);
}

TEST_F(SearchTest, KernelsWithoutARowAreListed) {
  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kCopy250, std::nullopt, test::timing(1000));
  SearchLutRequest request;
  request.space = {path(), {8}};
  request.table = small.table().path().string();
  const search::SpaceLatencies latencies = must(search_lut(request, events_));
  EXPECT_EQ(latencies.missing.size(), must(search_expand(request.space, events_)).keys.size());
  request.options.missing = predict::MissingPolicy::Zero;
  EXPECT_EQ(must(search_lut(request, events_)).resolutions.size(), 1U);
}

TEST_F(SearchTest, ChecksTheRuntimeBeforeTheSpace) {
  SearchLutRequest request;
  request.space.file = "none.yaml";
  request.rows.runtime = "mind";
  EXPECT_EQ(search_lut(request, events_).error().code, Code::Runtime);
  request.rows.runtime.reset();
  EXPECT_EQ(search_lut(request, events_).error().code, Code::Input);
}

TEST(Rules, AreTheBuiltInOnesOrThoseOfAFile) {
  Events events;
  const auto built_in = must(rules({}, events));
  EXPECT_EQ(built_in.size(), plan::rule_set_names(compat::rule_sets()).size());
  EXPECT_EQ(rules({"/none/at/all.yaml"}, events).error().code, Code::Input);
}

TEST_F(SearchTest, TheLatenciesAreAFileWithNotes) {
  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kMatMul, std::nullopt, test::timing(1000));
  SearchLutRequest request;
  request.space = {path(), {8}};
  request.table = small.table().path().string();
  const SearchLutText csv = must(search_lut_text(request, "csv", events_));
  EXPECT_THAT(csv.text, HasSubstr(","));
  ASSERT_EQ(csv.notes.size(), 2U) << "what the rows are of, and a line for each resolution";
  EXPECT_THAT(csv.notes[1], HasSubstr("small at 8: "));
  EXPECT_FALSE(csv.latencies.missing.empty());
  EXPECT_EQ(require_times(csv.latencies, request).error().code, Code::Missing);
  const SearchLutText json = must(search_lut_text(request, "json", events_));
  EXPECT_THAT(json.text, HasSubstr("oplat.space.latencies/1"));
}

}  // namespace
}  // namespace oplat::app
