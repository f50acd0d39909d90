// SPDX-License-Identifier: Apache-2.0
/// The documents of `oplat tinynas predict` and `oplat tinynas convs`.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interval.hpp"
#include "compat/tinynas/conv_answers.hpp"
#include "compat/tinynas/questions.hpp"
#include "report/foreign_document.hpp"

namespace oplat::compat::tinynas {

/// A set of convolutions with its answers, next to the questions, and their sum.
struct ConvPrediction {
  ConvQuestions questions;
  std::vector<ConvAnswer> answers;
  std::optional<double> total_ms;  ///< nothing while one is missing
  std::optional<base::Interval> total_interval;
};
ConvPrediction conv_prediction(ConvQuestions questions, std::vector<ConvAnswer> answers,
                               double level);

/// Predictions next to measured times, over the convolutions that have both.
struct ConvErrors {
  std::size_t convs = 0;  ///< at least one
  double average = 0;     ///< of |predicted - measured| / measured
  double largest = 0;
  std::size_t worst = 0;  ///< index of that one
  double total_ms = 0;
  double real_total_ms = 0;
};
/// std::nullopt if no convolution has both.
std::optional<ConvErrors> conv_errors(const ConvPrediction& prediction);

/// What a prediction was asked and who answered: the head of its document.
struct ConvAsked {
  bool original = false;  ///< by the original's method
  std::string structure;  ///< path of the file; empty: `tests`
  std::string tests;      ///< path of a list
  Rules rules = Rules::Corrected;
  std::int64_t resolution = 224;
  bool of_table = false;  ///< `rows` is a table of oplat, else a library
  std::string rows;       ///< path of those that answered
  std::string precision;
  double level = 0.9;  ///< of the intervals
};

/// `oplat tinynas predict`. As text, of a structure a line a convolution and one for the sum; of a
/// list a line a convolution with the eight fields, ms, lo, hi and source, with tabs between them
/// and - for what is not known, a grouped convolution with a field group=G more, and errors in
/// lines that begin with # where times were measured.
class ConvDocument final : public report::ForeignDocument {
 public:
  ConvDocument(ConvAsked asked, std::vector<ConvPrediction> predictions)
      : asked_(std::move(asked)), predictions_(std::move(predictions)) {}
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] nlohmann::ordered_json json() const override;
  [[nodiscard]] report::Sheet sheet() const override;

  /// One a batch.
  [[nodiscard]] const std::vector<ConvPrediction>& predictions() const { return predictions_; }
  /// Path of the rows that answered.
  [[nodiscard]] const std::string& rows() const { return asked_.rows; }
  /// The lines of a list have no room for what an answer rests on: counts those that reach beyond
  /// the rows and says of the first how far. std::nullopt if none does, or of a structure.
  [[nodiscard]] std::optional<std::string> far_answers() const;
  /// Code::Missing that names the convolutions without an answer.
  [[nodiscard]] Status require_answers() const;

 private:
  ConvAsked asked_;
  std::vector<ConvPrediction> predictions_;
};

/// `oplat tinynas convs`: as text a line of eight fields a convolution, with tabs between them.
class ConvListDocument final : public report::ForeignDocument {
 public:
  ConvListDocument(std::string structure, std::int64_t resolution, Rules rules,
                   std::vector<NamedConv> convs)
      : structure_(std::move(structure)),
        resolution_(resolution),
        rules_(rules),
        convs_(std::move(convs)) {}
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] nlohmann::ordered_json json() const override;
  [[nodiscard]] report::Sheet sheet() const override;

 private:
  std::string structure_;
  std::int64_t resolution_;
  Rules rules_;
  std::vector<NamedConv> convs_;
};

}  // namespace oplat::compat::tinynas
