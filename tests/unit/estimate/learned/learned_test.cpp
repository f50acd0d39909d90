// SPDX-License-Identifier: Apache-2.0
/// The link of the chain: from the rows of a table to a fit in it, and from there to answers.
#include "estimate/learned.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compat/registry.hpp"
#include "estimate/accuracy.hpp"
#include "estimate/chain.hpp"
#include "unit/estimate/fit_bytes.hpp"
#include "unit/estimate/learned/synthetic.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/estimate/sparse_rows.hpp"

namespace oplat::estimate {
namespace {

using test::must;

class LearnedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    must(small_.table().transaction([&]() -> Status {
      for (const test::SyntheticRow& row : test::synthetic_rows()) {
        if (row.conv.in_h != 20)
          small_.row(device_, setting_, row.key, std::nullopt, test::timing(std::exp(row.log_ns)),
                     "tinynas");
      }
      return {};
    }));
  }
  [[nodiscard]] RowSource source() const {
    return {&small_.table(), device_, {setting_}, std::nullopt, &compat::catalogue()};
  }
  static LearnRequest quick() {
    LearnRequest request;
    request.threads = 1;
    request.effort = 0.01;
    request.calibrate = false;
    return request;
  }
  /// Learned once: every test begins with the same rows.
  std::string learned() {
    static const LearnedFit fit = must(learn(source(), quick()));
    EXPECT_EQ(fit.rows, 192);
    return fit.fits.front().blob;
  }
  void store(std::string blob) {
    must(small_.table().put_fit(device_, setting_,
                                {std::string(kLearnedFormat), 1, std::move(blob)}));
  }
  std::optional<Estimate> ask(const std::string& key, const ChainOptions& options = {}) const {
    const Query query{key, std::nullopt};
    std::optional<Estimate> answer;
    must(estimate_all(must(make_chain(source(), options)), {&query, 1}, {&answer, 1}));
    return answer;
  }

  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
  const std::string measured_ = test::synthetic_row(test::square(8, 64, 14, 64, 3, false)).key;
  const test::SyntheticRow between_ = test::synthetic_row(test::square(8, 64, 20, 64, 3, false));
};

TEST_F(LearnedTest, AnswersWhatIsNotMeasuredAndLeavesTheRestToTheRows) {
  EXPECT_FALSE(ask(between_.key)) << "without a fit nobody does";
  store(learned());
  const auto estimate = ask(between_.key);
  ASSERT_TRUE(estimate);
  EXPECT_TRUE(estimate->source == Source::Interpolated || estimate->source == Source::Learned);
  EXPECT_NEAR(std::log(estimate->median_ns), between_.log_ns, 0.5);
  EXPECT_GT(estimate->sd_log, 0);
  EXPECT_NE(estimate->why, "");
  EXPECT_EQ(ask(measured_)->source, Source::Measured);
  EXPECT_FALSE(ask(between_.key, {.profile = std::nullopt})) << "measured rows alone";
  EXPECT_TRUE(ask(between_.key, {.profile = Profile::Fast}));
  EXPECT_FALSE(ask(test::kMatMul)) << "an operator without rows";
  EXPECT_FALSE(ask("tinynas:Conv{group=?}(f32[?])->(f32[?])"));
}

TEST_F(LearnedTest, AFitOfOtherRowsAnswersNothing) {
  store(learned());
  ASSERT_TRUE(ask(between_.key));
  small_.row(device_, setting_, test::kCopy250, std::nullopt, test::timing(1000));
  EXPECT_FALSE(ask(between_.key));
  EXPECT_TRUE(ask(measured_));
}

TEST_F(LearnedTest, ADamagedFitIsAnErrorThatNamesTheWayOut) {
  store("rubbish");
  EXPECT_TRUE(ask(measured_)) << "a fit that nobody needs is not read";
  const Query query{between_.key, std::nullopt};
  std::optional<Estimate> answer;
  const Status status = estimate_all(must(make_chain(source(), {})), {&query, 1}, {&answer, 1});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Input);
  EXPECT_NE(status.error().message.find("oplat fit"), std::string::npos);
}

