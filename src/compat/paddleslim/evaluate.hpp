// SPDX-License-Identifier: Apache-2.0
/// `oplat paddleslim evaluate`: the sum that PaddleSlim's TableLatencyEvaluator makes of its text
/// table.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "compat/paddleslim/evaluator_operators.hpp"
#include "formats/format_reader.hpp"
#include "report/foreign_document.hpp"

namespace oplat::compat::paddleslim {

struct EvaluateRequest {
  std::string model;  ///< path of a Paddle program
  std::string table;  ///< path of the text table
  std::string delimiter = ",";
  bool only_conv = true;
  bool skip_bad_rows = false;
  formats::ShapeOptions shapes = {};
};

/// Distinct operators in the order of the program, with the times that the table holds.
struct EvaluateAnswers {
  struct Answer {
    std::size_t count = 0;
    std::optional<double> ns;
  };
  std::vector<std::string> order;
  std::map<std::string, Answer> of;  ///< by the operator's text
  /// std::nullopt while one is missing.
  [[nodiscard]] std::optional<double> total_ns() const;
};

class EvaluateDocument final : public report::ForeignDocument {
 public:
  /// Reads both files. Rows that are left out become `warnings`. Code::Usage: an empty delimiter;
  /// Code::Input: model or table.
  static Result<std::shared_ptr<const EvaluateDocument>> make(const EvaluateRequest& request,
                                                              std::vector<std::string>& warnings);
  EvaluateDocument(EvaluateRequest request, EvaluatorQuestions questions, EvaluateAnswers answers)
      : request_(std::move(request)),
        questions_(std::move(questions)),
        answers_(std::move(answers)) {}
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] nlohmann::ordered_json json() const override;
  [[nodiscard]] report::Sheet sheet() const override;

  [[nodiscard]] const EvaluateAnswers& answers() const { return answers_; }
  /// Code::Missing that names the operators that the table lacks.
  [[nodiscard]] Status require_answers() const;

 private:
  EvaluateRequest request_;
  EvaluatorQuestions questions_;
  EvaluateAnswers answers_;
};

}  // namespace oplat::compat::paddleslim
