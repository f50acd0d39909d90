// SPDX-License-Identifier: Apache-2.0
#include "search/latencies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "ir/key.hpp"
#include "ir/work.hpp"
#include "predict/composition_fit.hpp"
#include "search/write.hpp"
#include "spaces.hpp"
#include "unit/compat/all_domains.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::search {
namespace {

using test::must;
using test::SmallTable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kCallNs = 5000;

/// Every kernel of a space has a row of its own time: 1000 ns for the first key, 1010 for the next
/// ...
class LatenciesTest : public ::testing::Test {
 protected:
  LatenciesTest() { small_.empty_call(device_, setting_, kCallNs); }

  static double ns_of(std::size_t kernel) { return 1000 + 10 * static_cast<double>(kernel); }
  void measure(const std::string& but = "none of them") {
    const Expansion all = must(expand(space_, resolution_));
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
      if (all.keys[i].find(but) == std::string::npos)
        small_.row(device_, setting_, all.keys[i], std::nullopt, test::timing(ns_of(i)));
    }
  }
  SpaceLatencies time(const Options& options = {}) {
    const auto selection = must(predict::select_rows(small_.table(), {}, ir::Catalogue::own()));
    const std::vector<std::int64_t> resolutions = {resolution_};
    return must(time_space(small_.table(), selection, space_, resolutions, options));
  }
  static double sum(const Cell& cell) {
    double all = 0;
    for (const std::size_t kernel : cell.kernels) all += ns_of(kernel);
    return all;
  }

