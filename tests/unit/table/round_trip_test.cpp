// SPDX-License-Identifier: Apache-2.0
/// What is put into a table comes out of it again, whole, after it was closed.
#include <cmath>
#include <limits>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using RoundTrip = TableTest;

TEST_F(RoundTrip, StampsTheFile) {
  must_open(file(), Mode::Create);
  EXPECT_EQ(raw_value(file(), "PRAGMA application_id"), "1330662484");
  EXPECT_EQ(raw_value(file(), "PRAGMA user_version"), "5");
  EXPECT_EQ(raw_value(file(), "PRAGMA journal_mode"), "delete");
  EXPECT_EQ(Table::application_id(), 1330662484);
  EXPECT_EQ(Table::schema_version(), 5);
  EXPECT_EQ(read_bytes(file()).substr(68, 4), "OPLT");
}

TEST_F(RoundTrip, Device) {
  DeviceId id = 0;
  {
    Table table = must_open(file(), Mode::Create);
    id = must(table.put_device(sample_device()));
    Device changed = sample_device();
    changed.cores = 8;
    changed.llc_bytes = 1 << 25;
    EXPECT_EQ(must(table.put_device(changed)), id);
    Device other = sample_device();
    other.name = "board";
    EXPECT_NE(must(table.put_device(other)), id);
  }
  const Table table = must_open(file(), Mode::Read);
  const auto devices = must(table.devices());
  ASSERT_EQ(devices.size(), 2U);
  Device expected = sample_device();
  expected.cores = 8;
  expected.llc_bytes = 1 << 25;
  EXPECT_EQ(devices[0].first, id);
  EXPECT_EQ(devices[0].second, expected);
  EXPECT_EQ(devices[1].second.llc_bytes, 0);
  EXPECT_EQ(raw_value(file(), "SELECT llc_bytes FROM device WHERE name = 'board'"), "(null)");
  EXPECT_EQ(must(table.find_device("desk")), std::optional(id));
  EXPECT_EQ(must(table.find_device("Desk")), std::nullopt);
}

TEST_F(RoundTrip, SettingsAreOnePerSetOfFields) {
  Table table = must_open(file(), Mode::Create);
  const Setting base = sample_setting();
  const SettingId id = must(table.put_setting(base));
  EXPECT_EQ(must(table.put_setting(base)), id);
  EXPECT_EQ(must(table.find_setting(base)), std::optional(id));
  std::vector<Setting> others(6, base);
  others[0].runtime = "mnn";
  others[1].version = "1.31.2";
  others[2].build = "";
  others[3].precision = "f16";
  others[4].threads = 1;
  others[5].options = {{"level", "99"}};
  for (const Setting& other : others) {
    EXPECT_EQ(must(table.find_setting(other)), std::nullopt);
    EXPECT_NE(must(table.put_setting(other)), id);
  }
  const auto settings = must(table.settings());
  ASSERT_EQ(settings.size(), 7U);
  EXPECT_EQ(settings[0].second, base);
  EXPECT_EQ(settings[6].second, others[5]);
  EXPECT_EQ(
      raw_value(file(), "SELECT canonical FROM setting WHERE id = 1"),
      R"({"build":"abc123","options":{"level":"99","spinning":"0"},"precision":"model","runtime":"onnxruntime",)"
      R"("threads":4,"version":"1.31.1"})");
}

TEST_F(RoundTrip, SettingInWords) {
  EXPECT_EQ(describe(sample_setting()),
            "onnxruntime 1.31.1, 4 threads, precision model, level=99 spinning=0");
  EXPECT_EQ(describe({"mnn", "", "", "f16", 1, {}}), "mnn, 1 thread, precision f16");
}

TEST_F(RoundTrip, OutcomeNames) {
  EXPECT_EQ(outcome_name(Timing{}), "timing");
  EXPECT_EQ(outcome_name(Unsupported{}), "unsupported");
  EXPECT_EQ(outcome_name(Skipped{}), "skipped");
  EXPECT_EQ(outcome_name(Failed{}), "failed");
}

TEST_F(RoundTrip, ALongCommandIsCut) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  Campaign campaign;
  campaign.argv = std::string(kLimit, 'a');
  const CampaignId id = must(table.add_campaign(device, setting, campaign, {}));
  EXPECT_EQ(must(table.campaigns()).front().campaign.argv, campaign.argv);
  campaign.argv = std::string(kLimit - 5, 'a') + "\u00e9\u00e9\u00e9";
  must(table.update_campaign(id, campaign));
  EXPECT_EQ(must(table.campaigns()).front().campaign.argv, std::string(kLimit - 5, 'a') + " ...");
}

