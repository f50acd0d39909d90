// SPDX-License-Identifier: Apache-2.0
/// FittedModel: the model of a table, of the kind that its rows suit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "estimate/learned/grid_model.hpp"
#include "estimate/learned/sparse_model.hpp"

namespace oplat::estimate {

class FittedModel {
 public:
  /// A SparseModel where one learned from nine tenths of the rows answers the last tenth better
  /// than a GridModel does; tables of more rows than a SparseModel can take in are not asked.
  static Result<FittedModel> fit(std::span<const ir::Description> rows,
                                 std::span<const double> log_ns, const LearnRequest& request);

  [[nodiscard]] std::optional<LearnedAnswer> answer(const ir::Description& description,
                                                    Profile profile) const;
  [[nodiscard]] const Machine& machine() const;
  [[nodiscard]] const Space& space() const;
  [[nodiscard]] std::size_t sites() const;
  /// Points of other numbers of threads that were learned from, besides the sites.
  [[nodiscard]] std::size_t related() const;
  [[nodiscard]] bool calibrated() const;
  /// Once fitted: rows that were left out, which tell how sure a row is.
  [[nodiscard]] std::span<const LeftOutRow> left_out() const;
  /// docs/reference/fit-format.md.
  [[nodiscard]] std::string save() const;
  /// Code::Refused if a newer oplat made the bytes, Code::Input if they are damaged.
  static Result<FittedModel> load(std::string_view bytes);
  /// Of such bytes; a checksum is all that is looked at of most of them.
  static Result<FitAge> age_of(std::string_view bytes);

 private:
  using Model = std::variant<GridModel, SparseModel>;
  explicit FittedModel(Model model) : model_(std::move(model)) {}

  Model model_;
};

}  // namespace oplat::estimate
