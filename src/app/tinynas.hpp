// SPDX-License-Identifier: Apache-2.0
/// Use case: convolutions of a TinyNAS structure or list, by one of its libraries or by a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/result.hpp"
#include "compat/tinynas/conv_document.hpp"
#include "estimate/learned.hpp"

namespace oplat::app {

/// Exactly one of `structure` and `tests`, and exactly one of `library` and `table`.
struct TinynasRequest {
  std::string structure;  ///< path of a structure file
  std::string tests;      ///< path of a list of convolutions
  std::string library;    ///< a library, or a folder of libraries
  std::string table;
  std::string precision;  ///< in any spelling of the libraries; empty: what rows or names say
  std::string device;     ///< a folder of a folder of libraries, or that of rows; empty: any
  std::string runtime;    ///< these two: of rows of a table
  std::string runtime_version;
  std::vector<std::int64_t> batches;  ///< empty: 1, or those in the list
  std::int64_t resolution = 224;
  bool original = false;  ///< by the original's method, without intervals
  std::optional<compat::tinynas::Rules> rules =
      std::nullopt;  ///< of a structure; default: by the method
  estimate::Profile estimator = estimate::Profile::Accurate;
  double level = 0.9;          ///< of the intervals
  bool calibrate = true;       ///< of the fit that is made of a library
  bool skip_bad_rows = false;  ///< of a library
};

/// Warnings go to `events`. Convolutions without an answer are not an error here: see
/// ConvDocument::require_answers(). Code::Usage: the request contradicts itself; Code::Input: a
/// file; Code::Refused: no rows; Code::Interrupted: while learning from a library.
Result<std::shared_ptr<const compat::tinynas::ConvDocument>> tinynas_predict(
    const TinynasRequest& request, Events& events);

}  // namespace oplat::app
