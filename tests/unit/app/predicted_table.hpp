// SPDX-License-Identifier: Apache-2.0
/// A small table on disk that holds a model's plan and the times of its kernels, and the model.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "plan/identity.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/formats/models.hpp"

namespace oplat::app::testing {

/// `predictable.onnx` takes 2 * 1 us + 3 us by its plan; `faster.onnx` 1 us; a third file has no
/// plan.
class PredictedTable {
 public:
  PredictedTable() : models_(test::must(base::TemporaryFolder::create("oplat-app"))) {
    small_.row(device_, setting_, test::kCopy250, std::nullopt, test::timing(1000));
    small_.row(device_, setting_, test::kCopy1000, std::nullopt, test::timing(3000));
    model_ = put_model("predictable.onnx", "a");
    put_plan(model_, {{"a", test::kCopy250, 2}, {"b", test::kCopy1000, 1}});
    faster_ = put_model("faster.onnx", "b");
    put_plan(faster_, {{"a", test::kCopy250, 1}});
    without_plan_ = put_model("without_plan.onnx", "c");
  }

  [[nodiscard]] std::string path() const { return small_.table().path().string(); }
  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] const std::string& faster() const { return faster_; }
  [[nodiscard]] const std::string& without_plan() const { return without_plan_; }
  test::SmallTable& small() { return small_; }
  [[nodiscard]] table::DeviceId device() const { return device_; }
  [[nodiscard]] table::SettingId setting() const { return setting_; }

  /// Files of different `word` have different hashes.
  std::string put_model(const std::string& name, const std::string& word) {
    formats::onnx::wire::Model model = formats::onnx::testing::small_model();
    model.mutable_graph()->set_name(word);
    // No dimension is open, so that the model needs no further facts.
    for (auto& input : *model.mutable_graph()->mutable_input())
      for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (!dim.has_dim_value()) dim.set_dim_value(1);
    const std::string path = (models_.path() / name).string();
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }
  /// The model itself, measured.
  void put_time(const std::string& model, double ns, std::vector<std::string> flags = {}) {
    table::ModelRow row;
    row.name = std::filesystem::path(model).filename().string();
    row.plan_identity =
        plan::identity(test::must(plan::model_hash(model)), {}, test::setting_of(), "", {});
    row.outcome = test::timing(ns);
    row.method.flags = std::move(flags);
    test::must(small_.table().put_model_row(device_, setting_, std::nullopt, row));
  }
  void put_plan(const std::string& model, std::vector<table::PlanKernel> kernels,
                int format = plan::kPlanFormat) {
    table::Plan plan;
    plan.model = std::filesystem::path(model).filename().string();
    plan.identity =
        plan::identity(test::must(plan::model_hash(model)), {}, test::setting_of(), "", {}, format);
    plan.kernels = std::move(kernels);
    test::must(small_.table().put_plan(plan));
  }

 private:
  base::TemporaryFolder models_;
  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
  std::string model_;
  std::string faster_;
  std::string without_plan_;
};

}  // namespace oplat::app::testing
