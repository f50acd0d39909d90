// SPDX-License-Identifier: Apache-2.0
/// Look-ups by the original's rule, and estimates.
#include "compat/mobile_vision/lut_answers.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "compat/mobile_vision/codec.hpp"

namespace oplat::compat::mobile_vision {
namespace {

constexpr double kAnswerNsPerUs = 1e3;
constexpr std::string_view kConv = "Int8Conv";
constexpr std::string_view kConvRelu = "Int8ConvRelu";

double value_of(const std::vector<LutTime>& times, LutMode mode) {
  const auto less = [](const LutTime& a, const LutTime& b) { return a.us < b.us; };
  switch (mode) {
    case LutMode::Min:
      return std::min_element(times.begin(), times.end(), less)->us;
    case LutMode::Max:
      return std::max_element(times.begin(), times.end(), less)->us;
    case LutMode::Last:
      return times.back().us;
    case LutMode::Mean:
      break;
  }
  double sum = 0;
  for (const LutTime& time : times) sum += time.us;
  return sum / static_cast<double>(times.size());
}

/// A key that estimators may understand; empty where there is none.
std::string key_for_estimates(const formats::caffe2::LutQuery& query) {
  const auto key = formats::caffe2::key_of(query);
  return key ? ir::print(*key) : std::string();
}

/// The better of two estimates of one operator: that from nearer rows, the first where both are as
/// near.
const predict::KernelPrediction& better(const predict::KernelPrediction& a,
                                        const predict::KernelPrediction& b) {
  return b.latency_ns && (!a.latency_ns || b.source < a.source) ? b : a;
}

void take(LutAnswer& answer, const predict::KernelPrediction& kernel, double quantile) {
  answer.why = kernel.why;
  if (!kernel.latency_ns || !kernel.sd_log) return;
  answer.us = *kernel.latency_ns / kAnswerNsPerUs;
  answer.source = estimate::document_name(kernel.source);
  answer.sd_log = *kernel.sd_log;
  answer.group = kernel.group;
  answer.floor_us = kernel.floor_ns.value_or(0) / kAnswerNsPerUs;
  answer.interval = estimate::bounds_around(*answer.us, answer.sd_log, quantile, answer.floor_us);
}

void sum_up(LutPrediction& prediction) {
  prediction.total_us = 0;
  prediction.total_whole = true;
  prediction.found = prediction.estimated = 0;
  for (const LutAnswer& answer : prediction.answers) {
    if (!answer.us) continue;
    prediction.total_us += *answer.us;
    prediction.total_whole = prediction.total_whole && answer.whole;
    ++(answer.times.empty() ? prediction.estimated : prediction.found);
  }
}

}  // namespace

std::optional<LutMode> parse_lut_mode(std::string_view word) {
  if (word == "ave" || word == "mean") return LutMode::Mean;
  if (word == "min") return LutMode::Min;
  if (word == "max") return LutMode::Max;
  if (word == "last") return LutMode::Last;
  return std::nullopt;
}

LutLookup lookup_in_file(std::shared_ptr<const LutFile> file, std::shared_ptr<const LutIndex> index,
                         std::string device) {
  return [file = std::move(file), index = std::move(index),
          device = std::move(device)](const formats::caffe2::LutQuery& query) -> Result<LutFound> {
    LutFound found;
    // Contradictions were told when the file was read.
    for (const std::uint32_t at : index->find(query, device))
      found.times.push_back(file->lut.records[at].p50);
    return found;
  };
}

LutLookup lookup_in_table(std::shared_ptr<const table::Table> table,
                          const predict::Selection& selection) {
  const auto rows = std::make_shared<LutRows>(*table, selection.device_id, selection.setting_ids);
  return [table = std::move(table), rows](const formats::caffe2::LutQuery& query) {
    return rows->find(query);
  };
}

Result<LutImport> lut_import(const LutFile& file, const std::string& device) {
  const table::TableCodec& codec = lut_codec();
  OPLAT_TRY(setting, codec.setting(file.path.filename().string(), ""));
  OPLAT_TRY(rows, codec.read(file.bytes, {file.path.string(), setting.precision, true}));
  std::erase_if(rows.file.rows, [&](const table::ForeignRow& row) { return row.device != device; });
  for (table::ForeignRow& row : rows.file.rows) row.device.clear();
  if (rows.file.rows.empty()) {
    return fail(Code::Refused,
                "{}: has no record of device {}; choose a device that it holds with --device",
                file.path.string(), base::printable(device));
  }
  return LutImport{
      setting, {"lut", file.path.filename().string(), base::hash128(file.bytes)}, std::move(rows)};
}

std::string lut_table_name(const LutFile& file, const std::string& device, bool calibrate) {
  base::Hasher hasher;
  hasher.add(device);
  hasher.add(calibrate ? "\n" : "\nnot calibrated\n");
  hasher.add(file.bytes);
  return fmt::format("lut-{}-{}.oplat", table::Table::schema_version(), hasher.finish().hex());
}

Result<LutPrediction> look_up(const LutNet& net, const LutLookup& lookup, LutMode mode,
                              std::vector<std::string>& warnings) {
  LutPrediction prediction;
  prediction.path = net.path;
  std::set<std::string> told;
  for (const formats::caffe2::LutQuery& query : net.queries) {
    LutAnswer answer;
    answer.query = query;
    OPLAT_TRY(found, lookup(answer.query));
    if (found.times.empty() && query.op_type == kConv) {
      answer.query.op_type = kConvRelu;
      OPLAT_TRY(other, lookup(answer.query));
      found = std::move(other);
      if (found.times.empty()) answer.query = query;
    }
    if (found.contradiction && told.insert(*found.contradiction).second)
      warnings.push_back(*found.contradiction);
    if (!found.times.empty()) {
      answer.us = value_of(found.times, mode);
      answer.whole =
          mode != LutMode::Mean && std::all_of(found.times.begin(), found.times.end(),
                                               [](const LutTime& time) { return time.whole; });
      answer.source = "table";
      answer.sd_log = estimate::kFewBlocksSd;
      answer.group = "measured";
      answer.times = std::move(found.times);
    } else {
      answer.why = "no record of this operator";
    }
    prediction.answers.push_back(std::move(answer));
  }
  sum_up(prediction);
  return prediction;
}

Status estimate_missing(LutPrediction& prediction, const predict::Predictor& predictor,
                        double level) {
  const double quantile = predict::interval_quantile(level, {});
  for (LutAnswer& answer : prediction.answers) {
    if (answer.us) continue;
    std::vector<table::PlanKernel> kernels = {
        {answer.query.op_type, key_for_estimates(answer.query), 1}};
    if (kernels.front().key.empty()) {
      answer.why = formats::caffe2::key_of(answer.query).error().message;
      continue;
    }
    // Tables of the original hold most convolutions as Int8ConvRelu alone.
    if (answer.query.op_type == kConv) {
      formats::caffe2::LutQuery other = answer.query;
      other.op_type = kConvRelu;
      kernels.push_back({other.op_type, key_for_estimates(other), 1});
    }
    OPLAT_TRY(estimates,
              predictor.estimate(kernels, std::nullopt, predict::MissingPolicy::Roofline));
    take(answer, better(estimates.front(), estimates.back()), quantile);
  }
  sum_up(prediction);
  if (prediction.missing() > 0 || !(prediction.total_us > 0)) return {};
  std::vector<predict::Term> terms;
  double floor = 0;
  for (const LutAnswer& answer : prediction.answers) {
    floor += answer.floor_us;
    terms.push_back({*answer.us / prediction.total_us, answer.sd_log, answer.group});
  }
  prediction.interval = estimate::bounds_around(prediction.total_us,
                                                predict::total_spread(terms, 0), quantile, floor);
  return {};
}

}  // namespace oplat::compat::mobile_vision
