// SPDX-License-Identifier: Apache-2.0
/// Which rows a split holds out, and the networks that are made of them.
#include "estimate/accuracy_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compat/registry.hpp"
#include "estimate/accuracy_networks.hpp"
#include "unit/estimate/learned/synthetic.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

using test::must;

std::vector<DescribedRow> rows() {
  std::vector<DescribedRow> all;
  for (const test::SyntheticRow& row : test::synthetic_rows())
    all.push_back({row.key, row.description, row.log_ns});
  return all;
}

std::vector<Role> roles(const char* split, std::uint64_t seed = 1) {
  LearnRequest request;
  request.seed = seed;
  request.threads = 1;
  request.effort = 0.05;
  return must(roles_of(rows(), must(parse_split(split)), 0, request, compat::catalogue()));
}

std::int64_t count(const std::vector<Role>& all, Role role) {
  return std::count(all.begin(), all.end(), role);
}

TEST(SplitTest, TwinsAreHeldOutTogether) {
  const auto all = test::synthetic_rows();
  const std::vector<Role> twin = roles("twin");
  std::map<compat::tinynas::ConvTuple, Role> plain;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].conv.fused) plain[all[i].conv] = twin[i];
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    compat::tinynas::ConvTuple conv = all[i].conv;
    if (!conv.fused) continue;
    conv.fused = false;
    EXPECT_EQ(twin[i], plain.at(conv)) << all[i].key;
  }
  EXPECT_GT(count(twin, Role::Ask), 0);
  EXPECT_EQ(roles("random"), roles("random", 2)) << "the text of a row decides, no seed";
}

TEST(SplitTest, LevelsHoldOutTheirRowsAndAskForThoseOfAll) {
  const auto all = test::synthetic_rows();
  const std::vector<Role> pair = roles("level:In_H=20,out_c=64");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int hits = (all[i].conv.in_h == 20 ? 1 : 0) + (all[i].conv.out_c == 64 ? 1 : 0);
    EXPECT_EQ(pair[i], hits == 2 ? Role::Ask : hits == 1 ? Role::Drop : Role::Learn) << all[i].key;
  }
  EXPECT_EQ(count(roles("level:ratio=0.5"), Role::Ask), 80);
  EXPECT_EQ(count(roles("level:residual=0"), Role::Ask), 160) << "without a fused sum";
  EXPECT_EQ(count(roles("level:residual=1"), Role::Ask), 80) << "with one";
}

TEST(SplitTest, BeyondIsTheFifthOfMostWork) {
  const auto all = rows();
  const std::vector<Role> beyond = roles("beyond");
  double least_asked = 1e300, most_learned = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double work = all[i].description.work.flops.value();
    if (beyond[i] == Role::Ask)
      least_asked = std::min(least_asked, work);
    else
      most_learned = std::max(most_learned, work);
  }
  EXPECT_GT(least_asked, most_learned);
  EXPECT_LE(count(beyond, Role::Ask), 48);
  EXPECT_GT(count(beyond, Role::Ask), 24);
}

TEST(SplitTest, KeepLearnsFromItsShare) {
  EXPECT_NEAR(static_cast<double>(count(roles("keep:25%"), Role::Learn)), 60, 30);
  EXPECT_EQ(roles("keep:25%"), roles("keep:25%"));
  EXPECT_NE(roles("keep:25%"), roles("keep:25%", 2));
}

TEST(SplitTest, FoldsAskForEveryRowOnce) {
  const Split split = must(parse_split("folds:4"));
  ASSERT_EQ(split.folds, 4U);
  std::map<std::size_t, int> asked;
  for (std::size_t fold = 0; fold < split.folds; ++fold) {
    const std::vector<Role> all = must(roles_of(rows(), split, fold, {}, compat::catalogue()));
    EXPECT_NEAR(static_cast<double>(count(all, Role::Ask)), 60, 30);
    for (std::size_t i = 0; i < all.size(); ++i) asked[i] += all[i] == Role::Ask ? 1 : 0;
  }
  ASSERT_EQ(asked.size(), rows().size());
  for (const auto& [row, times] : asked) EXPECT_EQ(times, 1) << row;
  for (const char* wrong : {"folds:", "folds:1", "folds:x", "folds:1001"})
    EXPECT_FALSE(parse_split(wrong).has_value()) << wrong;
}

TEST(NetworksTest, ErrorsAreThoseOfSums) {
  // One row a stage, all of which err by the same 2 %, at two batches; a third batch lacks a stage.
  std::vector<test::SyntheticRow> kept;
  for (const std::int64_t batch : {1, 8, 9}) {
    for (const auto& [height, channels] : {std::pair{56, 64}, {28, 256}, {14, 512}, {7, 1024}}) {
      if (batch != 9 || height != 7)
        kept.push_back(
            test::synthetic_row(test::square(batch, channels, height, channels, 3, false)));
    }
  }
  std::vector<NetworkRow> networks;
  for (const test::SyntheticRow& row : kept) {
    const double ns = std::exp(row.log_ns);
    networks.push_back({&row.description, ns, 1.02 * ns});
  }
  const std::vector<NetworkLine> lines = random_networks(networks, 5, 1);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].batch, 1);
  EXPECT_EQ(lines[1].batch, 8);
  for (const NetworkLine& line : lines) {
    EXPECT_EQ(line.networks, 5);
    EXPECT_NEAR(line.mape, 0.02, 1e-9);
    EXPECT_NEAR(line.bias, 0.02, 1e-9);
    EXPECT_EQ(line.within1, 0.0);
  }
}

}  // namespace
}  // namespace oplat::estimate
