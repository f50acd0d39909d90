// SPDX-License-Identifier: Apache-2.0
#include "unit/app/recording.hpp"

#include "ir/catalogue.hpp"
#include "ir/key.hpp"
#include "ir/work.hpp"
#include "measure/states.hpp"

namespace oplat::app {
namespace {

constexpr int kKernels = 7;

/// A field of bytes of a protocol buffer.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string number_field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

/// y = Relu(x) with x f32[1,8], as ONNX.
std::string relu_model() {
  const auto value = [](const std::string& name) {
    const std::string dims = field(1, number_field(1, 1)) + field(1, number_field(1, 8));
    return field(1, name) + field(2, field(1, number_field(1, 1) + field(2, dims)));
  };
  const std::string node = field(1, "x") + field(2, "y") + field(3, "n0") + field(4, "Relu");
  const std::string graph =
      field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"));
  return number_field(1, 8) + field(7, graph) + field(8, number_field(2, 17));
}

table::Setting reference_setting() {
  table::Setting setting;
  setting.runtime = "onnxruntime";
  setting.version = "1.31.1";
  setting.build = "abc";
  setting.threads = 1;
  return setting;
}

}  // namespace

table::Timing RecordingTest::timing(double median_ns) {
  table::Timing value;
  value.median_ns = value.ci_low_ns = value.ci_high_ns = value.min_ns = value.p10_ns =
      value.p90_ns = median_ns;
  value.sd_log = 0.002;
  value.blocks = 5;
  value.processes = 5;
  return value;
}

void RecordingTest::SetUp() {
  auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder) << folder.error().message;
  folder_.emplace(std::move(*folder));
  ASSERT_TRUE(base::write_file(path(kModel), relu_model()));
  auto table = table::Table::open(path("recorded.oplat"), table::Mode::Create);
  ASSERT_TRUE(table) << table.error().message;
  table::Device bench;
  bench.name = "bench";
  bench.cores = 2;
  const auto device = table->put_device(bench);
  const auto setting = table->put_setting(reference_setting());
  ASSERT_TRUE(device && setting);
  table::Environment environment;
  environment.started_at = "2026-01-01T00:00:00Z";
  const auto campaign = table->add_campaign(*device, *setting, {}, environment);
  ASSERT_TRUE(campaign) << campaign.error().message;
  for (int size = 1; size <= kKernels; ++size) {
    table::Row row;
    row.key = key(size);
    const auto parsed = ir::parse(row.key);
    ASSERT_TRUE(parsed) << row.key;
    row.reuse_bytes = measure::hot_state(ir::work(*parsed, ir::Catalogue::own())).reuse_bytes;
    row.outcome = timing(1000.0 * size);
    row.method.copies = 8;
    row.method.topology = "fan";
    ASSERT_TRUE(table->put_row(*device, *setting, *campaign, row));
  }
  table::Plan plan;
  plan.model = kModel;
  plan.identity = kIdentity;
  plan.batch = 1;
  plan.kernels = {{"n0", key(1), 1}};
  ASSERT_TRUE(table->put_plan(plan));
  table::ModelRow model;
  model.name = kModel;
  model.plan_identity = kIdentity;
  model.outcome = timing(kModelNs);
  ASSERT_TRUE(table->put_model_row(*device, *setting, *campaign, model));
}

std::string RecordingTest::write(const std::string& name, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  EXPECT_TRUE(base::write_file(path(name), text));
  return path(name);
}

std::string RecordingTest::all_keys() {
  std::vector<std::string> lines;
  for (int size = 1; size <= kKernels; ++size) lines.push_back(key(size));
  return write("all-keys.txt", lines);
}

}  // namespace oplat::app