  SearchSpace space_ = test::space_of(test::kSmallSpace);
  std::int64_t resolution_ = 8;
  SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(LatenciesTest, BlocksAreSumsOfTheirKernels) {
  measure();
  const SpaceLatencies all = time();
  ASSERT_THAT(all.resolutions, SizeIs(1));
  const ResolutionLatencies& timed = all.resolutions[0];
  EXPECT_DOUBLE_EQ(timed.overhead_ns, kCallNs);
  EXPECT_THAT(all.missing, IsEmpty());
  for (std::size_t layer = 0; layer < timed.cells.size(); ++layer) {
    for (std::size_t c = 0; c < timed.cells[layer].size(); ++c) {
      const Cell& cell = timed.expansion.layers[layer].cells[c];
      const CellLatency& latency = timed.cells[layer][c];
      ASSERT_TRUE(latency.ns);
      EXPECT_DOUBLE_EQ(*latency.ns, sum(cell));
      ASSERT_TRUE(latency.interval);
      if (cell.kernels.empty()) {
        EXPECT_EQ(latency.interval->low, 0);
        EXPECT_EQ(latency.interval->high, 0);
      } else {
        EXPECT_LT(latency.interval->low, *latency.ns);
        EXPECT_GT(latency.interval->high, *latency.ns);
        EXPECT_DOUBLE_EQ(latency.shares.at(estimate::Source::Measured), 1);
      }
    }
  }
}

TEST_F(LatenciesTest, ANetworkOfOneChoiceEachIsWhatPredictSaysOfIt) {
  measure();
  const SpaceLatencies all = time();
  const ResolutionLatencies& timed = all.resolutions[0];
  table::Plan plan;
  double sum = timed.overhead_ns;
  for (std::size_t layer = 0; layer < timed.cells.size(); ++layer) {
    sum += *timed.cells[layer][0].ns;
    for (const std::size_t kernel : timed.expansion.layers[layer].cells[0].kernels)
      plan.kernels.push_back({"", timed.expansion.keys[kernel], 1});
  }
  const auto whole = must(predict::predict(
      small_.table(), must(predict::select_rows(small_.table(), {}, ir::Catalogue::own())), plan,
      {}));
  ASSERT_TRUE(whole.latency_ns);
  EXPECT_NEAR(sum, *whole.latency_ns, 1e-6);
}

TEST_F(LatenciesTest, AFittedCompositionCountsKernelsAndBytesOfBlocksAsPredictDoes) {
  resolution_ = 512;  // results beyond what stays near a core
  measure();
  predict::CompositionFit fit;
  fit.c0_ns = 4000;
  fit.c1_ns = 7;
  fit.c2_ns_per_byte = 0.25;
  fit.scale = fit.scale_int8 = 1.5;
  fit.curve = estimate::ReuseCurve{estimate::Ramp{1e4, 1e5}, {1e6, 1e9}};
  must(small_.table().put_fit(device_, setting_,
                              {std::string(predict::kCompositionFormat), 0, predict::encode(fit)}));
  const SpaceLatencies all = time();
  EXPECT_TRUE(all.composition.fitted);
  const ResolutionLatencies& timed = all.resolutions[0];
  table::Plan plan;
  double blocks = timed.overhead_ns;
  double evicted = 0;
  for (std::size_t layer = 0; layer < timed.cells.size(); ++layer) {
    const Cell& cell = timed.expansion.layers[layer].cells[0];
    double bytes = 0;
    for (const std::size_t kernel : cell.kernels) {
      plan.kernels.push_back({"", timed.expansion.keys[kernel], 1});
      const ir::Key key = must(ir::parse(timed.expansion.keys[kernel]));
      const ir::Work work = ir::work(key, ir::Catalogue::own());
      const double wide = key.result(0)->dtype == ir::Dtype::U8 ? 4 : 1;
      bytes += fit.curve->left_behind(timed.reuse_bytes, work.bytes()) *
               std::max(0.0, wide * work.bytes_out - 131072);
    }
    evicted += bytes;
    EXPECT_NEAR(*timed.cells[layer][0].ns,
                1.5 * sum(cell) + 7 * static_cast<double>(cell.kernels.size()) + 0.25 * bytes,
                1e-6);
    blocks += *timed.cells[layer][0].ns;
  }
  EXPECT_GT(evicted, 0);
  plan.weight_bytes = timed.reuse_bytes;
  const auto whole = must(predict::predict(
      small_.table(), must(predict::select_rows(small_.table(), {}, ir::Catalogue::own())), plan,
      {}));
  EXPECT_NEAR(blocks, *whole.latency_ns, 1e-6);
}

TEST_F(LatenciesTest, OthersBringInWhatTheMeanNetworkLetsIn) {
  const Expansion all_keys = must(expand(space_, resolution_));
  for (std::size_t i = 0; i < all_keys.keys.size(); ++i) {
    small_.row(device_, setting_, all_keys.keys[i], 1e3, test::timing(ns_of(i)));
    small_.row(device_, setting_, all_keys.keys[i], 1e12, test::timing(3 * ns_of(i)));
  }
  predict::CompositionFit fit;
  fit.curve = estimate::ReuseCurve{std::nullopt, {1e6, 1e8}};
  const auto timed_with = [&](double rate) {
    fit.foreign_bytes_per_ns = rate;
    fit.foreign_share = 0.5;
    must(small_.table().put_fit(
        device_, setting_, {std::string(predict::kCompositionFormat), 0, predict::encode(fit)}));
    return time({.reuse_bytes = 1e4});
  };
  const ResolutionLatencies alone = timed_with(0).resolutions[0];
  double mean_ns = 0;
  for (const ExpandedLayer& layer : alone.expansion.layers) {
    for (const Cell& cell : layer.cells) {
      for (const std::size_t kernel : cell.kernels)
        mean_ns += *alone.kernels[kernel].latency_ns / static_cast<double>(layer.cells.size());
    }
  }
  const double rate = 2e7 / mean_ns;
  const ResolutionLatencies shared = timed_with(rate).resolutions[0];
  const auto lost_in = [&](double ns) {
    return estimate::lost_among_others(fit.curve->last, 1e4, 0.5 * rate * ns);
  };
  // What they bring in makes it longer, which lets in more.
  const double lost = lost_in(mean_ns * std::pow(3, lost_in(mean_ns)));
  ASSERT_GT(lost, 0.3);
  for (std::size_t i = 0; i < shared.kernels.size(); ++i)
    EXPECT_NEAR(*shared.kernels[i].latency_ns, ns_of(i) * std::pow(3, lost), 1e-6 * ns_of(i));
}

TEST_F(LatenciesTest, IntervalsAreThoseOfASumWithTheSpreadOfItsKernels) {
  measure();
  const SpaceLatencies narrow = time({.level = 0.5});
  const SpaceLatencies wide = time({.level = 0.99});
  const CellLatency& one = narrow.resolutions[0].cells[3][0];
  const CellLatency& other = wide.resolutions[0].cells[3][0];
  EXPECT_GT(one.interval->low, other.interval->low);
  EXPECT_LT(one.interval->high, other.interval->high);
  // A single kernel: its own spread and that of the composition, by the normal quantile at 50 %.
  const CellLatency& pool = narrow.resolutions[0].cells[4][0];
  const auto kernel = narrow.resolutions[0].expansion.layers[4].cells[0].kernels.at(0);
  ASSERT_TRUE(ir::has_int8_tensor(narrow.resolutions[0].expansion.keys[kernel]));
  const double composition = narrow.composition.sd_log_of(
      *pool.ns, {0, 1, narrow.resolutions[0].kernels[kernel].evicted_bytes, *pool.ns, *pool.ns});
  EXPECT_GT(composition, predict::kCompositionSd) << "coefficients that no model was measured for";
  EXPECT_NEAR(std::log(pool.interval->high / *pool.ns),
              0.6744897502 * std::hypot(0.02, composition), 1e-4);
}

TEST_F(LatenciesTest, MissingKernelsLeaveTheirBlocksOpen) {
  measure("Int8ChannelShuffle");
  const SpaceLatencies all = time();
  ASSERT_THAT(all.missing, SizeIs(2));
  EXPECT_THAT(all.missing[0], HasSubstr("Int8ChannelShuffle"));
  EXPECT_FALSE(all.resolutions[0].cells[2][1].ns);
  EXPECT_TRUE(all.resolutions[0].cells[2][0].ns);

  const SpaceLatencies zero = time({.missing = predict::MissingPolicy::Zero});
  ASSERT_TRUE(zero.resolutions[0].cells[2][1].ns);
  EXPECT_GT(*zero.resolutions[0].cells[2][1].ns, 3000);
  EXPECT_LT(*zero.resolutions[0].cells[2][1].ns, 4000) << "three of its four kernels";
  ASSERT_FALSE(zero.warnings.empty());
  EXPECT_THAT(zero.warnings.back(), HasSubstr("count as zero"));
}

TEST_F(LatenciesTest, RowsOfInt8ConvReluStandForInt8ConvToo) {
  const Expansion all = must(expand(space_, resolution_));
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    std::string key = all.keys[i];
    if (key.starts_with("caffe2:Int8Conv{"))
      key.insert(std::string("caffe2:Int8Conv").size(), "Relu");
    small_.row(device_, setting_, key, std::nullopt, test::timing(ns_of(i)));
  }
  const SpaceLatencies answered = time();
  EXPECT_THAT(answered.missing, IsEmpty());
  const ResolutionLatencies& timed = answered.resolutions[0];
  EXPECT_DOUBLE_EQ(*timed.cells[2][0].ns, sum(timed.expansion.layers[2].cells[0]));
  EXPECT_DOUBLE_EQ(timed.cells[2][0].shares.at(estimate::Source::Measured), 1);
  const std::size_t depthwise = timed.expansion.layers[2].cells[0].kernels[1];
  EXPECT_EQ(timed.kernels[depthwise].key, timed.expansion.keys[depthwise]);
  EXPECT_THAT(timed.kernels[depthwise].why, HasSubstr("of Int8ConvRelu"));

