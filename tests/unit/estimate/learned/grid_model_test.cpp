// SPDX-License-Identifier: Apache-2.0
/// Training and the model of a grid: what it learns, that it comes back as it was, and that no
/// bytes make it misbehave.
#include "estimate/learned/grid_model.hpp"
#include "estimate/learned/model_head.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "unit/compat/all_domains.hpp"
#include "unit/estimate/fit_bytes.hpp"
#include "unit/estimate/learned/synthetic.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

using test::must;

LearnRequest quick() {
  LearnRequest request;
  request.threads = 1;
  request.effort = 0.05;
  request.calibrate = false;
  return request;
}

struct Rows {
  std::vector<ir::Description> descriptions;
  std::vector<double> log_ns;
  void add(const test::SyntheticRow& row) {
    descriptions.push_back(row.description);
    log_ns.push_back(row.log_ns);
  }
};

bool asked(const test::SyntheticRow& row) {
  return row.conv.in_h == 20 && row.conv.out_c == 64 && row.conv.batch == 8;
}

const Rows& all_but_asked() {
  static const Rows rows = [] {
    Rows most;
    for (const test::SyntheticRow& row : test::synthetic_rows()) {
      if (!asked(row)) most.add(row);
    }
    return most;
  }();
  return rows;
}

const std::string& fitted_bytes() {
  static const std::string bytes =
      must(GridModel::fit(all_but_asked().descriptions, all_but_asked().log_ns, quick())).save();
  return bytes;
}

TEST(BoosterTest, LearnsAStepAndTheSameOneAgain) {
  Matrix x(200, 2);
  std::vector<float> y;
  for (std::size_t i = 0; i < x.rows; ++i) {
    x.row(i)[0] = static_cast<float>(i);
    x.row(i)[1] = 3;  // never varies
    y.push_back(i < 100 ? 1.0F : 2.0F);
  }
  BoostOptions options;
  options.trees = 60;
  options.learning_rate = 0.2;
  options.feature_fraction = 1;
  const Forest forest = must(boost(x, y, options));
  EXPECT_EQ(forest.trees(), 60U);
  EXPECT_NEAR(forest.value(std::vector<float>{20, 3}), 1, 0.02);
  EXPECT_NEAR(forest.value(std::vector<float>{180, 3}), 2, 0.02);
  EXPECT_EQ(must(boost(x, y, options)).save(), forest.save());
  EXPECT_NEAR(
      must(boost(Matrix(3, 1), std::vector<float>{1, 2, 6}, options)).value(std::vector<float>{0}),
      3, 1e-6)
      << "nothing varies: the mean";
}

TEST(BoosterTest, StopsWhenItIsTold) {
  Matrix x(10, 1);
  for (std::size_t i = 0; i < x.rows; ++i) x.row(i)[0] = static_cast<float>(i);
  BoostOptions options;
  int calls = 0;
  options.progress = [&](int) { return ++calls < 3; };
  const auto forest = boost(x, std::vector<float>(10, 1), options);
  ASSERT_FALSE(forest);
  EXPECT_EQ(forest.error().code, Code::Interrupted);
  EXPECT_EQ(calls, 3);
}

TEST(GridModelTest, AnswersBetweenTheRowsAndComesBackAsItWas) {
  const GridModel model = must(GridModel::load(fitted_bytes()));
  EXPECT_EQ(model.save(), fitted_bytes());
  int questions = 0;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    if (!asked(row)) continue;
    ++questions;
    const auto answer = model.answer(row.description, Profile::Accurate);
    ASSERT_TRUE(answer) << row.key;
    EXPECT_NEAR(answer->log_ns, row.log_ns, 0.25) << row.key;
    EXPECT_GT(answer->sd_log, 0);
    EXPECT_LT(answer->sd_log, 1);
    const auto fast = model.answer(row.description, Profile::Fast);
    ASSERT_TRUE(fast);
    EXPECT_NEAR(fast->log_ns, row.log_ns, 0.3) << row.key;
  }
  EXPECT_EQ(questions, 6);
}