TEST_F(LearnedTest, ADamagedFitStaysAnError) {
  store("rubbish");
  const Chain chain = must(make_chain(source(), {}));
  const Query query{between_.key, std::nullopt};
  std::optional<Estimate> answer;
  EXPECT_FALSE(estimate_all(chain, {&query, 1}, {&answer, 1}));
  EXPECT_FALSE(estimate_all(chain, {&query, 1}, {&answer, 1}))
      << "asked again, it must not be silent";
}

TEST_F(LearnedTest, AFitOfANewerFormatAnswersNothing) {
  // Behind the footprints and the kind stands the model.
  const std::string blob = learned();
  const std::size_t head = 8 * (3 + 2) + 4;
  const bool grid = blob.substr(head + 8, 13) == "oplat.learned";
  store(blob.substr(0, head) + test::of_format(std::string_view(blob).substr(head),
                                               grid ? "oplat.learned" : "oplat.sparse", 99, 0));
  EXPECT_FALSE(ask(between_.key));
  EXPECT_TRUE(ask(measured_));
}

TEST_F(LearnedTest, ASpreadThatIsNoNumberIsNoAnswer) {
  const std::string blob = learned();
  const std::size_t head = 8 * (3 + 2) + 4;
  ASSERT_EQ(blob.substr(head + 8, 13), "oplat.learned") << "a grid";
  // Of another stride than all rows: from its shape alone. Its spread is 0 * e^100, too much for a
  // float.
  compat::tinynas::ConvTuple strange = test::square(8, 64, 28, 64, 3, false);
  strange.stride = 2;
  store(blob);
  const std::string key = test::synthetic_row(strange).key;
  ASSERT_TRUE(ask(key));
  const TrainedTree leaf{{{}}};
  store(blob.substr(0, head) + test::with_last_spread(std::string_view(blob).substr(head), 0,
                                                      must(Forest::make({&leaf, 1}, 100, 0))));
  EXPECT_FALSE(ask(key));
}

TEST_F(LearnedTest, ARowlessTableTeachesNothing) {
  const table::SettingId other = small_.setting(test::setting_of(4));
  const auto blob =
      learn({&small_.table(), device_, {other}, std::nullopt, &compat::catalogue()}, quick());
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, Code::Refused);
}

TEST_F(LearnedTest, AccuracyAsksForTheRowsOfTheSplit) {
  std::vector<Sample> samples;
  for (const test::SyntheticRow& row : test::synthetic_rows())
    samples.push_back({row.key, row.log_ns});
  AccuracyRequest request;
  request.learn = quick();
  request.split = must(parse_split("level:in_h=20"));
  const Accuracy level = must(measure_accuracy(samples, request, compat::catalogue()));
  EXPECT_EQ(level.asked, 48);
  EXPECT_EQ(level.learned_from, 192);
  EXPECT_EQ(level.unanswered, 0);
  ASSERT_FALSE(level.lines.empty());
  EXPECT_EQ(level.lines.front().name, "all");
  EXPECT_EQ(level.lines.front().rows, 48);
  EXPECT_LT(level.lines.front().mape, 0.5);
  request.split = must(parse_split("level:in_h=20,out_c=64"));
  const Accuracy pair = must(measure_accuracy(samples, request, compat::catalogue()));
  EXPECT_EQ(pair.asked, 12) << "of both";
  EXPECT_EQ(pair.learned_from, 240 - 48 - 60 + 12) << "of neither";
  EXPECT_TRUE(pair.networks.empty()) << "nobody asked for them";
  request.split = must(parse_split("level:in_h=21"));
  EXPECT_EQ(measure_accuracy(samples, request, compat::catalogue()).error().code, Code::Refused)
      << "no row is of that level";
}

TEST_F(LearnedTest, AccuracyTellsCacheStatesApart) {
  std::vector<Sample> samples;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    samples.push_back({row.key, row.log_ns, 0, 0});
    samples.push_back({row.key, row.log_ns + std::log(3), 1e9, 2});
  }
  AccuracyRequest request;
  request.learn = quick();
  request.learn.effort = 0.05;
  const Accuracy random = must(measure_accuracy(samples, request, compat::catalogue()));
  EXPECT_EQ(random.asked % 2, 0) << "states of one kernel are held out together";
  EXPECT_EQ(random.unanswered, 0);
  EXPECT_LT(random.lines.front().mape, 0.4)
      << "taken for one row, hot would come out 73 % too long and cold 42 % too short";
}