TEST_F(RoundTrip, Campaign) {
  CampaignId id = 0;
  Campaign campaign{"oplat profile --seed 1",
                    "c0ffee",
                    std::numeric_limits<std::uint64_t>::max(),
                    10.5,
                    std::nullopt,
                    800};
  const Environment environment{
      "6.1.0", "00ff", "2025-01-02T03:04:05Z", 0.25, {{"governor", "performance"}, {"a", ""}}};
  {
    Table table = must_open(file(), Mode::Create);
    const DeviceId device = must(table.put_device(sample_device()));
    const SettingId setting = must(table.put_setting(sample_setting()));
    id = must(table.add_campaign(device, setting, campaign, environment));
    EXPECT_NE(must(table.add_campaign(device, setting, {}, {})), id);
    campaign.reference_compute_ns.reset();
    campaign.reference_memory_ns = 33.25;
    must(table.update_campaign(id, campaign));
    expect_error(table.update_campaign(99, campaign), Code::Internal, "no campaign 99");
    must(table.add_campaign_facts(id, {{"a", "new"}, {"b", "further"}}));
    expect_error(table.add_campaign_facts(99, {{"a", "b"}}), Code::Internal, "no campaign 99");
    expect_error(table.add_campaign_facts(id, {{"a", "\xff"}}), Code::Input, "");
  }
  const auto all = must(must_open(file(), Mode::Read).campaigns());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, id);
  EXPECT_EQ(all[0].device, 1);
  EXPECT_EQ(all[0].setting, 1);
  EXPECT_EQ(all[0].campaign.argv, campaign.argv);
  EXPECT_EQ(all[0].campaign.commit, campaign.commit);
  EXPECT_EQ(all[0].campaign.seed, 18446744073709551615U);
  EXPECT_EQ(all[0].campaign.reference_compute_ns, std::nullopt);
  EXPECT_EQ(all[0].campaign.reference_memory_ns, std::optional(33.25));
  EXPECT_EQ(all[0].campaign.empty_call_ns, std::optional(800.0));
  EXPECT_EQ(all[0].environment.kernel, "6.1.0");
  EXPECT_EQ(all[0].environment.hostname_hash, "00ff");
  EXPECT_EQ(all[0].environment.started_at, "2025-01-02T03:04:05Z");
  EXPECT_EQ(all[0].environment.load_average, 0.25);
  EXPECT_EQ(all[0].environment.facts,
            (std::map<std::string, std::string>{
                {"governor", "performance"}, {"a", "new"}, {"b", "further"}}));
  EXPECT_EQ(all[1].campaign.empty_call_ns, std::nullopt);
}

TEST_F(RoundTrip, EveryOutcome) {
  const std::vector<Outcome> outcomes = {sample_timing(0.1 + 0.2), Unsupported{"no int4"},
                                         Skipped{"view"}, Failed{"time limit"}};
  {
    Table table = must_open(file(), Mode::Create);
    const DeviceId device = must(table.put_device(sample_device()));
    const SettingId setting = must(table.put_setting(sample_setting()));
    double reuse = 1;
    for (const Outcome& outcome : outcomes) {
      must(table.put_row(device, setting, std::nullopt,
                         {kRelu, reuse++, "own", outcome, {3, "fan", {"x"}}}));
    }
  }
  const auto rows = must(must_open(file(), Mode::Read).rows_of(kRelu, 1, 1));
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].row.key, kRelu);
    EXPECT_EQ(rows[i].row.reuse_bytes, std::optional(static_cast<double>(i) + 1));
    EXPECT_EQ(rows[i].row.origin, "own");
    EXPECT_EQ(rows[i].row.outcome, outcomes[i]);
    EXPECT_EQ(rows[i].row.method, (Method{3, "fan", {"x"}}));
    EXPECT_EQ(rows[i].campaign, std::nullopt);
    EXPECT_EQ(rows[i].device, 1);
    EXPECT_EQ(rows[i].setting, 1);
  }
}

