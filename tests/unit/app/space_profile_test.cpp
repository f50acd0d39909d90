// SPDX-License-Identifier: Apache-2.0
/// Profiles of a space whose kernels take times by a formula, replayed, so that how good models
/// never seen are predicted is known beforehand.
#include "app/space_profile.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "predict/spread.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class NotedEvents : public CollectedEvents {
 public:
  void note(std::string_view text) override { notes.emplace_back(text); }
  void progress(const Progress& progress) override {
    if (progress.what == "choosing") measured.emplace_back();
    if (progress.what == "measuring" && !measured.empty())
      measured.back().insert(std::string(progress.item));
  }
  std::vector<std::string> notes;
  std::vector<std::set<std::string>> measured;  ///< what each round measured
};

class SpaceProfileTest : public RecordingTest {
 protected:
  /// Elements of the largest kernel that has a time; what is drawn beyond is refused.
  static constexpr int kLargest = 2500;
  static constexpr int kNetworks = 6;
  static constexpr int kModels = 8;

  static std::string kernel(int size) {
    return fmt::format("Relu/14{{}}(f32[{0}])->(f32[{0}])", size);
  }
  /// 0.8 to 1.2 of a straight line for `uneven_` 0.2, in no order.
  [[nodiscard]] double ns_of(int size) const {
    const double place = static_cast<double>(size * 7919 % 1009) / 1009;
    return (300 + 2.0 * size) * (1 + uneven_ * (2 * place - 1));
  }
  static std::string model_name(int i) { return fmt::format("small{}.onnx", i); }
  /// Of network or model i, 10 of them.
  static int size_of(int i, int k) { return 16 + (k * 211 + i * 97) % (kLargest / 2); }

  void SetUp() override {
    RecordingTest::SetUp();
    auto table = table::Table::open(path("recorded.oplat"), table::Mode::Write);
    ASSERT_TRUE(table) << table.error().message;
    const auto device = table->find_device("bench");
    const auto campaigns = table->campaigns();
    ASSERT_TRUE(device && *device && campaigns);
    const table::SettingId setting = campaigns->front().setting;
    const Status recorded = table->transaction([&]() -> Status {
      for (int size = 1; size <= kLargest; ++size) {
        table::Row row;
        row.key = kernel(size);
        row.reuse_bytes = 8.0 * size;
        row.outcome = timing(ns_of(size));
        row.method.copies = 8;
        row.method.topology = "fan";
        OPLAT_CHECK(table->put_row(**device, setting, std::nullopt, row));
      }
      for (int i = 0; i < kModels; ++i) {
        table::Plan plan;
        plan.model = plan.identity = model_name(i);
        plan.batch = 1;
        double ns = 1000;
        for (int k = 0; k < 10; ++k) {
          const int size = size_of(i, k);
          plan.kernels.push_back({fmt::format("n{}", k), kernel(size), 1});
          ns += ns_of(size);
        }
        OPLAT_CHECK(table->put_plan(plan));
        table::ModelRow model;
        model.name = model.plan_identity = plan.model;
        model.outcome = timing(ns);
        OPLAT_CHECK(table->put_model_row(**device, setting, std::nullopt, model));
        // Another file of this name would do: the recording has the plan.
        OPLAT_TRY(bytes, base::read_file(path(kModel), 1 << 20));
        OPLAT_CHECK(base::write_file(path(plan.model), bytes));
      }
      return {};
    });
    ASSERT_TRUE(recorded) << recorded.error().message;
  }

  /// Networks of three families, whose sizes lie between each other's.
  std::string space() {
    std::vector<std::string> lines = {"format: oplat.kernel-space/1",
                                      "name: relus",
                                      "runtime: onnxruntime",
                                      "classes:",
                                      "- name: all",
                                      "  kernels:"};
    std::vector<std::string> networks = {"networks:"};
    int next = 0;
    for (int i = 0; i < kNetworks; ++i) {
      std::string calls;
      for (int k = 0; k < 10; ++k) {
        lines.push_back(fmt::format("  - '{}'", kernel(size_of(i + kModels, k))));
        calls += fmt::format("{}{}", k == 0 ? "" : " ", next++);
      }
      networks.push_back(fmt::format(
          "- {{name: n{0}, family: f{1}, precision: fp32, kernels: '{2}'}}", i, i % 3, calls));
    }
    lines.insert(lines.end(), networks.begin(), networks.end());
    return write("relus.yaml", lines);
  }
  Result<ProfileResult> profile_to(double target, int models) {
    ProfileRequest request;
    request.space = space();
    for (int i = 0; i < models; ++i) request.models.push_back(path(model_name(i)));
    request.table = path("t.oplat");
    request.runtime = replay();
    request.campaign.target_error = target;
    return profile_space(request, noted_);
  }

