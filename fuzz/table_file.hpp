// SPDX-License-Identifier: Apache-2.0
/// A table file for fuzz targets: a sound one with a line of everything to start from, and
/// everything that a table can be asked.
#pragma once

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "compat/mobile_vision/lut_row_index.hpp"
#include "compat/registry.hpp"
#include "estimate/sanity.hpp"
#include "predict/prediction.hpp"
#include "table/table.hpp"

namespace oplat::fuzz {

template <class T>
T sound(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "a sound table: %s\n", result.error().message.c_str());
    std::abort();
  }
  return *std::move(result);
}
inline void sound(const Status& status) {
  if (!status) std::abort();
}

/// An error is never a mistake of the program, and always says something.
template <class T>
bool holds(const Result<T>& result) {
  if (result) return true;
  if (result.error().code == Code::Internal || result.error().message.empty()) std::abort();
  return false;
}

/// A file of this process, in a folder that is removed when it ends.
inline const std::filesystem::path& table_path() {
  static const base::TemporaryFolder folder = sound(base::TemporaryFolder::create("oplat-fuzz"));
  static const std::filesystem::path path = folder.path() / "t.oplat";
  return path;
}

inline void put_table(std::string_view bytes) {
  std::FILE* file = std::fopen(table_path().c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    std::abort();
  std::fclose(file);
}

/// Fills a table with a line of everything.
inline void fill(table::Table& table) {
  const auto device =
      sound(table.put_device({"desk", "Xeon", "x86_64", 4, 1 << 30, 32768, 0, 1 << 24, "avx2"}));
  const auto setting = sound(table.put_setting(
      {"onnxruntime", "1.0", "abc", "model", 1, {{"spinning", "1"}, {"level", "99"}}}));
  const auto campaign =
      sound(table.add_campaign(device, setting, {"oplat profile", "c0ffee", 7, 10.5, 20.5, 800.0},
                               {"6.1", "aa", "2025-01-02T03:04:05Z", 0.5, {{"clock", "tsc"}}}));
  const table::Timing timing{1500, 0.01, 1490, 1510, 0.95, 1480, 1485, 1600, 5, 3};
  const auto row = sound(table.put_row(
      device, setting, campaign,
      {std::string(plan::kDispatchKey), 0.0, "own", timing, {64, "chain", {table::kUnderLoad}}}));
  sound(table.add_block(row, {0, 1, 1501.5, 10.25, std::nullopt, 30, 2, 0, 0.5}));
  const char* const conv =
      "Conv/11{kernel_shape=[1,1],pads=[0,0,0,0]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,4])";
  for (const double reuse : {0.0, 1e6, 1e9}) {
    sound(table.put_row(device, setting, campaign, {conv, reuse, "own", timing, {8, "fan", {}}}));
  }
  sound(table.put_row(
      device, setting, campaign,
      {"Add/14{}(f32[8],f32[8])->(&0)", std::nullopt, "own", table::Failed{"signal 11"}, {}}));
  const auto model = sound(table.put_model_row(
      device, setting, campaign, {"net.onnx", "plan-1", 1, timing, {1, "single", {}}}));
  sound(table.add_model_block(model, {0, 1, 90'001, std::nullopt, 20.5, 12, 0, 1, 0.25}));
  sound(
      table.put_plan({"net.onnx",
                      "plan-1",
                      "runtime",
                      1,
                      4096,
                      512,
                      {{"a", std::string(plan::kDispatchKey), 1, true, 4096.0}, {"b", conv, 2}}}));
  predict::CompositionFit fit;
  fit.c0_ns = 10;
  fit.scale = 1.1;
  fit.scores = {0.5, 1.5};
  sound(table.put_fit(device, setting,
                      {std::string(predict::kCompositionFormat), 1, predict::encode(fit)}));
  sound(table.remember_model_hash("/models/net.onnx", 4242, 1'700'000'000'000'000'000, "d0d0"));
  const auto* const codec = sound(compat::find_codec("tinynas"));
  const auto library = sound(codec->read(
      "{Regular,128,3,480,480,192,7,2,1} 30.9881\n\n{Depthwise,128,32,7,7,32,7,1,0}  0.029\n",
      {"lib.out", "fp32", true}));
  sound(table.add_foreign(device, setting, {"tinynas", "lib.out", {}}, library.file));
}

/// The bytes of such a table, in pages of 512 bytes so that they are few.
inline const std::string& sound_table() {
  static const std::string bytes = [] {
    std::filesystem::remove(table_path());
    {
      table::Table table = sound(table::Table::open(table_path(), table::Mode::Create));
      fill(table);
    }
    sqlite3* handle = nullptr;
    if (sqlite3_open(table_path().c_str(), &handle) != SQLITE_OK ||
        sqlite3_exec(handle, "PRAGMA page_size = 512; VACUUM", nullptr, nullptr, nullptr) !=
            SQLITE_OK)
      std::abort();
    sqlite3_close(handle);
    return sound(base::read_file(table_path()));
  }();
  return bytes;
}

/// Everything that commands ask a table for its rows, with what they make of the answers.
inline void ask_rows(const table::Table& table) {
  std::vector<table::StoredRow> rows;
  if (!holds(table.each_row({}, [&](const table::StoredRow& row) {
        rows.push_back(row);
        return rows.size() < 100;
      })))
    return;
  std::vector<estimate::CheckedRow> checked;
  std::vector<table::PlanKernel> kernels;
  for (const auto& stored : rows) {
    (void)holds(table.blocks_of(stored.id));
    (void)holds(table.row(stored.id));
    (void)holds(table.foreign_text(stored.id));
    (void)holds(table.rows_of(stored.row.key, stored.device, stored.setting));
    if (const auto* timing = std::get_if<table::Timing>(&stored.row.outcome))
      checked.push_back({stored.row.key, timing->median_ns});
    kernels.push_back({"n", stored.row.key, 1, std::nullopt, 4096.0});
  }
  (void)estimate::check_rows(checked, compat::catalogue());
  const auto selection = predict::select_rows(table, {}, compat::catalogue());
  if (!holds(selection)) return;
  table::Plan plan{"net.onnx", "plan-1", "runtime", 1, 4096, 512, std::move(kernels)};
  for (const auto profile : {estimate::Profile::Accurate, estimate::Profile::Fast}) {
    (void)holds(
        predict::predict(table, *selection, plan,
                         {.missing = predict::MissingPolicy::Roofline, .profile = profile}));
  }
}

inline void ask_contexts(const table::Table& table) {
  (void)holds(table.context_outlines());
  const auto contexts = table.contexts();
  if (!holds(contexts)) return;
  for (const table::Context& pair : *contexts) {
    (void)holds(table.context_of(pair.device, pair.setting));
    (void)holds(table.load_of_rows(pair.device, pair.setting));
    (void)holds(table.load_of_models(pair.device, pair.setting));
    (void)holds(table.device_name(pair.device));
    (void)holds(table.foreign_texts_of(pair.device, pair.setting));
    (void)holds(table.rows_beside(pair.device, pair.setting, "tinynas"));
    (void)holds(table.count_kernels({.device = pair.device}, 100));
    (void)holds(compat::mobile_vision::LutRowIndex::load(table, pair.device, pair.setting));
    for (const std::string_view format : {estimate::kLearnedFormat, predict::kCompositionFormat}) {
      const auto fit = table.find_fit(format, pair.device, pair.setting);
      if (!holds(fit) || !*fit) continue;
      (void)holds(estimate::age_of_fit((*fit)->fit.blob));
      (void)holds(predict::decode_composition((*fit)->fit.blob));
    }
  }
}

/// Opens the file at table_path() and asks it for everything.
inline void ask_everything() {
  const auto table = table::Table::open(table_path(), table::Mode::Read, compat::codecs());
  if (!holds(table)) return;
  (void)holds(table->integrity());
  (void)holds(table->devices());
  (void)holds(table->settings());
  (void)holds(table->campaigns());
  (void)holds(table->counts());
  (void)holds(table->kernel_hashes());
  (void)holds(table->find_device("desk"));
  (void)holds(table->known_model_hash("/models/net.onnx", 4242, 1'700'000'000'000'000'000));
  ask_contexts(*table);
  ask_rows(*table);
  if (const auto models = table->model_rows(); holds(models)) {
    for (const auto& model : *models) {
      (void)holds(table->blocks_of_model(model.id));
      (void)holds(table->find_model_row(model.row.plan_identity, model.device, model.setting));
    }
  }
  if (const auto plans = table->plans(); holds(plans)) {
    for (const auto& plan : *plans) (void)holds(table->find_plan(plan.identity));
  }
  if (const auto files = table->foreign_files(); holds(files)) {
    for (const auto& file : *files) {
      const auto read = table->foreign_file(file.id);
      if (!holds(read)) continue;
      if (const auto codec = compat::find_codec(file.origin.format); codec)
        (void)holds((*codec)->write(*read));
    }
  }
}

}  // namespace oplat::fuzz
