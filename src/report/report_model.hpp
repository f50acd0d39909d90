// SPDX-License-Identifier: Apache-2.0
/// What a report can be about, collected once; renderers only format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "predict/diagnosis.hpp"
#include "predict/prediction.hpp"
#include "predict/validation.hpp"
#include "report/accuracy_report.hpp"
#include "report/advice.hpp"
#include "report/check_report.hpp"
#include "report/fit_report.hpp"
#include "report/foreign_document.hpp"
#include "report/inspection.hpp"
#include "report/lists.hpp"
#include "report/machine_report.hpp"
#include "report/measurement.hpp"
#include "report/model_lists.hpp"
#include "report/profile_report.hpp"
#include "report/sweep.hpp"
#include "report/verification.hpp"
#include "table/table.hpp"

namespace oplat::ir {
class Catalogue;
}

namespace oplat::report {

/// `oplat compare A B`.
struct Comparison {
  std::array<predict::Prediction, 2> models;
  /// Latency of the second over that of the first; std::nullopt if either has none.
  [[nodiscard]] std::optional<double> ratio() const;
  /// Whether the intervals do not overlap. Both models share a table and its errors, so that
  /// overlapping ones do not mean that the models are equally fast.
  [[nodiscard]] bool intervals_apart() const;
};

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
  std::vector<Line> contexts;
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
  bool per_op = false;  ///< text, html: every kernel, not only the costliest
  bool keys = false;    ///< text, html: the keys of kernels next to their labels
  /// text of plans and rows: kernels by these labels instead of their keys, unless `keys`; nullptr:
  /// always keys, as programs read them
  const ir::Catalogue* labels = nullptr;
  bool colour = false;      ///< text: escape sequences for a terminal
  std::size_t columns = 0;  ///< text: lines are wrapped and tables shortened to it; 0: not at all
  /// oplat has a worker of the rows' runtime, so that `oplat profile` is of use
  bool measures_here = true;
  /// text: instead of oplat's own, for a command that prints what another program prints
  std::optional<std::string> text = std::nullopt;
};

/// One report. The plan is that of `oplat plan`.
struct ReportModel {
  std::variant<PredictionReport, PredictionList, PlanList, Comparison, Measurement,
               predict::Validation, table::Plan, RulesPlan, EstimateListing, TableInfo, RowListing,
               Verification, FitReport, AccuracyReport, CheckReport, ProfileReport, Sweep,
               RuntimeList, RuleList, MachineReport, InspectionReport, AdviceReport, ForeignReport>
      subject;
  Options options;
  /// JSON of plans, campaigns and measurements, whose other forms leave them to standard error.
  std::vector<std::string> warnings = {};
};

/// One distinct kernel of a model, all its executions together.
struct CostlyKernel {
  std::size_t first = 0;   ///< index of the first kernel with this key in Prediction::kernels
  std::int64_t count = 0;  ///< executions per run
  std::size_t places = 0;  ///< nodes that execute it
  double time_ns = 0;      ///< of one run
};
/// The distinct kernels that take the most time of one run, most first, at most `most`; those
/// without a time left out.
std::vector<CostlyKernel> costliest(const predict::Prediction& prediction, std::size_t most);

}  // namespace oplat::report