  // Its own row is preferred.
  small_.row(device_, setting_, timed.expansion.keys[depthwise], std::nullopt, test::timing(77));
  EXPECT_DOUBLE_EQ(*time().resolutions[0].kernels[depthwise].latency_ns, 77);
}

TEST_F(LatenciesTest, TheFootprintIsThatOfAMeanNetworkUnlessGiven) {
  space_ = test::space_of(
      "format: oplat.space/1\nname: tiny\nfamily: caffe2-int8\nresolutions: 8\n"
      "blocks: {point: {kind: conv, kernel: 1}, skip: {kind: skip}}\n"
      "layers:\n  - {block: {kind: input}}\n  - {block: {kind: conv}, channels: 4, stride: 2}\n  - "
      "{choices: all}\n");
  measure();
  // Floats and bytes of the image; weights, biases of four bytes and results of the stem; half of
  // those of the point.
  const double expected =
      192 * 4 + 192 + (4 * 27 + 4 * 4 + 4 * 16) + 0.5 * (4 * 4 + 4 * 4 + 4 * 16);
  EXPECT_DOUBLE_EQ(time().resolutions[0].reuse_bytes, expected);
  EXPECT_EQ(time({.reuse_bytes = 12345}).resolutions[0].reuse_bytes, 12345);
}

TEST_F(LatenciesTest, CsvHasALineALayerAndAColumnAChoice) {
  measure();
  const SpaceLatencies all = time();
  const auto lines = base::split(to_csv(all), '\n');
  ASSERT_THAT(lines, SizeIs(1 + 1 + 7 + 1));
  EXPECT_EQ(lines[0], "resolution,layer,in_channels,out_channels,wide,grouped,skip,fixed");
  EXPECT_EQ(lines[1], "8,overhead,,,,,,5.0");
  const auto& cells = all.resolutions[0].cells;
  const auto us = [](const CellLatency& cell) { return base::float_text(*cell.ns / 1000); };
  EXPECT_EQ(lines[3], fmt::format("8,stem,3,4,,,,{}", us(cells[1][0])));
  EXPECT_EQ(lines[4], fmt::format("8,one,4,8,{},{},,", us(cells[2][0]), us(cells[2][1])));
  EXPECT_EQ(lines[5], fmt::format("8,two,8,8,{},{},0.0,", us(cells[3][0]), us(cells[3][1])));
}