TEST_F(RoundTrip, OwnRowsAreReplacedForeignOnesAdded) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  const CampaignId campaign = must(table.add_campaign(device, setting, {}, {}));
  Row row{kRelu, std::nullopt, "own", Failed{"once"}, {}};
  const RowId id = must(table.put_row(device, setting, std::nullopt, row));
  EXPECT_TRUE(std::holds_alternative<Failed>(
      must(table.rows_of(kRelu, device, setting)).at(0).row.outcome));
  row.outcome = sample_timing(12);
  row.method = {8, "chain", {}};
  EXPECT_EQ(must(table.put_row(device, setting, campaign, row)), id);
  auto rows = must(table.rows_of(kRelu, device, setting));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.outcome, Outcome(sample_timing(12)));
  EXPECT_EQ(rows[0].row.method.copies, 8);
  EXPECT_EQ(rows[0].campaign, std::optional(campaign));

  row.reuse_bytes = 0.0;
  const RowId hot = must(table.put_row(device, setting, campaign, row));
  EXPECT_NE(hot, id);
  EXPECT_EQ(must(table.put_row(device, setting, campaign, row)), hot);
  row.origin = "tinynas";
  const RowId foreign = must(table.put_row(device, setting, std::nullopt, row));
  EXPECT_NE(must(table.put_row(device, setting, std::nullopt, row)), foreign);
  rows = must(table.rows_of(kRelu, device, setting));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[3].id, id) << "the row without a cache state comes last";
  EXPECT_EQ(must(table.row(hot))->row.reuse_bytes, std::optional(0.0));
  EXPECT_EQ(must(table.row(999)), std::nullopt);
}

TEST_F(RoundTrip, LookUpsAskForKeyDeviceAndSetting) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  Setting one = sample_setting();
  one.threads = 1;
  const SettingId other = must(table.put_setting(one));
  EXPECT_TRUE(must(table.rows_of(kRelu, device, setting)).empty());
  must(table.put_row(device, setting, std::nullopt, sample_row(kRelu, 5)));
  EXPECT_EQ(must(table.rows_of(kRelu, device, setting)).size(), 1U)
      << "a remembered absence must not outlive a write";
  EXPECT_TRUE(must(table.rows_of(kRelu, device, other)).empty());
  EXPECT_TRUE(must(table.rows_of(kRelu, device + 1, setting)).empty());
  EXPECT_TRUE(must(table.rows_of(kAdd, device, setting)).empty());
}

TEST_F(RoundTrip, AFilterChoosesByDeviceSettingsAndTime) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  Device spare = sample_device();
  spare.name = "spare";
  const DeviceId other = must(table.put_device(spare));
  Setting setting = sample_setting();
  std::vector<SettingId> settings;
  for (const int threads : {1, 2, 4}) {
    setting.threads = threads;
    settings.push_back(must(table.put_setting(setting)));
  }
  const auto put = [&](DeviceId on, SettingId under, std::string_view key) {
    must(table.put_row(on, under, std::nullopt, sample_row(std::string(key), 5)));
  };
  put(device, settings[0], kRelu);
  put(device, settings[1], kRelu);
  put(device, settings[2], kAdd);
  put(other, settings[0], kAdd);
  Row failed = sample_row(std::string(kAdd), 5);
  failed.outcome = Failed{"no memory"};
  must(table.put_row(device, settings[0], std::nullopt, failed));

  const auto ids = [&](const RowFilter& filter) {
    std::vector<RowId> found;
    must(table.each_row(filter, [&](const StoredRow& row) {
      found.push_back(row.id);
      return true;
    }));
    return found;
  };
  using Ids = std::vector<RowId>;
  EXPECT_EQ(ids({}), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(ids({.device = device}), (Ids{1, 2, 3, 5}));
  EXPECT_EQ(ids({.device = device, .timed = true}), (Ids{1, 2, 3}));
  EXPECT_EQ(ids({.settings = {{settings[0], settings[2]}}}), (Ids{1, 3, 4, 5}));
  EXPECT_EQ(ids({other, {{settings[0]}}, true}), (Ids{4}));
  EXPECT_EQ(ids({.settings = std::vector<SettingId>()}), Ids());
  EXPECT_EQ(ids({.device = device + 9}), Ids());

  EXPECT_EQ(must(table.count_kernels({}, 9)), 2U);
  EXPECT_EQ(must(table.count_kernels({}, 1)), 1U);
  EXPECT_EQ(must(table.count_kernels({device, {{settings[0]}}, true}, 9)), 1U);
  EXPECT_EQ(must(table.count_kernels({.device = device + 9}, 9)), 0U);
}

