// SPDX-License-Identifier: Apache-2.0
/// Values of the API from those of the core, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/predict.hpp"
#include "app/table_source.hpp"
#include "ir/key.hpp"
#include "oplat/graph.hpp"
#include "oplat/key.hpp"
#include "oplat/predict.hpp"
#include "oplat/table.hpp"

namespace oplat {

/// Behind Table.
struct Table::Impl {
  std::string path;
  app::OpenedTable opened;
  app::PredictMemo memo = {};  ///< of predictions by `opened`
};

namespace api {

constexpr double kNsPerMs = 1e6;

/// "Conv", "com.microsoft:FusedConv".
std::string qualified_op(std::string_view domain, std::string_view op);
Tensor tensor_of(const std::optional<ir::Dtype>& dtype, bool constant, const ir::Shape& shape);

Device device_of(const table::Device& device);
Setting setting_of(const table::Setting& setting);
Timing timing_of(const table::Timing& timing);
Interval interval_of(const base::Interval& interval_ns);
Source source_of(estimate::Source source);
/// One kernel; its interval at `level`, by itself.
KernelTime kernel_time_of(const predict::KernelPrediction& kernel, double level);

predict::RowFilter rows_of(const SettingFilter& filter);
app::ModelInputs inputs_of(const ModelInputs& inputs);
app::PredictionOptions options_of(const EstimateOptions& options);

}  // namespace api
}  // namespace oplat
