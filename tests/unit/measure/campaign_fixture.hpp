// SPDX-License-Identifier: Apache-2.0
/// A campaign on a simulated machine and a table of its own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "measure/campaign.hpp"
#include "unit/measure/simulated_runner.hpp"

namespace oplat::measure {

/// Weights of 1 MiB: cold is measured up to a hot time of about 5 ms.
inline std::string dense_key(int i) {
  return fmt::format("MatMul/13{{}}(f32[{},512],f32c[512,512])->(f32[{},512])", i, i);
}
inline std::string relu_key(int i) {
  return fmt::format("Relu/14{{}}(f32[1,{}])->(f32[1,{}])", 100 + i, 100 + i);
}

/// Keeps what it was told.
class RecordingProgress final : public Progress {
 public:
  void update(const ProgressState& state) override { states.push_back(state); }
  void notice(const std::string& message) override { notices.push_back(message); }
  std::vector<ProgressState> states;
  std::vector<std::string> notices;
};

/// (key, cold) of a row.
using RowName = std::pair<std::string, bool>;

/// One simulated machine with one table.
struct Bench {
  explicit Bench(int relus = 6, int denses = 3)
      : folder(std::move(*base::TemporaryFolder::create("oplat-campaign"))) {
    for (int i = 0; i < relus; ++i) {
      world.kernels[relu_key(i)].hot_ns = 2e3 * (i + 1);
      request.keys.push_back(relu_key(i));
    }
    for (int i = 1; i <= denses; ++i) {
      world.kernels[dense_key(i)].hot_ns = 60e3 * i;
      world.kernels[dense_key(i)].cold_ns = 60e3 * i + 100e3;
      request.keys.push_back(dense_key(i));
    }
    world.kernels[request.empty_call_key].hot_ns = 20;
    request.catalogue = &ir::Catalogue::own();
    request.device.name = "simulated";
    request.device.llc_bytes = 32 << 20;
    request.setting.runtime = "simulated";
    request.setting.version = "1";
    request.seed = 7;
    request.seconds = [this] { return world.now_seconds; };
    request.stop_asked = [this] { return stop_after && rows_blocks() >= *stop_after; };
    factory = [this]() -> Result<std::unique_ptr<measure::KernelRunner>> {
      if (world.factory_fails) return fail(Code::Runtime, "no such runtime");
      return std::unique_ptr<measure::KernelRunner>(
          std::make_unique<measure::SimulatedRunner>(world));
    };
    auto opened = table::Table::open(folder.path() / "t.oplat", table::Mode::Create);
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    table = std::make_unique<table::Table>(std::move(*opened));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// A model that takes 3 ms, asked for as well; the reference lives as long as the request's list.
  ModelTarget& add_model() {
    ModelTarget model;
    model.path = "/models/net.onnx";
    model.name = "net.onnx";
    model.plan_identity = "0123456789abcdef0123456789abcdef";
    world.kernels[model.path].hot_ns = 3e6;
    return request.models.emplace_back(std::move(model));
  }

  Summary run() {
    auto summary = measure::run(request, *table, factory, progress);
    EXPECT_TRUE(summary.has_value()) << (summary ? "" : summary.error().message);
    EXPECT_EQ(world.open_handles, 0);
    return summary ? *summary : Summary{};
  }

  /// Blocks that count: neither calibration nor the empty call.
  std::vector<measure::SimulatedBlock> row_blocks() const {
    std::vector<measure::SimulatedBlock> blocks;
    for (const auto& block : world.blocks) {
      if (block.references && block.key != request.empty_call_key) blocks.push_back(block);
    }
    return blocks;
  }
  std::size_t rows_blocks() const { return row_blocks().size(); }

  std::map<RowName, table::StoredRow> rows() const {
    std::map<RowName, table::StoredRow> rows;
    const auto status = table->each_row({}, [&](const table::StoredRow& row) {
      const bool cold = row.row.reuse_bytes == 96.0 * (1 << 20);
      rows[{row.row.key, cold}] = row;
      return true;
    });
    EXPECT_TRUE(status.has_value());
    return rows;
  }

  base::TemporaryFolder folder;
  measure::SimulatedWorld world;
  CampaignRequest request;
  RunnerFactory factory;
  RecordingProgress progress;
  std::unique_ptr<table::Table> table;
  std::optional<std::size_t> stop_after;
};

inline const table::Timing& timing(const table::StoredRow& row) {
  return std::get<table::Timing>(row.row.outcome);
}

}  // namespace oplat::measure
