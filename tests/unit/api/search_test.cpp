// SPDX-License-Identifier: Apache-2.0
#include "oplat/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/search.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/search/spaces.hpp"

namespace oplat {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ApiScorer : public ::testing::Test {
 protected:
  ApiScorer() {
    std::ofstream(space()) << test::kSmallSpace;
    app::Events events;
    for (const std::string& key : must(app::search_expand({space(), {}}, events)).keys)
      made_.row(made_.device(), made_.setting(), key, std::nullopt, test::timing(1000));
  }
  [[nodiscard]] std::string space() const { return (folder_.path() / "space.yaml").string(); }
  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-api-search"));
  test::SmallTable made_;
};

TEST_F(ApiScorer, ScoresNetworksOfTheLayersThatItLists) {
  const Table table = must(Table::open(made_.table().path().string()));
  const Scorer scorer = must(Scorer::create(table, {.space = space()}));
  ASSERT_THAT(scorer.layers(), SizeIs(7));
  EXPECT_EQ(scorer.layers()[2].name, "one");
  EXPECT_THAT(scorer.layers()[2].blocks, ElementsAre("wide", "grouped", "skip"));
  EXPECT_THAT(scorer.layers()[2].channels, ElementsAre(8));
  EXPECT_THAT(scorer.missing(), IsEmpty());
  std::vector<LayerChoice> network(scorer.layers().size());
  const NetworkScore more = must(scorer.score(network));
  EXPECT_GT(more.median_ms, 0);
  EXPECT_LT(more.interval.low_ms, more.median_ms);
  EXPECT_GT(more.interval.high_ms, more.median_ms);
  network[3].block = 2;
  EXPECT_LT(must(scorer.score(network)).median_ms, more.median_ms) << "a layer is left out";
}

TEST_F(ApiScorer, NeedsOneResolution) {
  const Table table = must(Table::open(made_.table().path().string()));
  std::ofstream(space()) << test::with(test::kSmallSpace, "resolutions: 8", "resolutions: [8, 16]");
  const auto refused = Scorer::create(table, {.space = space()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("8, 16"));
  EXPECT_TRUE(Scorer::create(table, {.space = space(), .resolution = 8}));
}

}  // namespace
}  // namespace oplat