TEST_F(RoundTrip, EachRowVisitsAllInOrderAndMayAskFurther) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  must(table.transaction([&]() -> Status {
    for (int i = 0; i < 1300; ++i) {
      OPLAT_CHECK(table.put_row(device, setting, std::nullopt,
                                sample_row(fmt::format("Op{}{{}}()->()", i), i + 1)));
    }
    return {};
  }));
  int number = 0;
  must(table.each_row({}, [&](const StoredRow& row) {
    EXPECT_EQ(row.row.key, fmt::format("Op{}{{}}()->()", number));
    EXPECT_EQ(std::get<Timing>(row.row.outcome).median_ns, number + 1);
    EXPECT_TRUE(table.blocks_of(row.id));
    if (number % 100 == 0) {
      EXPECT_TRUE(table.add_block(row.id, {0, 0, 1, {}, {}, 1, 0, 0}));
    }
    return ++number < 1200;
  }));
  EXPECT_EQ(number, 1200);
  EXPECT_EQ(must(table.counts()).blocks, 12);
}

TEST_F(RoundTrip, Blocks) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  const CampaignId campaign = must(table.add_campaign(device, setting, {}, {}));
  const RowId row = must(table.put_row(device, setting, campaign, sample_row(kRelu, 5)));
  const RowId bare = must(table.put_row(device, setting, std::nullopt, sample_row(kAdd, 5)));
  must(table.add_block(row, {2, 1, 4.75, 10.5, std::nullopt, 30, 2, 1, 0.75}));
  must(table.add_block(row, {1, 0, 4.5, std::nullopt, 20.25, 31, 0, 0}));
  must(table.add_block(bare, {0, 0, 0, std::nullopt, std::nullopt, 1, 0, 0}));
  const auto blocks = must(table.blocks_of(row));
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].pass, 2);
  EXPECT_EQ(blocks[0].process, 1);
  EXPECT_EQ(blocks[0].value_ns, 4.75);
  EXPECT_EQ(blocks[0].reference_compute_ns, std::optional(10.5));
  EXPECT_EQ(blocks[0].reference_memory_ns, std::nullopt);
  EXPECT_EQ(blocks[0].rounds, 30);
  EXPECT_EQ(blocks[0].switches, 2);
  EXPECT_EQ(blocks[0].steal_ticks, 1);
  EXPECT_EQ(blocks[0].other_load, std::optional(0.75));
  EXPECT_EQ(blocks[1].other_load, std::nullopt);
  EXPECT_EQ(blocks[1].pass, 1);
  EXPECT_EQ(blocks[1].reference_compute_ns, std::nullopt);
  EXPECT_EQ(blocks[1].reference_memory_ns, std::optional(20.25));
  EXPECT_EQ(raw_value(file(), "SELECT group_concat(coalesce(campaign, 'none')) FROM block"),
            "1,1,none");
  expect_error(table.add_block(77, {}), Code::Internal, "no row 77");
  must(table.put_row(device, setting, campaign, sample_row(kRelu, 6)));
  EXPECT_EQ(must(table.blocks_of(row)).size(), 2U) << "a resumed campaign adds to the blocks";
  must(table.remove_blocks(row));
  EXPECT_TRUE(must(table.blocks_of(row)).empty());
  EXPECT_EQ(must(table.blocks_of(bare)).size(), 1U);
}

TEST_F(RoundTrip, ModelRows) {
  fill();
  {
    Table table = must_open(file(), Mode::Write);
    EXPECT_EQ(must(table.put_model_row(1, 1, std::nullopt,
                                       {"renamed.onnx", "plan-1", 8, Failed{"out of memory"}, {}})),
              1);
    EXPECT_EQ(must(table.put_model_row(
                  1, 1, 1, {"other.onnx", "plan-2", 1, sample_timing(7), {2, "fan", {"f"}}})),
              2);
  }
  const Table table = must_open(file(), Mode::Read);
  const auto rows = must(table.model_rows());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row.name, "renamed.onnx");
  EXPECT_EQ(rows[0].row.plan_identity, "plan-1");
  EXPECT_EQ(rows[0].row.batch, 8);
  EXPECT_EQ(rows[0].row.outcome, Outcome(Failed{"out of memory"}));
  EXPECT_EQ(rows[0].campaign, std::nullopt);
  EXPECT_EQ(rows[1].row.outcome, Outcome(sample_timing(7)));
  EXPECT_EQ(rows[1].row.method, (Method{2, "fan", {"f"}}));
  EXPECT_EQ(rows[1].campaign, std::optional<CampaignId>(1));
  const auto blocks = must(table.blocks_of_model(1));
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].value_ns, 90'001);
  EXPECT_EQ(blocks[0].reference_memory_ns, std::optional(20.5));
  EXPECT_EQ(blocks[0].inferences, sample_inferences());
  EXPECT_EQ(rows[0].row.inferences, std::nullopt) << "put again without them";
  EXPECT_EQ(must(table.find_model_row("plan-2", 1, 1))->id, 2);
  EXPECT_EQ(must(table.find_model_row("plan-2", 1, 2)), std::nullopt);
}

