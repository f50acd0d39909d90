// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat lut`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compat/mobile_vision/lut_answers.hpp"
#include "report/foreign_document.hpp"

namespace oplat::compat::mobile_vision {

/// What was asked and who answered: the head of the document.
struct LutAsked {
  std::string device;
  bool of_table = false;  ///< `rows` is a table of oplat, else a look-up table
  std::string rows;       ///< path of those that answered
  std::string mode;       ///< as it was asked for
  bool estimate = false;
  double level = 0.9;  ///< of the intervals
};

/// As text the original's, line for line; estimates, which it does not know, are in brackets behind
/// the number.
class LutDocument final : public report::ForeignDocument {
 public:
  LutDocument(LutAsked asked, std::vector<LutPrediction> predictions)
      : asked_(std::move(asked)), predictions_(std::move(predictions)) {}
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] nlohmann::ordered_json json() const override;
  [[nodiscard]] report::Sheet sheet() const override;

  /// One a net.
  [[nodiscard]] const std::vector<LutPrediction>& predictions() const { return predictions_; }
  /// Path of the rows that answered.
  [[nodiscard]] const std::string& rows() const { return asked_.rows; }
  /// Code::Missing that names the operators without an answer; all found is not an error.
  [[nodiscard]] Status require_answers() const;

 private:
  LutAsked asked_;
  std::vector<LutPrediction> predictions_;
};

}  // namespace oplat::compat::mobile_vision