/// A launch of 40 us and so high a rate that the largest of the rows adds 7 us to it.
double mostly_launch_ns(const ir::Description& description) {
  return 4e4 + *description.work.flops / 4e6;
}

TEST(GridModelTest, TimesThatAreMostlyLaunchesTellOfLargerOnes) {
  Rows rows;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    rows.descriptions.push_back(row.description);
    rows.log_ns.push_back(std::log(mostly_launch_ns(row.description)));
  }
  const GridModel model = must(GridModel::fit(rows.descriptions, rows.log_ns, quick()));
  for (const std::int64_t channels : {256, 512}) {
    const auto larger =
        test::synthetic_row(test::square(32, channels, 56, channels, 3, false)).description;
    const auto answer = model.answer(larger, Profile::Accurate);
    ASSERT_TRUE(answer);
    EXPECT_NEAR(answer->log_ns, std::log(mostly_launch_ns(larger)), 0.3)
        << channels << ": relative to a roofline it would come out eleven times too long and more";
  }
}

TEST(GridModelTest, AFitOfBeforeIsRefused) {
  const auto before = GridModel::load(test::of_format(fitted_bytes(), "oplat.learned", 5, 0));
  ASSERT_FALSE(before) << "its forests are over other features";
  EXPECT_EQ(before.error().code, Code::Input);
  EXPECT_NE(before.error().message.find("run oplat fit again"), std::string::npos);
}

TEST(GridModelTest, AFlagStaysATwinThoughNoQuestionLacksIt) {
  Rows rows;
  std::vector<ir::Description> corner;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    const bool largest = row.conv.batch == 8 && row.conv.in_h == 56 && row.conv.out_c == 256 &&
                         row.conv.in_c == 256 && row.conv.kernel == 3;
    if (largest && !row.conv.fused) {
      corner.push_back(row.description);
    } else {
      rows.add(row);
    }
  }
  ASSERT_EQ(corner.size(), 1U);
  LearnRequest request = quick();
  request.questions = corner;
  const auto answer = must(GridModel::fit(rows.descriptions, rows.log_ns, request))
                          .answer(corner.front(), Profile::Accurate);
  ASSERT_TRUE(answer);
  EXPECT_EQ(name(answer->pattern.kind), "grid");
}

TEST(GridModelTest, IsLessSureFarFromTheRows) {
  const GridModel model = must(GridModel::load(fitted_bytes()));
  const auto near = model.answer(
      test::synthetic_row(test::square(8, 64, 20, 64, 3, false)).description, Profile::Accurate);
  const auto beyond =
      model.answer(test::synthetic_row(test::square(64, 1024, 112, 1024, 3, false)).description,
                   Profile::Accurate);
  ASSERT_TRUE(near && beyond);
  EXPECT_GT(beyond->sd_log, near->sd_log);
  EXPECT_TRUE(std::isfinite(beyond->log_ns));
}

TEST(GridModelTest, OnlyBeyondTheRowsAnAnswerHasAFloor) {
  const GridModel model = must(GridModel::load(fitted_bytes()));
  const auto near = model.answer(
      test::synthetic_row(test::square(8, 64, 20, 64, 3, false)).description, Profile::Accurate);
  ASSERT_TRUE(near);
  EXPECT_FALSE(near->floor_ns);
  // Towards nothing the overhead stays; towards more work the floor rises.
  const auto least = model.answer(
      test::synthetic_row(test::square(1, 1, 1, 1, 1, false)).description, Profile::Fast);
  ASSERT_TRUE(least && least->floor_ns);
  EXPECT_GE(*least->floor_ns, model.machine().overhead_ns);
  const auto most = model.answer(
      test::synthetic_row(test::square(64, 1024, 112, 1024, 3, false)).description, Profile::Fast);
  ASSERT_TRUE(most && most->floor_ns);
  EXPECT_GT(*most->floor_ns, 10 * *least->floor_ns);
}

