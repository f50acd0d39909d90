// SPDX-License-Identifier: Apache-2.0
/// The choice between grid and sparse.
#include "estimate/learned/fitted_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/random.hpp"
#include "estimate/learned/states.hpp"

namespace oplat::estimate {
namespace {

enum class Kind : std::uint32_t { Grid = 0, Sparse = 1 };

/// A grid of more rows has neighbours enough, and a process over them would take too long.
constexpr std::size_t kMaxSparseRows = 20'000;
constexpr std::uint64_t kCheckOneIn = 10;
/// Which model is better shows long before either is as good as it gets.
constexpr double kEffortOfTrial = 0.3;
/// The fit's progress: the two trials, then the model that proved better. Its parts are so small
/// that of a fit of minutes some are done every second.
constexpr int kWhole = 10'000;
constexpr int kTrialOfSparse = 1'500;
constexpr int kTrials = 3'000;
/// What a model does not answer counts as an error of this size, in logarithms.
constexpr double kUnanswered = 1;

/// The part of the whole from `begin` to `end` as a progress of its own.
LearnRequest part_of(const LearnRequest& whole, int begin, int end) {
  LearnRequest part = whole;
  if (!whole.progress) return part;
  part.progress = [tell = whole.progress, begin, end](int done, int all) {
    return tell(begin + static_cast<int>(std::int64_t{end - begin} * done / std::max(1, all)),
                kWhole);
  };
  return part;
}

template <class Model>
double error_of(const Model& model, std::span<const ir::Description> rows,
                std::span<const double> log_ns, std::span<const std::size_t> asked) {
  double sum = 0;
  for (const std::size_t i : asked) {
    const auto answer = model.answer(rows[i], Profile::Accurate);
    sum += answer ? std::abs(answer->log_ns - log_ns[i]) : kUnanswered;
  }
  return sum;
}

Result<bool> sparse_is_better(std::span<const ir::Description> rows, std::span<const double> log_ns,
                              const LearnRequest& request) {
  std::vector<ir::Description> rest;
  std::vector<double> rest_ns;
  std::vector<std::size_t> asked;
  const std::vector<std::size_t> kernels = kernels_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (base::mix_seed(request.seed, kernels[i]) % kCheckOneIn == 0) {
      asked.push_back(i);
    } else {
      rest.push_back(rows[i]);
      rest_ns.push_back(log_ns[i]);
    }
  }
  LearnRequest trial = request;
  trial.questions = {};
  trial.related = {};  // they hold the kernels that are asked for
  trial.calibrate = false;
  trial.effort = kEffortOfTrial * request.effort;
  auto sparse = SparseModel::fit(rest, rest_ns, part_of(trial, 0, kTrialOfSparse));
  if (!sparse) {
    if (sparse.error().code == Code::Refused) return false;
    return fail(sparse.error());
  }
  auto grid = GridModel::fit(rest, rest_ns, part_of(trial, kTrialOfSparse, kTrials));
  if (!grid) {
    if (grid.error().code == Code::Refused) return true;
    return fail(grid.error());
  }
  return error_of(*sparse, rows, log_ns, asked) < error_of(*grid, rows, log_ns, asked);
}

/// Takes the number of the kind off the bytes. Code::Refused for one that only a newer oplat can
/// have made.
Result<Kind> kind_of(std::string_view& bytes) {
  base::ByteReader reader(bytes);
  const std::uint32_t kind = reader.u32();
  if (!reader.ok()) return fail(Code::Input, "learned fit: is too short; run oplat fit again");
  if (kind > static_cast<std::uint32_t>(Kind::Sparse))
    return fail(Code::Refused, "learned fit: its kind is unknown; run oplat fit again");
  bytes.remove_prefix(sizeof kind);
  return static_cast<Kind>(kind);
}

}  // namespace

Result<FittedModel> FittedModel::fit(std::span<const ir::Description> rows,
                                     std::span<const double> log_ns, const LearnRequest& request) {
  bool sparse = false;
  if (rows.size() <= kMaxSparseRows) {
    OPLAT_TRY(better, sparse_is_better(rows, log_ns, request));
    sparse = better;
  }
  const LearnRequest rest = part_of(request, rows.size() <= kMaxSparseRows ? kTrials : 0, kWhole);
  if (sparse) {
    OPLAT_TRY(model, SparseModel::fit(rows, log_ns, rest));
    return FittedModel(std::move(model));
  }
  OPLAT_TRY(model, GridModel::fit(rows, log_ns, rest));
  return FittedModel(std::move(model));
}

std::optional<LearnedAnswer> FittedModel::answer(const ir::Description& description,
                                                 Profile profile) const {
  return std::visit([&](const auto& model) { return model.answer(description, profile); }, model_);
}

const Machine& FittedModel::machine() const {
  return std::visit([](const auto& model) -> const Machine& { return model.machine(); }, model_);
}

const Space& FittedModel::space() const {
  return std::visit([](const auto& model) -> const Space& { return model.space(); }, model_);
}

std::size_t FittedModel::sites() const {
  return std::visit([](const auto& model) { return model.sites(); }, model_);
}

std::size_t FittedModel::related() const {
  const auto* sparse = std::get_if<SparseModel>(&model_);
  return sparse != nullptr ? sparse->related() : 0;
}

bool FittedModel::calibrated() const {
  return std::visit([](const auto& model) { return model.calibrated(); }, model_);
}

std::span<const LeftOutRow> FittedModel::left_out() const {
  return std::visit([](const auto& model) { return model.left_out(); }, model_);
}

std::string FittedModel::save() const {
  base::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(std::holds_alternative<SparseModel>(model_) ? Kind::Sparse
                                                                                    : Kind::Grid));
  return writer.take() + std::visit([](const auto& model) { return model.save(); }, model_);
}

Result<FitAge> FittedModel::age_of(std::string_view bytes) {
  const auto kind = kind_of(bytes);
  if (!kind && kind.error().code == Code::Refused) return FitAge::Newer;
  if (!kind) return fail(kind.error());
  return *kind == Kind::Sparse ? SparseModel::age_of(bytes) : GridModel::age_of(bytes);
}

Result<FittedModel> FittedModel::load(std::string_view bytes) {
  OPLAT_TRY(kind, kind_of(bytes));
  if (kind == Kind::Sparse) {
    OPLAT_TRY(model, SparseModel::load(bytes));
    return FittedModel(std::move(model));
  }
  OPLAT_TRY(model, GridModel::load(bytes));
  return FittedModel(std::move(model));
}

}  // namespace oplat::estimate