  NotedEvents noted_;
  double uneven_ = 0;
};

/// Kernels whose times nobody can tell from others.
class UnevenSpaceProfileTest : public SpaceProfileTest {
 protected:
  UnevenSpaceProfileTest() { uneven_ = 0.2; }
};

// Before a model has a time, sums are taken to err by more than the target: only its time can say
// that they err by less.
TEST_F(SpaceProfileTest, ATargetBelowWhatSumsAreTakenToErrByIsMetOnceModelsHaveTimes) {
  constexpr double kTarget = 0.05;
  const auto result = profile_to(kTarget, kModels);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->space && result->space->expected);
  EXPECT_TRUE(result->space->target_met);
  EXPECT_LE(result->space->expected->mean, kTarget);
  EXPECT_LT(result->space->expected->composition, 0.8 * predict::kCompositionSd);
  EXPECT_LT(result->space->measured, result->space->candidates) << "rounds ended early";
  EXPECT_GE(result->summary.blocks, result->space->measured) << "of all parts, not of the last";
  EXPECT_GE(result->summary.processes, result->space->rounds);
  EXPECT_THAT(noted_.notes, Contains(HasSubstr("5.6 % by their sum"))) << "at first";
}

// The machine may be another one at the end of a profile: what networks take is compared with what
// their kernels take in the same round.
TEST_F(UnevenSpaceProfileTest, EachRoundMeasuresKernelsOfOtherModelsAndEveryModelOnceMore) {
  const auto result = profile_to(0.002, kModels);
  ASSERT_TRUE(result) << result.error().message;
  const auto measured_in = [&](std::size_t round, const std::string& what) {
    const auto& items = noted_.measured[round];
    return std::any_of(items.begin(), items.end(), [&](const std::string& item) {
      return item.find(what) != std::string::npos;
    });
  };
  ASSERT_GE(noted_.measured.size(), 3U);
  for (std::size_t round = 0; round < 2; ++round) {
    for (int i = 0; i < kModels; ++i)
      EXPECT_TRUE(measured_in(round, model_name(i))) << "model " << i << ", round " << round;
    for (int k = 0; k < 10; ++k) {
      // Or earlier, if it was chosen for itself.
      const std::string of_model = kernel(size_of(static_cast<int>(round), k));
      EXPECT_TRUE(measured_in(round, of_model) || measured_in(0, of_model)) << "kernel " << k;
    }
  }
}

TEST_F(SpaceProfileTest, ATargetThatIsNotMetSaysSo) {
  const auto result = profile_to(0.002, 0);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->space && result->space->expected);
  EXPECT_FALSE(result->space->target_met);
  EXPECT_GT(result->space->expected->mean, 0.05);
}

// 23 networks take some 10 s each with their kernels, of two fifths of the budget.
TEST(SmallNetworksIn, AreAsManyAsTheBudgetHasTimeFor) {
  const auto all = small_networks_in(23, std::nullopt);
  EXPECT_EQ(all.size(), 23U);
  EXPECT_EQ(all.back(), 22U);
  EXPECT_EQ(small_networks_in(23, 1800), all);
  EXPECT_EQ(small_networks_in(23, 300),
            (std::vector<std::size_t>{0, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21}));
  EXPECT_EQ(small_networks_in(23, 1), (std::vector<std::size_t>{0, 5, 11, 17}));
  EXPECT_EQ(small_networks_in(3, 1), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(small_networks_in(0, 1).empty());
}

}  // namespace
}  // namespace oplat::app