/// A table of rows without a state, and a fit of them.
class LearnedRows {
 public:
  void put(const std::string& key, double ns) { rows_.emplace_back(key, ns); }
  void learn() {
    must(small_.table().transaction([&]() -> Status {
      for (const auto& [key, ns] : rows_)
        small_.row(device_, setting_, key, std::nullopt, test::timing(ns));
      return {};
    }));
    LearnRequest request;
    request.threads = 1;
    request.effort = 0.1;
    for (const table::Fit& one : must(estimate::learn(source(), request)).fits)
      must(small_.table().put_fit(device_, setting_, one));
  }
  [[nodiscard]] Estimate ask(const std::string& key) const {
    const Query query{key, std::nullopt};
    std::optional<Estimate> answer;
    must(estimate_all(must(make_chain(source(), {})), {&query, 1}, {&answer, 1}));
    return answer.value();
  }

 private:
  [[nodiscard]] RowSource source() const {
    return {&small_.table(), device_, {setting_}, std::nullopt, &compat::catalogue()};
  }

  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
  std::vector<std::pair<std::string, double>> rows_;
};

/// Operators that take 0.8 ns an element, each with rows of many sizes, and a pool with a single
/// small one.
TEST(LearnedBeyondTest, FarBeyondASingleRowItIsNoLessSureThanRelatives) {
  LearnedRows rows;
  const auto unary = [](const std::string& op, int size) {
    return op + "/6{}(f32[1," + std::to_string(size) + "])->(&0)";
  };
  const auto pool = [](int channels, int size) {
    return fmt::format(
        "com.microsoft.nchwc:AveragePool/1@block=16{{ceil_mode=0,count_include_pad=1,dilations=[1,"
        "1],kernel_shape=[2,2],pads=[0,0,0,0],strides=[2,2]}}(f32[1,{},{},{}])->(f32[1,{},{},{}])",
        channels, size, size, channels, size / 2, size / 2);
  };
  const auto ns = [](int elements) { return 500 + 0.8 * elements; };
  const auto put = [&](const std::string& key, int elements) { rows.put(key, ns(elements)); };
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Exp", "Sqrt", "Neg", "Abs"}) {
    for (int size = 256; size <= 1 << 20; size *= 2) put(unary(op, size), size);
  }
  put(pool(16, 4), 16 * 4 * 4);
  rows.learn();
  const Estimate far = rows.ask(pool(128, 128));  // ten doublings from its row, a spread of 2.8
  EXPECT_LT(far.sd_log, 1.5);
  EXPECT_GT(far.sd_log, 0.1);
  EXPECT_NEAR(std::log(far.median_ns / ns(128 * 128 * 128)), 0, 2 * far.sd_log);
  EXPECT_LT(rows.ask(unary("Relu", 3 << 18)).sd_log, far.sd_log) << "between its own rows";
}

TEST(LearnedTypesTest, AProductInATypeThatNoRowHasIsNotSure) {
  LearnedRows table;
  const auto product = [](std::string_view type, int rows, int columns) {
    return fmt::format("MatMul/13{{}}({0}[{1},64],{0}[64,{2}])->({0}[{1},{2}])", type, rows,
                       columns);
  };
  for (int rows = 4; rows <= 256; rows *= 2) {
    for (int columns = 8; columns <= 256; columns *= 2)
      table.put(product("f32", rows, columns), 500 + 0.5 * rows * columns);
  }
  table.learn();
  constexpr std::string_view kWhy = "no row of the operator has this element type";
  EXPECT_GE(table.ask(product("i64", 48, 96)).sd_log, 1.8);
  EXPECT_GE(table.ask(product("f64", 48, 96)).sd_log, 0.85);
  EXPECT_NE(table.ask(product("i64", 48, 96)).why.find(kWhy), std::string::npos);
  EXPECT_LT(table.ask(product("f32", 48, 96)).sd_log, 0.85);
  EXPECT_EQ(table.ask(product("f32", 48, 96)).why.find(kWhy), std::string::npos);
}

