// SPDX-License-Identifier: Apache-2.0
/// What a report can be about, collected once; renderers only format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "oplat/base/result.hpp"
#include "oplat/predict/prediction.hpp"
#include "oplat/predict/validation.hpp"
#include "oplat/table/table.hpp"

namespace oplat::report {

/// `oplat estimate KEY...`.
struct EstimateListing {
  std::vector<predict::KernelPrediction> kernels;
  double level = 0.9;
  table::Device device;
  table::Setting setting;
  std::vector<predict::Mismatch> mismatch;
  std::vector<std::string> warnings;
};

/// `oplat table info`.
struct TableInfo {
  struct Line {
    table::Device device;
    table::Setting setting;
    std::int64_t rows = 0;
    std::int64_t timings = 0;
  };
  std::string path;
  int schema_version = 0;
  std::vector<Line> populations;
  std::int64_t campaigns = 0;
  std::int64_t plans = 0;
  std::int64_t models = 0;
};
Result<TableInfo> table_info(const table::Table& table);

/// `oplat table rows`.
struct RowListing {
  struct Line {
    std::string device;
    table::Setting setting;
    table::StoredRow row;
  };
  std::vector<Line> rows;
  bool cut = false;  ///< the table holds more
};
Result<RowListing> table_rows(const table::Table& table, std::int64_t most = 1'000'000);

struct Options {
  bool per_op = false;  ///< text: every kernel, not only the costliest
  bool colour = false;  ///< text: escape sequences for a terminal
};

/// One report. The plan is that of `oplat plan`.
struct ReportModel {
  std::variant<predict::Prediction, predict::Validation, table::Plan, EstimateListing, TableInfo, RowListing> subject;
  Options options;
};

/// Indices of the kernels that take the most time of one run (count * latency), most first, at most `most`.
std::vector<std::size_t> costliest(const predict::Prediction& prediction, std::size_t most);

}  // namespace oplat::report