TEST(GridModelTest, KnowsNothingOfOtherOperators) {
  const GridModel model = must(GridModel::load(fitted_bytes()));
  const auto other = ir::describe(ir::parse(test::kMatMul).value()).value();
  EXPECT_FALSE(model.answer(other, Profile::Accurate));
}

TEST(GridModelTest, TheSameRowsAndSeedGiveTheSameBytes) {
  Rows rows;
  for (const test::SyntheticRow& row : test::synthetic_rows()) rows.add(row);
  LearnRequest request = quick();
  request.effort = 0.01;
  const std::string first = must(GridModel::fit(rows.descriptions, rows.log_ns, request)).save();
  EXPECT_EQ(must(GridModel::fit(rows.descriptions, rows.log_ns, request)).save(), first);
}

TEST(GridModelTest, FewRowsAreRefusedAndProgressCanStop) {
  Rows rows;
  for (const test::SyntheticRow& row : test::synthetic_rows()) rows.add(row);
  const std::span<const ir::Description> few(rows.descriptions.data(), kMinRowsLearned - 1);
  const auto refused = GridModel::fit(few, std::span(rows.log_ns).first(few.size()), quick());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Refused);
  LearnRequest request = quick();
  request.effort = 0.01;
  int last = 0;
  request.progress = [&](int done, int all) {
    EXPECT_LE(done, all);
    last = done;
    return false;
  };
  const auto stopped = GridModel::fit(rows.descriptions, rows.log_ns, request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  EXPECT_GT(last, 0) << "and was not asked again";
  EXPECT_LE(last, 10);
}

TEST(GridModelTest, CalibrationReplacesTheGuess) {
  Rows rows;
  for (const test::SyntheticRow& row : test::synthetic_rows()) rows.add(row);
  LearnRequest request = quick();
  request.effort = 0.01;
  const GridModel guess = must(GridModel::fit(rows.descriptions, rows.log_ns, request));
  request.calibrate = true;
  const GridModel calibrated = must(GridModel::fit(rows.descriptions, rows.log_ns, request));
  const auto question = test::synthetic_row(test::square(8, 64, 24, 64, 3, false)).description;
  const auto a = guess.answer(question, Profile::Accurate),
             b = calibrated.answer(question, Profile::Accurate);
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->sd_log, b->sd_log);
  EXPECT_TRUE(std::isfinite(b->sd_log) && b->sd_log > 0);
  const auto fast = calibrated.answer(question, Profile::Fast);
  ASSERT_TRUE(fast);
  EXPECT_TRUE(std::isfinite(fast->sd_log) && fast->sd_log > 0);
  EXPECT_NE(fast->sd_log, b->sd_log) << "each profile has a spread of its own";
}

/// Times that nothing but the same kernel at another batch tells: of heights and channels no
/// neighbour knows anything.
Rows rows_known_by_batch_alone() {
  Rows rows;
  base::Random random(1);
  for (std::int64_t height = 8; height < 8 + 24; ++height) {
    for (const std::int64_t channels : {32, 48, 64, 96, 128, 192, 256, 384}) {
      const double own = random.uniform();
      for (const std::int64_t batch : {16, 32, 64}) {
        test::SyntheticRow row =
            test::synthetic_row(test::square(batch, channels, height, channels, 3, false));
        row.log_ns = std::log(row.description.work.flops.value()) + own;
        rows.add(row);
      }
    }
  }
  return rows;
}