/// Sums of many sizes, and look-ups in tables of up to 4 MiB; both take 10 bytes a ns.
TEST(LearnedPicksTest, WhatPicksTakesNoLongerFromALargeTable) {
  LearnedRows rows;
  const auto gather = [](std::string_view table, int lines, int picked) {
    return fmt::format("Gather/13{{axis=0}}({}[{},64],i64[{}])->(f32[{},64])", table, lines, picked,
                       picked);
  };
  for (int size = 256; size <= 1 << 20; size *= 2) {
    rows.put(fmt::format("Neg/13{{}}(f32[{}])->(f32[{}])", size, size), 500 + 0.8 * size);
    rows.put(fmt::format("Add/14{{}}(f32[{}],f32[{}])->(f32[{}])", size, size, size),
             500 + 1.2 * size);
  }
  for (int lines = 64; lines <= 16'384; lines *= 2) {
    for (int picked = 8; picked <= 512; picked *= 2)
      rows.put(gather("f32c", lines, picked), 500 + 0.1 * picked * (2 * 256 + 8));
  }
  rows.learn();
  // 256 MB, of which 33 kB are read: 7.2 us, and not 25 ms.
  EXPECT_NEAR(std::log(rows.ask(gather("f32c", 1'000'000, 128)).median_ns / 7156), 0, 0.5);
  // Of kinds without rows: a table that the model makes, another operator, none that reads.
  EXPECT_LT(rows.ask(gather("f32", 1'000'000, 128)).median_ns, 30e3);
  EXPECT_LT(
      rows.ask("GatherND/13{batch_dims=0}(f32[1000000,64],i64[128,1])->(f32[128,64])").median_ns,
      30e3);
  EXPECT_LT(rows.ask("Shape/15{start=0}(f32[64,64,224,224])->(i64[4])").median_ns, 5e3);
}

/// Forty rows of two threads, and with `others` 400 of one, of other kernels.
class TableOfThreads {
 public:
  TableOfThreads(bool others, const std::map<std::string, std::string>& options_of_others) {
    table::Setting two = test::setting_of(2);
    table::Setting one = test::setting_of(1);
    one.options = options_of_others;
    device_ = small_.device();
    setting_ = small_.setting(two);
    put(setting_, 40, 7, 2);
    if (others) put(small_.setting(one), 400, 1, 1);
    LearnRequest request;
    request.threads = 1;
    request.effort = 0.1;
    const LearnedFit fit = must(learn(source(), request));
    EXPECT_EQ(fit.rows, 40) << "its own";
    must(small_.table().put_fit(device_, setting_, fit.fits.front()));
  }
  /// Mean |ln(estimate / time)| of kernels without a row.
  [[nodiscard]] double error() const {
    base::Random random(2);
    double sum = 0;
    constexpr std::size_t kAsked = 50;
    const Chain chain = must(make_chain(source(), {}));
    for (std::size_t i = 0; i < kAsked; ++i) {
      const auto [key, ns] = timed(random, i, 2);
      const Query query{key, std::nullopt};
      std::optional<Estimate> answer;
      must(estimate_all(chain, {&query, 1}, {&answer, 1}));
      if (!answer || answer->tier != "sparse") throw std::runtime_error(key);
      sum += std::abs(std::log(answer->median_ns / ns)) / kAsked;
    }
    return sum;
  }

  [[nodiscard]] std::string why() const {
    base::Random random(2);
    const Chain chain = must(make_chain(source(), {}));
    const std::string key = timed(random, 0, 2).first;
    const Query query{key, std::nullopt};
    std::optional<Estimate> answer;
    must(estimate_all(chain, {&query, 1}, {&answer, 1}));
    return answer.value().why;
  }

 private:
  static std::pair<std::string, double> timed(base::Random& random, std::size_t number,
                                              double threads) {
    const std::string key =
        compat::tinynas::key_text_of(test::made_tuple(random, number), ir::Dtype::F32);
    const ir::Description description = test::described(must(ir::parse(key)));
    // Small kernels gain nothing from the second thread.
    const double share = std::min(1.0, description.work.bytes() / 1e6);
    return {key, std::exp(test::made_log_ns(description)) / (1 + share * (threads - 1))};
  }
  void put(table::SettingId setting, std::size_t rows, std::uint64_t seed, double threads) {
    base::Random random(seed);
    must(small_.table().transaction([&]() -> Status {
      for (std::size_t i = 0; i < rows; ++i) {
        const auto [key, ns] = timed(random, i, threads);
        small_.row(device_, setting, key, std::nullopt, test::timing(ns), "tinynas");
      }
      return {};
    }));
  }
  [[nodiscard]] RowSource source() const {
    return {&small_.table(), device_, {setting_}, std::nullopt, &compat::catalogue()};
  }

