// SPDX-License-Identifier: Apache-2.0
/// XGBoost through its C interface.
#include "estimate/learned/booster.hpp"

#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace oplat::estimate {
namespace {

constexpr const char* kLibrary = "libxgboost.so.0";

/// The functions that training needs.
struct Library {
  decltype(&XGBGetLastError) last_error = nullptr;
  decltype(&XGDMatrixCreateFromMat) create_matrix = nullptr;
  decltype(&XGDMatrixSetFloatInfo) set_info = nullptr;
  decltype(&XGDMatrixFree) free_matrix = nullptr;
  decltype(&XGBoosterCreate) create = nullptr;
  decltype(&XGBoosterFree) free = nullptr;
  decltype(&XGBoosterSetParam) set = nullptr;
  decltype(&XGBoosterUpdateOneIter) update = nullptr;
  decltype(&XGBoosterSaveModelToBuffer) save = nullptr;
};

template <class Function>
bool take(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

Result<const Library*> library() {
  static const Result<Library> loaded = []() -> Result<Library> {
    void* handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return fail(Code::Runtime, "fitting needs {}, which is not installed: apt-get install libxgboost0", kLibrary);
    }
    Library functions;
    const bool all = take(handle, "XGBGetLastError", functions.last_error) &&
                     take(handle, "XGDMatrixCreateFromMat", functions.create_matrix) &&
                     take(handle, "XGDMatrixSetFloatInfo", functions.set_info) &&
                     take(handle, "XGDMatrixFree", functions.free_matrix) &&
                     take(handle, "XGBoosterCreate", functions.create) && take(handle, "XGBoosterFree", functions.free) &&
                     take(handle, "XGBoosterSetParam", functions.set) &&
                     take(handle, "XGBoosterUpdateOneIter", functions.update) &&
                     take(handle, "XGBoosterSaveModelToBuffer", functions.save);
    if (!all) return fail(Code::Runtime, "{} is of a version that oplat does not know; 1.6 to 1.7 are", kLibrary);
    return functions;
  }();
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

Status check(const Library& xgboost, int code) {
  if (code == 0) return {};
  return fail(Code::Internal, "XGBoost: {}", xgboost.last_error());
}

/// A handle of the library, freed by it.
using Handle = std::unique_ptr<void, std::function<void(void*)>>;

std::string number(double value) { return fmt::format("{}", value); }

/// `columns`: of the features that training saw, their numbers.
TrainedTree read_tree(const nlohmann::json& json, std::span<const std::uint32_t> columns) {
  const auto& left = json.at("left_children");
  const auto& right = json.at("right_children");
  const auto& feature = json.at("split_indices");
  const auto& value = json.at("split_conditions");
  const auto& missing_left = json.at("default_left");
  TrainedTree tree;
  for (std::size_t i = 0; i < left.size(); ++i) {
    TrainedTree::Node node;
    node.left = left[i].get<std::int32_t>();
    node.right = right[i].get<std::int32_t>();
    node.feature = node.left < 0 ? 0 : columns[feature[i].get<std::uint32_t>()];
    node.value = value[i].get<float>();
    node.missing_left = missing_left[i].is_boolean() ? missing_left[i].get<bool>() : missing_left[i].get<int>() != 0;
    tree.nodes.push_back(node);
  }
  return tree;
}

Result<Forest> read_forest(std::string_view text, float start, std::span<const std::uint32_t> columns, std::size_t features) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(Code::Internal, "XGBoost: its model is no JSON");
  std::vector<TrainedTree> trees;
  try {
    for (const auto& tree : json.at("learner").at("gradient_booster").at("model").at("trees")) {
      trees.push_back(read_tree(tree, columns));
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::Internal, "XGBoost: its model is of another form: {}", error.what());
  }
  return Forest::make(trees, start, features);
}

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum / std::max<double>(1, static_cast<double>(values.size())));
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<std::uint32_t> columns_that_vary(const Matrix& x) {
  std::vector<std::uint32_t> columns;
  for (std::size_t column = 0; column < x.columns; ++column) {
    for (std::size_t row = 1; row < x.rows; ++row) {
      if (same(x.values[row * x.columns + column], x.values[column])) continue;
      columns.push_back(static_cast<std::uint32_t>(column));
      break;
    }
  }
  return columns;
}

Matrix chosen(const Matrix& x, std::span<const std::uint32_t> columns) {
  Matrix out(x.rows, columns.size());
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) out.row(row)[i] = x.row(row)[columns[i]];
  }
  return out;
}

}  // namespace

Result<Forest> boost(const Matrix& x, std::span<const float> y, const BoostOptions& options) {
  OPLAT_TRY(functions, library());
  const Library& xgboost = *functions;

  const std::vector<std::uint32_t> columns = columns_that_vary(x);
  if (columns.empty()) return Forest::make({}, mean(y), x.columns);

  DMatrixHandle raw_matrix = nullptr;
  const Matrix varying = chosen(x, columns);
  OPLAT_CHECK(check(xgboost, xgboost.create_matrix(varying.values.data(), varying.rows, varying.columns,
                                                   std::numeric_limits<float>::quiet_NaN(), &raw_matrix)));
  const Handle matrix(raw_matrix, [&](void* handle) { xgboost.free_matrix(handle); });
  OPLAT_CHECK(check(xgboost, xgboost.set_info(matrix.get(), "label", y.data(), y.size())));

  BoosterHandle raw_booster = nullptr;
  OPLAT_CHECK(check(xgboost, xgboost.create(&raw_matrix, 1, &raw_booster)));
  const Handle booster(raw_booster, [&](void* handle) { xgboost.free(handle); });
  const float start = mean(y);
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", "reg:squarederror"},
      {"tree_method", "hist"},
      {"grow_policy", "lossguide"},
      {"max_depth", "0"},
      {"max_bin", "255"},
      {"max_leaves", std::to_string(options.leaves)},
      {"min_child_weight", number(options.least_weight)},
      {"colsample_bytree", number(options.column_share)},
      {"subsample", number(options.row_share)},
      {"lambda", number(options.l2)},
      {"base_score", number(start)},
      {"nthread", std::to_string(options.threads)},
      {"seed", std::to_string(options.seed)},
      {"verbosity", "0"},
  };
  for (const auto& [name, value] : parameters) {
    OPLAT_CHECK(check(xgboost, xgboost.set(booster.get(), name, value.c_str())));
  }
  const auto set_rate = [&](double rate) { return check(xgboost, xgboost.set(booster.get(), "eta", number(rate).c_str())); };
  OPLAT_CHECK(set_rate(options.quick_trees > 0 ? options.quick_rate : options.rate));
  for (int tree = 0; tree < options.trees; ++tree) {
    if (tree == options.quick_trees && tree > 0) OPLAT_CHECK(set_rate(options.rate));
    OPLAT_CHECK(check(xgboost, xgboost.update(booster.get(), tree, matrix.get())));
    if (options.progress && !options.progress(tree + 1)) return fail(Code::Interrupted, "interrupted while fitting");
  }
  bst_ulong length = 0;
  const char* bytes = nullptr;
  OPLAT_CHECK(check(xgboost, xgboost.save(booster.get(), R"({"format":"json"})", &length, &bytes)));
  return read_forest({bytes, length}, start, columns, x.columns);
}

}  // namespace oplat::estimate