TEST_F(LatenciesTest, JsonKeepsWhereEveryNumberComesFrom) {
  measure("Int8ChannelShuffle");
  const auto json = nlohmann::json::parse(to_json(time()));
  EXPECT_EQ(json["schema"], "oplat.space.latencies/1");
  EXPECT_EQ(json["choices"], (nlohmann::json{"wide", "grouped", "skip"}));
  EXPECT_EQ(json["missing"].size(), 2U);
  const auto& at = json["resolutions"][0];
  EXPECT_EQ(at["overhead_us"], 5.0);
  const auto& layer = at["layers"][2];
  EXPECT_EQ(layer["layer"], "one");
  EXPECT_FALSE(layer["fixed"].get<bool>());
  EXPECT_TRUE(layer["cells"][1]["latency_us"].is_null());
  EXPECT_TRUE(layer["cells"][1]["interval_us"].is_null());
  const auto& wide = layer["cells"][0];
  EXPECT_EQ(wide["choice"], "wide");
  EXPECT_EQ(wide["source"]["measured"], 1.0);
  double sum = 0;
  for (const auto& kernel : wide["kernels"]) {
    EXPECT_EQ(at["kernels"][kernel.get<std::size_t>()]["source"], "measured");
    sum += at["kernels"][kernel.get<std::size_t>()]["latency_us"].get<double>();
  }
  EXPECT_NEAR(wide["latency_us"].get<double>(), sum, 1e-9);
}