  test::SmallTable small_;
  table::DeviceId device_ = 0;
  table::SettingId setting_ = 0;
};

TEST(LearnedThreadsTest, RowsOfOtherThreadsHelpAndThoseOfOtherSettingsDoNotCount) {
  const double alone = TableOfThreads(false, {}).error();
  EXPECT_LT(TableOfThreads(true, {}).error(), 0.8 * alone) << alone;
  EXPECT_EQ(TableOfThreads(true, {{"level", "1"}}).error(), alone);
  EXPECT_TRUE(TableOfThreads(false, {}).why().ends_with("(40 rows)"));
  const std::string why = TableOfThreads(true, {}).why();
  EXPECT_NE(why.find("(40 rows and "), std::string::npos) << why;
  EXPECT_TRUE(why.ends_with(" of another number of threads)")) << why;
}

/// Sums over the first axis, by rows one after the other or each result by itself.
std::string sum_of_rows(int rows, int length, bool behind_an_image) {
  const std::string front = behind_an_image ? "1," : "";
  return fmt::format(
      "ReduceSum/13{{keepdims=0,noop_with_empty_axes=0}}(f32[{0}{1},{2}],"
      "i64c[1]=[{3}])->(f32[{0}{2}])",
      front, rows, length, behind_an_image ? 1 : 0);
}

// Which loop a sum takes depends on the threads of the setting that is asked.
TEST(LearnedThreadsTest, KernelsAreDescribedByTheThreadsOfTheirSetting) {
  const auto asked_among = [](std::int64_t threads) {
    test::SmallTable small;
    const table::DeviceId device = small.device();
    const table::SettingId setting = small.setting(test::setting_of(threads));
    const auto is_slow = [&](int rows, int length, bool behind_an_image) {
      return behind_an_image || std::max(rows, length) <= 256 * threads;
    };
    must(small.table().transaction([&]() -> Status {
      for (const int rows : {80, 200, 320, 420, 480, 530, 640}) {
        for (const int length : {280, 400, 480, 530, 600, 700, 900}) {
          for (const bool behind_an_image : {false, true}) {
            const double each = is_slow(rows, length, behind_an_image) ? 2 : 0.1;
            small.row(device, setting, sum_of_rows(rows, length, behind_an_image), std::nullopt,
                      test::timing(1e3 + each * rows * length));
          }
        }
      }
      return {};
    }));
    const RowSource source{&small.table(), device, {setting}, std::nullopt, &compat::catalogue()};
    LearnRequest request;
    request.threads = 1;
    request.effort = 0.1;
    must(small.table().put_fit(device, setting, must(learn(source, request)).fits.front()));
    const Chain chain = must(make_chain(source, {}));
    const std::string key = sum_of_rows(500, 505, false);
    const Query query{key, std::nullopt};
    std::optional<Estimate> answer;
    must(estimate_all(chain, {&query, 1}, {&answer, 1}));
    return answer.value().median_ns;
  };
  EXPECT_THAT(asked_among(1) / (0.1 * 500 * 505),
              testing::AllOf(testing::Gt(0.7), testing::Lt(1.4)));
  EXPECT_THAT(asked_among(2) / (2 * 500 * 505), testing::AllOf(testing::Gt(0.7), testing::Lt(1.4)));
}

TEST(SplitTest, WordsAreChecked) {
  EXPECT_EQ(must(parse_split("twin")).kind, Split::Kind::Twin);
  EXPECT_EQ(must(parse_split("level:In_H=66,Out_C=160")).levels.size(), 2U);
  EXPECT_EQ(must(parse_split("keep:5%")).percent, 5.0);
  for (const char* text : {"", "half", "keep:0", "keep:100", "keep:x", "level:", "level:in_h",
                           "level:colour=3", "level:in_h=x"}) {
    const auto split = parse_split(text);
    ASSERT_FALSE(split) << text;
    EXPECT_EQ(split.error().code, Code::Usage);
  }
}

}  // namespace
}  // namespace oplat::estimate
