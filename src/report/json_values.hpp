// SPDX-License-Identifier: Apache-2.0
/// Values of other layers as JSON; field names as in docs/reference/table-format.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/interval.hpp"
#include "report/report_model.hpp"

namespace oplat::report {

/// Keeps the order in which fields are written.
using Json = nlohmann::ordered_json;

/// null where there is no number.
Json number(const std::optional<double>& value);
Json whole_number(const std::optional<std::int64_t>& value);
Json flag(const std::optional<bool>& value);
Json json_of(const table::Device& device);
Json json_of(const table::Setting& setting);
Json json_of(const table::Timing& timing);
/// null where they are not known.
Json json_of(const std::optional<table::InferenceTimes>& times);
Json json_of(const std::optional<base::Interval>& interval);
Json json_of(const std::vector<predict::Mismatch>& mismatch);
Json json_of(const std::vector<predict::KernelPrediction>& kernels);

}  // namespace oplat::report