TEST_F(LatenciesTest, NpzLoadsInNumpyLayerByChoice) {
  measure();
  if (::access(OPLAT_PYTHON, X_OK) != 0)
    GTEST_SKIP() << "no " << OPLAT_PYTHON << "; make it with scripts/setup";
  const SpaceLatencies all = time();
  const auto& cells = all.resolutions[0].cells;
  const auto folder = must(base::TemporaryFolder::create("oplat-space"));
  must(base::write_file(folder.path() / "a.npz", must(to_npz(all))));
  const std::string code = fmt::format(
      "import sys, numpy as np\n"
      "f = np.load(sys.argv[1], allow_pickle=False)\n"
      "assert f['axes'].tolist() == ['layer', 'choice'] and f['layers'].tolist() == ['one', "
      "'two']\n"
      "assert f['choices'].tolist() == ['wide', 'grouped', 'skip'] and f['resolutions'].tolist() "
      "== [8]\n"
      "want = [[{}, {}, np.nan], [{}, {}, 0]]\n"
      "assert np.allclose(f['latency_us'], want, rtol=1e-12, equal_nan=True), f['latency_us']\n"
      "assert f['mask'].tolist() == [[True, True, False], [True, True, True]]\n"
      "assert np.all((f['lo_us'] <= f['latency_us']) & (f['latency_us'] <= f['hi_us']) == "
      "f['mask'])\n"
      "assert np.nanmin(f['measured_share']) == 1\n"
      "assert f['fixed_layers'].tolist() == ['image', 'stem', 'pool', 'classes', 'softmax']\n"
      "assert np.isclose(f['fixed_us'][1], {}) and float(f['overhead_us']) == 5\n"
      "assert f['flops'].shape == (2, 3) and np.all(np.isnan(f['flops'][~f['mask']]))\n"
      "assert f['parameters'][0, 0] > f['parameters'][0, 1] > 0\n"
      "assert f['device'].shape == (1,) and f['device'][0] and int(f['threads']) == 1\n"
      "assert f['runtime'].shape == (2,) and f['runtime'][0] in f['setting'][0]\n"
      "assert f['in_channels'].tolist() == [[4], [8]] and f['out_channels'].tolist() == [[8], "
      "[8]]\n"
      "p = np.exp([[1, 2, 0], [0, 1, 1]]) * f['mask']\n"
      "p /= p.sum(1, keepdims=True)\n"
      "loss = float(f['overhead_us'] + f['fixed_us'].sum() + np.nansum(p * f['latency_us']))\n"
      "assert f['fixed_us'].sum() + 5 < loss < f['fixed_us'].sum() + 5 + "
      "np.nansum(f['latency_us'])\n",
      *cells[2][0].ns / 1000, *cells[2][1].ns / 1000, *cells[3][0].ns / 1000,
      *cells[3][1].ns / 1000, *cells[1][0].ns / 1000);
  must(base::write_file(folder.path() / "check.py", code));
  const std::string command =
      fmt::format("'{}' -I '{}' '{}'", OPLAT_PYTHON, (folder.path() / "check.py").string(),
                  (folder.path() / "a.npz").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(LatenciesTest, ResolutionsAndChannelsAreFurtherAxes) {
  if (::access(OPLAT_PYTHON, X_OK) != 0)
    GTEST_SKIP() << "no " << OPLAT_PYTHON << "; make it with scripts/setup";
  space_ = test::space_of(test::with(test::kSmallSpace, "choices: all, channels: 8, stride: 2",
                                     "choices: [wide, skip], channels: [4, 6], repeat: 2"));
  const std::vector<std::int64_t> resolutions = {8, 16};
  const auto keys = must(keys_of(space_, resolutions));
  for (std::size_t i = 0; i < keys.size(); ++i)
    small_.row(device_, setting_, keys[i], std::nullopt, test::timing(ns_of(i)));
  const SpaceLatencies all = must(time_space(
      small_.table(), must(predict::select_rows(small_.table(), {}, ir::Catalogue::own())), space_,
      resolutions, {}));
  const ResolutionLatencies& large = all.resolutions[1];
  // The second layer of the stage at 16, its first choice, with 6 channels on either side.
  const Cell& cell = large.expansion.layers[3].cells[1];
  ASSERT_EQ(cell.in, 1U);
  ASSERT_EQ(cell.out, 1U);
  const auto folder = must(base::TemporaryFolder::create("oplat-space"));
  must(base::write_file(folder.path() / "a.npz", must(to_npz(all))));
  const std::string code = fmt::format(
      "import sys, numpy as np\n"
      "f = np.load(sys.argv[1], allow_pickle=False)\n"
      "t = f['latency_us']\n"
      "assert f['axes'].tolist() == ['resolution', 'layer', 'choice', 'in', 'out'] and "
      "f['resolutions'].tolist() == "
      "[8, 16]\n"
      "assert f['layers'].tolist() == ['one_1', 'one_2', 'two', 'pool', 'classes'], f['layers']\n"
      "assert f['choices'].tolist() == ['wide', 'grouped', 'skip', 'pool', 'classes'] and t.shape "
      "== (2, 5, 5, 2, 2)\n"
      "assert abs(t[1, 1, 0, 1, 1] - {}) < 1e-9 and np.isnan(t[1, 1, 0, 0, 1])\n"
      "assert f['mask'][:, 0].sum() == 2 * (2 + 1) and f['mask'][:, 1].sum() == 2 * 2 * 2\n"
      "assert t[0, 0, 2, 0, 0] == 0 and not f['mask'][0, 0, 2, 0, 1]\n"
      "assert f['in_channels'].tolist() == [[4, 0], [4, 6], [4, 6], [4, 6], [4, 6]]\n"
      "assert f['out_channels'].tolist()[-1] == [10, 0] and f['fixed_us'].shape == (2, 3) and "
      "f['overhead_us'].shape "
      "== (2,)\n",
      *large.cells[3][1].ns / 1000);
  must(base::write_file(folder.path() / "check.py", code));
  const std::string command =
      fmt::format("'{}' -I '{}' '{}'", OPLAT_PYTHON, (folder.path() / "check.py").string(),
                  (folder.path() / "a.npz").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(LatenciesTest, ArraysTooLargeAreRefused) {
  std::string options = "[1";
  for (int i = 2; i <= 32; ++i) options += fmt::format(", {}", i);
  std::string yaml = test::with(test::kSmallSpace, "channels: 8, stride: 2",
                                fmt::format("channels: {}], stride: 2", options));
  yaml = test::with(yaml, "group: 2, ", "");
  SpaceLatencies all;
  all.space = test::space_of(yaml);
  all.resolutions.resize(1);
  all.resolutions[0].expansion = must(expand(all.space, 8));
  for (const ExpandedLayer& layer : all.resolutions[0].expansion.layers)
    all.resolutions[0].cells.emplace_back(layer.cells.size());
  all.resolutions[0].flops.resize(all.resolutions[0].expansion.keys.size());
  all.resolutions[0].parameters.resize(all.resolutions[0].expansion.keys.size());
  EXPECT_TRUE(to_npz(all));
  const ResolutionLatencies one = all.resolutions[0];
  all.resolutions.resize(500, one);
  const auto refused = to_npz(all);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Refused);
  EXPECT_THAT(refused.error().message, HasSubstr("holds at most 4000000 here"));
}

}  // namespace
}  // namespace oplat::search