TEST_F(RoundTrip, ModelRowsKeepTheTimesOfSingleInferences) {
  fill();
  {
    const auto row = must(must_open(file(), Mode::Read).find_model_row("plan-1", 1, 1));
    ASSERT_TRUE(row && row->row.inferences);
    const InferenceTimes& times = *row->row.inferences;
    EXPECT_EQ(times.count, 3);
    EXPECT_EQ(times.blocks, 1);
    EXPECT_NEAR(times.mean_ns, 93'333.3, 0.1);
    EXPECT_NEAR(times.p50_ns, 91'000, 91);
    EXPECT_EQ(times.p90_ns, 99'000);
    EXPECT_EQ(times.p99_ns, std::nullopt) << "three runs say nothing of one in a hundred";
    EXPECT_EQ(times.max_ns, 99'000);
  }
  base::TimeSketch hundred;
  for (int i = 1; i <= 100; ++i) hundred.add(1000.0 * i);
  Table table = must_open(file(), Mode::Write);
  must(table.put_model_row(1, 1, 1,
                           {"net.onnx",
                            "plan-1",
                            1,
                            sample_timing(90'000),
                            {1, "single", {}},
                            inference_times(hundred, 2)}));
  must(table.add_model_block(1, {1, 2, 90'002, std::nullopt, std::nullopt}));
  const auto times = must(table.find_model_row("plan-1", 1, 1))->row.inferences;
  ASSERT_TRUE(times && times->p99_ns);
  EXPECT_NEAR(*times->p99_ns, 99'000, 99);
  EXPECT_EQ(times->max_ns, 100'000);
  EXPECT_EQ(must(table.blocks_of_model(1)).back().inferences, std::nullopt);
  InferenceTimes bad = *times;
  bad.mean_ns = -1;
  expect_error(table.put_model_row(1, 1, 1, {"n", "plan-1", 1, sample_timing(9), {}, bad}),
               Code::Input, "inference_mean_ns");
}

TEST_F(RoundTrip, PlansKeepOrderNamesAndCounts) {
  const Plan plan{"net.onnx",
                  "id-1",
                  "rules:ort",
                  4,
                  1.5e6,
                  2048,
                  {{"z", kAdd, 1, std::nullopt, 0.0},
                   {"a", kRelu, 80, false, 602112.5},
                   {"a", kAdd, 1},
                   {"", kAdd, 2}}};
  {
    Table table = must_open(file(), Mode::Create);
    must(table.put_plan(
        {"net.onnx", "id-1", "runtime", 1, 1, 1, {{"old", kRelu, 1}, {"older", kRelu, 1}}}));
    must(table.put_plan(plan));
    must(table.put_plan({"empty.onnx", "id-0", "runtime", 1, 0, 0, {}}));
  }
  const Table table = must_open(file(), Mode::Read);
  const auto found = must(table.find_plan("id-1"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model, plan.model);
  EXPECT_EQ(found->identity, plan.identity);
  EXPECT_EQ(found->source, plan.source);
  EXPECT_EQ(found->batch, plan.batch);
  EXPECT_EQ(found->weight_bytes, plan.weight_bytes);
  EXPECT_EQ(found->activation_bytes, plan.activation_bytes);
  EXPECT_EQ(found->kernels, plan.kernels);
  EXPECT_EQ(must(table.find_plan("id-2")), std::nullopt);
  const auto all = must(table.plans());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kernels, plan.kernels);
  EXPECT_EQ(all[1].identity, "id-0");
  EXPECT_TRUE(all[1].kernels.empty());
  EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM plan_kernel"), "4");
}

TEST_F(RoundTrip, ModelHashIsKnownForTheSameFileOnly) {
  Table table = must_open(file(), Mode::Create);
  must(table.remember_model_hash("/m/a.onnx", 10, 20, "h1"));
  EXPECT_EQ(must(table.known_model_hash("/m/a.onnx", 10, 20)), std::optional<std::string>("h1"));
  EXPECT_EQ(must(table.known_model_hash("/m/a.onnx", 11, 20)), std::nullopt);
  EXPECT_EQ(must(table.known_model_hash("/m/a.onnx", 10, 21)), std::nullopt);
  EXPECT_EQ(must(table.known_model_hash("/m/b.onnx", 10, 20)), std::nullopt);
  must(table.remember_model_hash("/m/a.onnx", 11, 21, "h2"));
  EXPECT_EQ(must(table.known_model_hash("/m/a.onnx", 10, 20)), std::nullopt);
  EXPECT_EQ(must(table.known_model_hash("/m/a.onnx", 11, 21)), std::optional<std::string>("h2"));
}

TEST_F(RoundTrip, TextsOfEveryKind) {
  static constexpr char kOdd[] =
      "it's \"quoted\"; DROP TABLE row; -- \0 \n\t \xe5\xbb\xb6\xe8\xbf\x9f \xf0\x9f\x95\x92 %_";
  const std::string odd(kOdd, sizeof kOdd - 1);
  const std::string key = R"(torch:module{repr="a\n\u00e9 'x' "}()->())";
  Setting setting = sample_setting();
  setting.runtime = odd;
  setting.options[odd] = odd;
  Device device = sample_device();
  device.name = odd;
  {
    Table table = must_open(file(), Mode::Create);
    const DeviceId d = must(table.put_device(device));
    const SettingId s = must(table.put_setting(setting));
    must(table.put_row(d, s, std::nullopt,
                       {key, std::nullopt, "own", Failed{odd}, {1, odd, {odd, "", "a,b"}}}));
    must(table.put_plan({odd, odd, odd, 1, 0, 0, {{odd, key, 1}}}));
    must(table.remember_model_hash(odd, 1, 1, odd));
  }
  const Table table = must_open(file(), Mode::Read);
  EXPECT_EQ(must(table.devices()).at(0).second, device);
  EXPECT_EQ(must(table.settings()).at(0).second, setting);
  const auto rows = must(table.rows_of(key, 1, 1));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.outcome, Outcome(Failed{odd}));
  EXPECT_EQ(rows[0].row.method, (Method{1, odd, {odd, "", "a,b"}}));
  EXPECT_EQ(must(table.find_plan(odd))->kernels.at(0).name, odd);
  EXPECT_EQ(must(table.known_model_hash(odd, 1, 1)), std::optional(odd));
}

TEST_F(RoundTrip, ValuesThatNoTableMayHoldAreRefusedBeforeTheyAreWritten) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto put = [&](const Row& row) {
    return table.put_row(device, setting, std::nullopt, row);
  };
  Row row = sample_row(kRelu, 5);
  row.outcome = sample_timing(-1);
  expect_error(put(row), Code::Input, "median_ns: is -1");
  row.outcome = sample_timing(nan);
  expect_error(put(row), Code::Input, "median_ns");
  Timing timing = sample_timing(1);
  timing.p90_ns = infinity;
  row.outcome = timing;
  expect_error(put(row), Code::Input, "p90_ns");
  timing = sample_timing(1);
  timing.blocks = -1;
  row.outcome = timing;
  expect_error(put(row), Code::Input, "blocks");
  row = sample_row("", 5);
  expect_error(put(row), Code::Input, "the key is empty");
  row = sample_row("two\nlines", 5);
  expect_error(put(row), Code::Input, "a line end or NUL");
  row = sample_row(kRelu, 5);
  row.reuse_bytes = -1;
  expect_error(put(row), Code::Input, "reuse_bytes");
  row = sample_row(kRelu, 5);
  row.outcome = Failed{std::string((1 << 20) + 1, 'x')};
  expect_error(put(row), Code::Input, "reason");
  row = sample_row(kRelu, 5);
  row.method.flags = {"\xff"};
  expect_error(put(row), Code::Input, "UTF-8");
  expect_error(table.add_block(1, {0, 0, nan, {}, {}, 1, 0, 0}), Code::Input, "value_ns");
  Block block;
  block.inferences.emplace().add(1e308);
  expect_error(table.add_model_block(1, block), Code::Input, "longer than thirty years");
  expect_error(table.put_plan({"m", "", "runtime", 1, 0, 0, {}}), Code::Input, "identity");
  expect_error(table.put_row(99, setting, std::nullopt, sample_row(kRelu, 5)), Code::Input,
               "FOREIGN KEY");
  EXPECT_EQ(must(table.counts()).rows(), 0);
}

TEST_F(RoundTrip, CountsAndContexts) {
  fill();
  {
    Table table = must_open(file(), Mode::Write);
    must(table.put_row(1, 1, std::nullopt, {"X{}()->()", 5.0, "paddleslim", Skipped{"s"}, {}}));
    must(table.put_row(1, 1, std::nullopt, {"Y{}()->()", 5.0, "own", Unsupported{"u"}, {}}));
    Setting other = sample_setting();
    other.threads = 9;
    const SettingId setting = must(table.put_setting(other));
    must(table.put_row(1, setting, std::nullopt, sample_row(kRelu, 3)));
  }
  const Table table = must_open(file(), Mode::Read);
  const Counts expected{.devices = 1,
                        .settings = 2,
                        .campaigns = 1,
                        .kernels = 4,
                        .timings = 2,
                        .unsupported = 1,
                        .skipped = 1,
                        .failed = 1,
                        .foreign = 1,
                        .blocks = 1,
                        .model_rows = 1,
                        .model_blocks = 1,
                        .plans = 1,
                        .fits = 0};
  EXPECT_EQ(must(table.counts()), expected);
  EXPECT_EQ(expected.rows(), 5);
  const auto contexts = must(table.contexts());
  ASSERT_EQ(contexts.size(), 2U);
  EXPECT_EQ(contexts[0].setting, 1);
  EXPECT_EQ(contexts[0].rows, 4);
  EXPECT_EQ(contexts[0].timings, 1);
  EXPECT_EQ(contexts[1].rows, 1);
  EXPECT_EQ(contexts[1].timings, 1);
  EXPECT_TRUE(must(table.integrity()).empty());
}

TEST_F(RoundTrip, OutlinesNameEveryPairWithRowsAndWhetherOneIsTimed) {
  Table table = must_open(file(), Mode::Create);
  EXPECT_TRUE(must(table.context_outlines()).empty());
  std::vector<DeviceId> devices;
  std::vector<SettingId> settings;
  for (const char* name : {"a", "b", "c"}) {
    Device device = sample_device();
    device.name = name;
    devices.push_back(must(table.put_device(device)));
    Setting setting = sample_setting();
    setting.build = name;
    settings.push_back(must(table.put_setting(setting)));
  }
  // Device b has no rows; a has two settings, the middle one without a time; c has the last setting
  // only.
  must(table.put_row(devices[2], settings[2], std::nullopt, sample_row(kRelu, 3)));
  must(table.put_row(devices[0], settings[2], std::nullopt, sample_row(kRelu, 4)));
  must(table.put_row(devices[0], settings[2], std::nullopt, {kAdd, 1.0, "own", Failed{"f"}, {}}));
  must(table.put_row(devices[0], settings[1], std::nullopt, {kAdd, 1.0, "own", Failed{"f"}, {}}));
  must(table.put_row(devices[0], settings[1], std::nullopt, {kRelu, 1.0, "own", Skipped{"s"}, {}}));
  const auto outlines = must(table.context_outlines());
  ASSERT_EQ(outlines.size(), 3U);
  const auto expect = [&](std::size_t index, DeviceId device, SettingId setting, bool timed) {
    EXPECT_EQ(outlines[index].device, device);
    EXPECT_EQ(outlines[index].setting, setting);
    EXPECT_EQ(outlines[index].timed, timed);
  };
  expect(0, devices[0], settings[1], false);
  expect(1, devices[0], settings[2], true);
  expect(2, devices[2], settings[2], true);
  const Context counted = must(table.context_of(devices[0], settings[2]));
  EXPECT_EQ(counted.rows, 2);
  EXPECT_EQ(counted.timings, 1);
  EXPECT_EQ(must(table.context_of(devices[1], settings[0])).rows, 0);
}

}  // namespace
}  // namespace oplat::table
