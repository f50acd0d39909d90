// SPDX-License-Identifier: Apache-2.0
/// `oplat lut ops`: layers of PyTorch models, as mobile_cv's lut asks for them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "compat/mobile_vision/module_lines.hpp"
#include "report/foreign_document.hpp"

namespace oplat::compat::mobile_vision {

struct ModuleRequest {
  std::string file;          ///< operators as JSON Lines
  std::string table;         ///< the same with latencies; empty: none
  bool mirror_bias = false;  ///< take the entry with the other bias where there is no other
};

/// As text a line a layer and one for the sum.
class ModuleDocument final : public report::ForeignDocument {
 public:
  using Answers = std::vector<std::optional<ModuleTable::Answer>>;
  /// Code::Usage: mirrored biases of no table; Code::Input: a file.
  static Result<std::shared_ptr<const ModuleDocument>> make(const ModuleRequest& request);
  /// `answers`: one a line.
  ModuleDocument(ModuleRequest request, std::vector<ModuleLine> lines, Answers answers)
      : request_(std::move(request)), lines_(std::move(lines)), answers_(std::move(answers)) {}
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] nlohmann::ordered_json json() const override;
  [[nodiscard]] report::Sheet sheet() const override;

  /// Code::Missing that names the layers that the table lacks; without a table all is well.
  [[nodiscard]] Status require_found() const;

 private:
  ModuleRequest request_;
  std::vector<ModuleLine> lines_;
  Answers answers_;
};

}  // namespace oplat::compat::mobile_vision
