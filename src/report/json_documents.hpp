// SPDX-License-Identifier: Apache-2.0
/// The shorter documents as JSON. docs/reference/schemas describes every field.
#pragma once

#include <vector>

#include "report/json_values.hpp"

namespace oplat::report {

/// All kernels of a prediction, with what is known of each.
Json kernels_of(const PredictionReport& report);
/// Their sums by operator.
Json operators_of(const predict::Diagnosis& diagnosis);

Json json_document(const AdviceReport& advice);
Json json_document(const CheckReport& check);
Json json_document(const InspectionReport& report);
Json json_document(const MachineReport& machine);
Json json_document(const Measurement& measurement);
/// "models" of that document: an entry a model, measured or not.
std::vector<Json> entries_of(const Measurement& measurement);
Json json_document(const ProfileReport& profile);
Json json_document(const Sweep& sweep);
Json json_document(const RuntimeList& list);
Json json_document(const RuleList& list);

}  // namespace oplat::report
