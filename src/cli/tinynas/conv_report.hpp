// SPDX-License-Identifier: Apache-2.0
/// What `oplat tinynas predict` prints: a table for people, lines for --tests, oplat.tinynas/1.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "cli/tinynas/conv_answers.hpp"
#include "compat/tinynas/questions.hpp"

namespace oplat::cli {

/// A set of convolutions with its answers, next to the questions, and their sum.
struct ConvPrediction {
  compat::tinynas::ConvQuestions questions;
  std::vector<ConvAnswer> answers;
  std::optional<double> total_ms;  ///< nothing while one is missing
  std::optional<base::Interval> total_interval;
};
ConvPrediction conv_prediction(compat::tinynas::ConvQuestions questions,
                               std::vector<ConvAnswer> answers, double level);

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

/// A line a convolution and one for the sum.
std::string conv_text(const ConvPrediction& prediction, double level);
/// A line a convolution: the eight fields, ms, lo, hi, source, with tabs between; - for what is not
/// there; a grouped convolution has a field group=G more. Lines that begin with # say the errors
/// where times were measured.
std::string conv_lines(const ConvPrediction& prediction);
/// The members total_ms, convs and so on of oplat.tinynas/1.
nlohmann::ordered_json conv_document(const ConvPrediction& prediction);

}  // namespace oplat::cli
