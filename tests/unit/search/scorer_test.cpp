// SPDX-License-Identifier: Apache-2.0
#include "search/scorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spaces.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::search {
namespace {

using test::must;
using ::testing::HasSubstr;

/// So that some results do not stay near a core.
constexpr std::int64_t kResolution = 1024;

/// Every kernel of the small space has a row of its own time, but those that a test leaves out.
class ScorerTest : public ::testing::Test {
 protected:
  ScorerTest() { small_.empty_call(device_, setting_, 5000); }

  void measure(const std::string& but = "none of them") {
    const Expansion all = must(expand(space_, kResolution));
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
      if (all.keys[i].find(but) == std::string::npos)
        small_.row(device_, setting_, all.keys[i], std::nullopt,
                   test::timing(1000 + 10 * static_cast<double>(i)));
    }
  }
  Scorer scorer(bool zero = false) {
    const std::vector<std::int64_t> resolutions = {kResolution};
    Options options;
    if (zero) options.missing = predict::MissingPolicy::Zero;
    return Scorer(must(time_space(small_.table(), selection(), space_, resolutions, options)), 0,
                  zero);
  }
  predict::Selection selection() {
    return must(predict::select_rows(small_.table(), {}, ir::Catalogue::own()));
  }

  SearchSpace space_ = test::space_of(test::kSmallSpace);
  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

/// The plan of a network that has `one` and `two` at the two layers with a choice.
table::Plan plan_of(const Scorer& scorer, std::size_t one, std::size_t two) {
  table::Plan plan;
  plan.weight_bytes = scorer.timed().reuse_bytes;
  const Expansion& expansion = scorer.timed().expansion;
  for (std::size_t i = 0; i < expansion.layers.size(); ++i) {
    for (const Cell& cell : expansion.layers[i].cells) {
      if ((i == 2 && cell.choice != one) || (i == 3 && cell.choice != two)) continue;
      for (const std::size_t kernel : cell.kernels)
        plan.kernels.push_back({"", expansion.keys[kernel], 1});
    }
  }
  return plan;
}

TEST_F(ScorerTest, ANetworkTakesWhatAPredictionOfItsKernelsSays) {
  measure();
  const Scorer scorer = this->scorer();
  int networks = 0;
  for (const std::size_t one : {0, 1}) {
    for (const std::size_t two : {0, 1, 2}) {
      const std::vector<LayerChoice> network{{}, {}, {one, 0}, {two, 0}, {}, {}, {}};
      const CellLatency score = must(scorer.score(network));
      const predict::Prediction whole =
          must(predict::predict(small_.table(), selection(), plan_of(scorer, one, two), {}));
      EXPECT_GT(whole.composition.evicted_bytes, 0);
      EXPECT_NEAR(score.ns.value(), whole.latency_ns.value(), 1e-6);
      EXPECT_NEAR(score.interval.value().low, whole.interval.value().low, 1e-6);
      EXPECT_NEAR(score.interval->high, whole.interval->high, 1e-6);
      ++networks;
    }
  }
  EXPECT_EQ(networks, 6);
}

TEST_F(ScorerTest, RefusesNetworksThatTheSpaceDoesNotHave) {
  measure();
  const Scorer scorer = this->scorer();
  const auto too_few = scorer.score(std::vector<LayerChoice>(3));
  EXPECT_EQ(too_few.error().code, Code::Usage);
  EXPECT_THAT(too_few.error().message, HasSubstr("choices for 3 layers, the space has 7"));
  const auto no_block = scorer.score(std::vector<LayerChoice>{{}, {}, {7, 0}, {}, {}, {}, {}});
  EXPECT_THAT(no_block.error().message, HasSubstr("layer one: block 7"));
  const auto no_channels = scorer.score(std::vector<LayerChoice>{{}, {}, {0, 9}, {}, {}, {}, {}});
  EXPECT_THAT(no_channels.error().message, HasSubstr("channels 9"));
  // Its stride is 2, so that nothing cannot stand there.
  const auto no_cell = scorer.score(std::vector<LayerChoice>{{}, {}, {2, 0}, {}, {}, {}, {}});
  EXPECT_THAT(no_cell.error().message, HasSubstr("block skip does not exist from 4 to 8"));
}

TEST_F(ScorerTest, OnlyNetworksWithAKernelWithoutATimeAreRefused) {
  measure("group=2");
  const std::vector<LayerChoice> grouped{{}, {}, {1, 0}, {2, 0}, {}, {}, {}};
  const std::vector<LayerChoice> wide{{}, {}, {0, 0}, {2, 0}, {}, {}, {}};
  const Scorer strict = scorer();
  EXPECT_TRUE(strict.score(wide));
  const auto refused = strict.score(grouped);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Missing);
  EXPECT_THAT(refused.error().message, HasSubstr("group=2"));
  EXPECT_TRUE(scorer(true).score(grouped));
}

}  // namespace
}  // namespace oplat::search