TEST(GridModelTest, ARowLeftOutAtRandomIsAskedWithAllItsNeighbours) {
  const Rows rows = rows_known_by_batch_alone();
  LearnRequest request = quick();
  request.effort = 0.01;  // lines between batches answer here; the trees know nothing to add
  request.calibrate = true;
  const GridModel model = must(GridModel::fit(rows.descriptions, rows.log_ns, request));
  ASSERT_GT(model.left_out().size(), 200U);
  double most = 0;
  for (const LeftOutRow& row : model.left_out()) most = std::max(most, std::abs(row.error));
  EXPECT_LT(most, 0.05) << "a fold of a tenth would hide both other batches of one row in a "
                           "hundred: it would err by 0.16";
}

TEST(GridModelTest, ASpreadOfMoreNumbersThanAnAnswerHasIsRefused) {
  ASSERT_EQ(test::with_last_spread(fitted_bytes(), 0.3F, Forest()), fitted_bytes())
      << "else the bytes below are of nothing";
  const std::size_t features = must(GridModel::load(fitted_bytes())).features();
  for (const std::size_t asked : {std::size_t{9}, features + 1}) {
    const auto loaded = GridModel::load(
        test::with_last_spread(fitted_bytes(), 0.3F, must(Forest::make({}, 0, asked))));
    ASSERT_FALSE(loaded) << asked;
    EXPECT_EQ(loaded.error().code, Code::Input);
  }
  EXPECT_TRUE(
      GridModel::load(test::with_last_spread(fitted_bytes(), 0.3F, must(Forest::make({}, 0, 8)))));
}

TEST(GridModelTest, SaysHowOldItsBytesAre) {
  EXPECT_EQ(must(GridModel::age_of(fitted_bytes())), FitAge::Current);
  EXPECT_EQ(must(estimate::age_of(fitted_bytes(), {"oplat.learned", 13, "fit", 12})),
            FitAge::Older);
  EXPECT_EQ(must(GridModel::age_of(test::of_format(fitted_bytes(), "oplat.learned", 13, 0))),
            FitAge::Newer);
  EXPECT_FALSE(GridModel::age_of(test::of_format(fitted_bytes(), "oplat.learned", 5, 0)))
      << "too old to be read";
  std::string changed = fitted_bytes();
  changed[changed.size() / 2] ^= 1;
  EXPECT_FALSE(GridModel::age_of(changed));
  EXPECT_FALSE(GridModel::age_of("rubbish"));
}

TEST(GridModelTest, BytesThatAreCutOffOrChangedAreRefused) {
  const std::string& bytes = fitted_bytes();
  base::Random random(1);
  for (int i = 0; i < 40; ++i) {
    const std::size_t at = random.below(bytes.size());
    const auto cut = GridModel::load(std::string_view(bytes).substr(0, at));
    ASSERT_FALSE(cut) << at;
    EXPECT_EQ(cut.error().code, Code::Input);
    EXPECT_NE(cut.error().message.find("oplat fit"), std::string::npos) << cut.error().message;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_FALSE(GridModel::load(changed)) << at;
  }
  EXPECT_FALSE(GridModel::load(bytes + "x"));
  EXPECT_FALSE(GridModel::load(""));
}

TEST(GridModelTest, DamageUnderARightChecksumNeverLeadsOutOfTheBytes) {
  const std::string& bytes = fitted_bytes();
  const auto question = test::synthetic_row(test::square(8, 64, 20, 64, 3, false)).description;
  base::Random random(2);
  int loaded = 0;
  for (int i = 0; i < 60; ++i) {
    std::string body = test::unsealed(bytes);
    // The head, with its counts, gets half of the damage.
    const std::size_t at = i % 2 == 0 ? random.below(2000) : random.below(body.size());
    body[at] = static_cast<char>(random.below(256));
    const auto model = GridModel::load(test::sealed(body));
    if (!model) continue;
    ++loaded;
    static_cast<void>(model->answer(question, Profile::Accurate));
  }
  EXPECT_GT(loaded, 0) << "damage to a threshold cannot be seen";
}

}  // namespace
}  // namespace oplat::estimate
