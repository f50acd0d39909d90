// SPDX-License-Identifier: Apache-2.0
#include "api/values.hpp"

#include "ir/dtype.hpp"
#include "predict/spread.hpp"

namespace oplat::api {

std::string qualified_op(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : fmt::format("{}:{}", domain, op);
}

Tensor tensor_of(const std::optional<ir::Dtype>& dtype, bool constant, const ir::Shape& shape) {
  Tensor tensor;
  if (dtype) tensor.dtype = ir::name(*dtype);
  tensor.constant = constant;
  tensor.ranked = shape.ranked;
  tensor.dims = shape.dims;
  return tensor;
}

Device device_of(const table::Device& device) {
  return {device.name, device.cpu, device.architecture, device.cores, device.memory_bytes};
}

Setting setting_of(const table::Setting& setting) {
  return {setting.runtime, setting.version, setting.precision, setting.threads, setting.options};
}

Timing timing_of(const table::Timing& timing) {
  return {timing.median_ns / kNsPerMs, timing.ci_low_ns / kNsPerMs, timing.ci_high_ns / kNsPerMs,
          timing.blocks};
}

Interval interval_of(const base::Interval& interval_ns) {
  return {interval_ns.low / kNsPerMs, interval_ns.high / kNsPerMs};
}

Source source_of(estimate::Source source) {
  switch (source) {
    case estimate::Source::Measured:
      return Source::Measured;
    case estimate::Source::Interpolated:
      return Source::Interpolated;
    case estimate::Source::Learned:
      return Source::Learned;
    case estimate::Source::Roofline:
      return Source::Roofline;
    case estimate::Source::Free:
      return Source::Free;
    case estimate::Source::Missing:
      break;
  }
  return Source::Missing;
}

KernelTime kernel_time_of(const predict::KernelPrediction& kernel, double level) {
  KernelTime time;
  time.name = kernel.name;
  time.key = kernel.key;
  time.count = kernel.count;
  time.source = source_of(kernel.source);
  time.why = kernel.why;
  if (!kernel.latency_ns) return time;
  time.median_ms = *kernel.latency_ns / kNsPerMs;
  if (!kernel.sd_log) return time;
  const auto bounds =
      predict::interval(*kernel.latency_ns, *kernel.sd_log, level, {}, kernel.floor_ns.value_or(0));
  if (bounds) time.interval = interval_of(*bounds);
  return time;
}

predict::RowFilter rows_of(const SettingFilter& filter) {
  predict::RowFilter rows;
  rows.device = filter.device;
  rows.runtime = filter.runtime;
  rows.version = filter.version;
  rows.precision = filter.precision;
  rows.threads = filter.threads;
  rows.options = filter.options;
  rows.allow_setting_mismatch = filter.allow_setting_mismatch;
  return rows;
}

app::ModelInputs inputs_of(const ModelInputs& inputs) {
  return {{inputs.shapes, inputs.batch}, inputs.data};
}

app::PredictionOptions options_of(const EstimateOptions& options) {
  app::PredictionOptions to;
  to.level = options.level;
  to.estimator = options.fast ? estimate::Profile::Fast : estimate::Profile::Accurate;
  switch (options.missing) {
    case MissingPolicy::Error:
      to.missing = predict::MissingPolicy::Error;
      break;
    case MissingPolicy::Roofline:
      to.missing = predict::MissingPolicy::Roofline;
      break;
    case MissingPolicy::Zero:
      to.missing = predict::MissingPolicy::Zero;
      break;
  }
  return to;
}

}  // namespace oplat::api
